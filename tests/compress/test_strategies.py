"""What each strategy keeps, leaves out and says about it."""

from preheat.compress import NAMES, STRATEGIES
from preheat.testing.builders import ClaudeTranscript
from tests.compress.builders import LOG, by, commands, read, texts, working_day

SESSION = read(working_day())


def test_there_are_four_strategies_in_their_order() -> None:
    """What the command line offers is what there is."""
    assert NAMES == ("none", "mask", "headtail", "markers")
    assert all(strategy.summary for strategy in STRATEGIES)


def test_none_leaves_everything() -> None:
    """The same messages, the same tokens, every marker."""
    found = by("none", SESSION)
    assert found.after == found.before
    assert len(found.messages) == found.messages_before
    assert found.all_markers.share == 1.0


def test_mask_keeps_how_a_result_ended_and_how_long_it_was() -> None:
    """An older result is one marked line with status, exit code and size; the last ones stay whole."""
    found = by("mask", SESSION, keep=3)
    results = [message["content"] for message in found.messages if message["role"] == "tool"]
    assert results[1].startswith("<preheat-left-out: failed, exit code 4, 402 lines, ")
    assert "\n" not in results[1]
    assert results[-3] == f"{LOG}\n120 passed in 30.5s"
    assert len(commands(found)) == len(commands(by("none", SESSION)))
    assert found.after < found.before / 2


def test_mask_leaves_a_result_that_is_shorter_than_the_line_in_its_place() -> None:
    found = by("mask", SESSION, keep=0)
    assert "The file has been updated." in texts(found)


def test_headtail_keeps_both_ends_and_counts_the_middle() -> None:
    found = by("headtail", SESSION, keep=3)
    assert found.messages[0]["content"].startswith("make the parser")
    assert found.messages[-1]["content"] == "All tests pass, and it is committed."
    (line,) = (message["content"] for message in found.messages if "preheat-left-out" in (message["content"] or ""))
    assert line.startswith("<preheat-left-out: ")
    assert "1 by the person" in line
    assert "shell" in line


def test_headtail_leaves_a_short_session_alone() -> None:
    short = read(ClaudeTranscript().prompt("hello").answer("hello"))
    assert by("headtail", short).messages == by("none", short).messages


def test_markers_keep_a_mistake_its_error_and_its_repair() -> None:
    found = by("markers", SESSION, keep=0)
    left = commands(found)
    assert left[left.index("pytest --fast") + 1] == "pytest -x"
    failed = next(message["content"] for message in found.messages if "unrecognized" in (message["content"] or ""))
    assert len(failed) < 1_000
    assert "lines>" in failed


def test_markers_keep_what_the_person_said_and_the_answer_it_replies_to() -> None:
    text = texts(by("markers", SESSION))
    assert "make the parser accept empty files" in text
    assert "no, always run the whole suite here" in text
    assert "I changed the parser." in text


def test_markers_keep_the_last_state_of_a_check_and_the_files_changed() -> None:
    found = by("markers", SESSION, keep=0)
    assert "120 passed" in texts(found)
    assert found.markers["checks"].kept == found.markers["checks"].total > 0
    assert found.markers["files"].share == 1.0


def test_markers_leave_out_reading_calls_and_count_them() -> None:
    found = by("markers", SESSION, keep=0)
    assert "ls src" not in commands(found)
    assert "<preheat-left-out: " in texts(found)
    assert found.after < found.before / 3


def test_markers_keep_the_last_calls_whatever_they_were() -> None:
    assert "ls src" in commands(by("markers", SESSION, keep=2))


def test_a_form_is_shown_once_by_its_shortest_call() -> None:
    """Five commits teach no more than one."""
    made = ClaudeTranscript().prompt("commit it all")
    for message in ("a long message about the work", "short", "another rather long message"):
        made = made.run(f"git commit -m '{message}'", "[main abc1234] done")
    found = by("markers", read(made.answer("Done.")), keep=0)
    assert commands(found) == ["git commit -m 'short'"]


def test_long_arguments_are_cut_and_say_so() -> None:
    """A file's text among the arguments is no form; names and short ones stay as they are."""
    made = (
        ClaudeTranscript().prompt("write it").call("Write", {"file_path": "/w/proj/a.py", "content": "x = 1\n" * 2_000})
    )
    found = by("markers", read(made.result("File created.").answer("Done.")), keep=0)
    (call,) = (call for message in found.messages for call in message.get("tool_calls", ()))
    arguments = call["function"]["arguments"]
    assert "/w/proj/a.py" in arguments
    assert "<preheat-left-out: " in arguments
    assert len(arguments) < 2_000


def test_a_call_without_a_result_does_not_remain() -> None:
    """The session ended while the command ran."""
    made = working_day().call("Bash", {"command": "sleep 1000"})
    for strategy in ("mask", "headtail", "markers"):
        assert "sleep 1000" not in commands(by(strategy, read(made)))


def test_rewound_events_are_left_out() -> None:
    made = working_day().prompt("use tabs").answer("Tabs it is.").rewind().prompt("use spaces").answer("Spaces.")
    for strategy in ("mask", "headtail", "markers"):
        assert "use tabs" not in texts(by(strategy, read(made)))


def test_a_history_never_gets_longer() -> None:
    """Where a line about what was left out takes more than leaving it, the session stays as it is."""
    short = read(ClaudeTranscript().prompt("hi").run("ls", "a").answer("ok"))
    for strategy in NAMES:
        found = by(strategy, short)
        assert found.after <= found.before
