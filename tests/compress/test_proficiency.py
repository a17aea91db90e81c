"""What a proficiency marker is, and when it counts as kept."""

from preheat.compress.lines import cut_around_error, cut_middle, is_recognisable
from preheat.testing.builders import ClaudeTranscript
from tests.compress.builders import by, read, working_day


def test_masking_loses_the_words_of_an_error() -> None:
    """A repair is an error and what mends it: calls without the error's words teach nothing of the kind."""
    made = (
        ClaudeTranscript()
        .prompt("run the tests")
        .run("pytest --fast", "error: unrecognized arguments: --fast\n" + "x" * 500, exit_code=4)
        .run("pytest -x", "12 passed\n" + "y" * 500)
    )
    for strategy, kept in (("none", 1), ("mask", 0), ("markers", 1)):
        markers = by(strategy, read(made), keep=0).markers["repairs"]
        assert (markers.kept, markers.total) == (kept, 1), strategy


def test_a_finding_is_no_repair_marker() -> None:
    made = (
        ClaudeTranscript().prompt("x").run("pytest", "1 failed in 0.1s", exit_code=1).run("pytest", "1 passed in 0.1s")
    )
    assert by("none", read(made)).markers["repairs"].total == 0


def test_reading_commands_are_no_form_marker() -> None:
    made = ClaudeTranscript().prompt("x").run("ls -la", "a").run("grep -rn b .", "c").run("cargo build", "ok")
    assert by("none", read(made)).markers["forms"].total == 1


def test_a_marker_counts_once() -> None:
    made = ClaudeTranscript().prompt("go on").prompt("go on").run("cargo build", "ok").run("cargo build", "ok")
    markers = by("none", read(made)).markers
    assert markers["forms"].total == markers["checks"].total == markers["instructions"].total == 1


def test_only_the_last_state_of_a_check_counts() -> None:
    """headtail keeps the first run of the tests here, not the last one: the state is lost."""
    made = ClaudeTranscript().prompt("x").run("pytest", "1 passed in 0.1s")
    for number in range(20):
        made = made.run(f"echo {number}", "said")
    made = made.run("pytest", "1 failed in 0.1s", exit_code=1)
    for number in range(20):
        made = made.run(f"echo {number}", "said")
    assert by("headtail", read(made), keep=4).markers["checks"].kept == 0
    assert by("markers", read(made), keep=0).markers["checks"].kept == 1


def test_the_task_of_a_run_that_preheat_started_is_an_instruction() -> None:
    """Its prompt carries Preheat's mark; without it there would be no goal."""
    made = ClaudeTranscript().prompt('<preheat-run training="1" task="a">\n\nmake it').answer("Made.")
    assert by("markers", read(made)).markers["instructions"].total == 1


def test_lost_references_are_listed() -> None:
    made = (
        working_day()
        .answer("The rules are in docs/style-guide.md, by the way.")
        .run("ls docs", "style-guide.md")
        .answer("More to come.")
        .answer("Done.")
    )
    found = by("markers", read(made), keep=0)
    assert found.markers["references"].share == 1.0


def test_the_line_of_an_error_is_found_among_many() -> None:
    text = "\n".join(["noise"] * 500 + ["fatal: not a git repository"] + ["more noise"] * 500)
    cut = cut_around_error(text, "fatal: not a git repository", 300)
    assert "fatal: not a git repository" in cut
    assert len(cut) < 400
    assert is_recognisable(cut, "fatal: not a git repository", text)


def test_a_text_without_the_words_is_cut_at_its_ends() -> None:
    text = "a" * 5_000 + "THE END"
    assert cut_around_error(text, "no such words here", 300) == cut_middle(text, 300)
    assert cut_middle(text, 300).endswith("THE END")


def test_a_cut_text_is_recognisable_only_if_the_whole_is() -> None:
    assert is_recognisable("nothing", "error: gone", "nothing at all")
    assert not is_recognisable("nothing", "error: gone", "error: gone")
