"""`preheat sessions` and `preheat sessions read`: filters, transcripts, search."""

import json
import os
import time

import pytest

from preheat.testing.builders import ClaudeTranscript

from .conftest import FIRST, SECOND, Person, first_session


def list_ids(person: Person, *arguments: str) -> set[str]:
    return {row["session"] for row in json.loads(person.run("sessions", "list", "--json", *arguments).out)}


def test_list_is_newest_first_and_short_ids_work(archived: Person) -> None:
    done = archived.run("sessions", "list")
    lines = done.out.splitlines()
    assert lines[0].split()[:3] == ["id", "started", "agent"]
    assert lines[1].split()[:5] == ["7a7b7c7d", "2026-01-09", "23:06", "Claude", "Code"]
    for line in lines[1:]:
        assert archived.run("sessions", "show", line.split()[0]).code == 0
    assert "preheat sessions show 7a7b7c7d" in done.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--project", "proj"], {FIRST, f"{FIRST}:agent-abc123"}),
        (["--project", "/w/other"], {SECOND}),
        (["--model", "OPUS"], {SECOND}),
        (["--no-subagents"], {FIRST, SECOND}),
        (["--since", "2026-01-09"], {SECOND}),
        (["--until", "2026-01-05"], {FIRST, f"{FIRST}:agent-abc123"}),
        (["--min-messages", "6"], {FIRST}),
        (["--max-messages", "2"], {SECOND, f"{FIRST}:agent-abc123"}),
        (["--agent", "codex"], set()),
        (["--agent", "claude", "--limit", "1"], {SECOND}),
        (["--limit", "1", "--all"], {FIRST, SECOND, f"{FIRST}:agent-abc123"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_filters_choose_the_sessions_that_are_listed(
    arguments: list[str], expected: set[str], archived: Person
) -> None:
    assert list_ids(archived, *arguments) == expected


def test_relative_dates_count_back_from_now(archived: Person) -> None:
    archived.write(
        ClaudeTranscript(session="99999999-0000-4000-8000-000000000009", started=time.time() - 3600).prompt("hi")
    )
    archived.run("sync")
    assert list_ids(archived, "--since", "2h") == {"99999999-0000-4000-8000-000000000009"}
    assert list_ids(archived, "--since", "1w") == {"99999999-0000-4000-8000-000000000009"}


def test_a_dot_means_the_project_of_this_folder(archived: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.join(archived.home, "here")
    os.makedirs(folder)
    archived.write(ClaudeTranscript(session="99999999-0000-4000-8000-000000000009", project=folder).prompt("hi"))
    archived.run("sync")
    monkeypatch.chdir(folder)
    assert list_ids(archived, "--project", ".") == {"99999999-0000-4000-8000-000000000009"}


def test_an_empty_list_of_sessions_says_so(archived: Person) -> None:
    done = archived.run("sessions", "list", "--model", "nowhere")
    assert (done.code, done.out) == (0, "")
    assert "No session matches" in done.err


def test_transcript_folds_calls_and_thoughts(archived: Person) -> None:
    shown = archived.run("sessions", "show", "0f3c1a2b").out
    assert "✗ Bash         pytest tests/test_migration.py" in shown
    assert "exit 1, 36 B, 2.0 s" in shown
    assert "✓ Read         src/models.py" in shown
    assert "no such table" not in shown
    assert "(thought: 21 characters)" in shown
    assert "be careful" in shown
    assert "compacted (auto, 120,000 tokens before)" in shown
    assert f"-> subagent: preheat sessions show {FIRST}:agent-abc123" in shown
    assert "Started from this session" in shown


def test_transcript_marks_rewound_messages(archived: Person) -> None:
    lines = archived.run("sessions", "show", "0f3c1a2b").out.splitlines()
    place = lines.index("  I use sqlite.")
    assert lines[place - 1].endswith("Assistant (taken back)")
    assert not lines[lines.index("  I use postgres.") - 1].endswith("(taken back)")
    assert any("rewound" in line for line in lines)


def test_calls_and_full_show_inputs_outputs_and_thoughts(archived: Person) -> None:
    calls, full = (archived.run("sessions", "show", "0f3c1a2b", option).out for option in ("--calls", "--full"))
    assert "> E   no such table: users" in calls
    assert '<   "command": "pytest tests/test_migration.py"' in calls
    assert "The test comes first." not in calls
    assert "The test comes first." in full


def test_long_output_is_cut_unless_full(person: Person) -> None:
    person.write(ClaudeTranscript().prompt("go").run("seq 9999", "9" * 5000 + "the end"))
    person.run("sync")
    assert "3,007 characters more; `--full` shows them" in person.run("sessions", "show", "latest", "--calls").out
    assert "the end" in person.run("sessions", "show", "latest", "--full").out


def test_control_characters_in_a_transcript_are_removed(person: Person) -> None:
    evil = "before \x1b]0;owned\x07\x1b[31mred\x1b[0m \x9b2J after"
    person.write(ClaudeTranscript(branch=evil).prompt(evil).answer(evil).run(f"echo {evil}", evil).title(evil))
    person.run("sync")
    for arguments in (["sessions", "show", "latest", "--full"], ["sessions", "list"], ["sessions", "search", "before"]):
        done = person.run(*arguments)
        assert done.code == 0
        assert not {"\x1b", "\x9b", "\x07"} & set(done.out)
    assert "red" in person.run("sessions", "show", "latest").out


def test_show_json_is_the_whole_session_and_raw_the_stored_bytes(archived: Person) -> None:
    session = json.loads(archived.run("sessions", "show", "0f3c1a2b", "--json").out)
    assert session["id"] == FIRST
    assert {event["type"] for event in session["events"]} >= {
        "user",
        "assistant",
        "call",
        "result",
        "rewind",
        "compaction",
    }
    assert archived.spawn("sessions", "show", "0f3c1a2b", "--raw").out.encode() == first_session().data()


def test_a_subagents_session_has_its_own_id(archived: Person) -> None:
    assert "There are none." in archived.run("sessions", "show", "agent-abc123").out
    assert f"subagent of {FIRST}" in archived.run("sessions", "show", "agent-abc123").out


def test_ambiguous_and_unknown_ids_are_refused(person: Person) -> None:
    for number in (1, 2):
        person.write(ClaudeTranscript(session=f"abcdef0{number}-0000-4000-8000-000000000000").prompt("hi"))
    person.run("sync")
    done = person.run("sessions", "show", "abcdef")
    assert done.code == 2
    assert "could be any of" in done.err
    assert "`preheat sessions list`" in person.run("sessions", "show", "nothing").err


def test_search_marks_the_words_under_their_sessions(archived: Person) -> None:
    done = archived.run("sessions", "search", "migration")
    assert done.out.splitlines()[0].split()[0] in ("0f3c1a2b", "7a7b7c7d")
    assert "the **migration** test fails" in done.out
    assert "notes mention the **migration**." in done.out


def test_filters_choose_what_is_searched(archived: Person) -> None:
    def found(*arguments: str) -> list[tuple[str, str]]:
        hits = json.loads(archived.run("sessions", "search", "--json", *arguments).out)
        return [(hit["session"]["session"], hit["kind"]) for hit in hits]

    assert found("migration", "--project", "other") == [(SECOND, "assistant")]
    assert found("migration", "--kind", "command") == [(FIRST, "command")]
    assert found("migration", "--kind", "human") == [(FIRST, "human")]
    assert found('"table migration"') == []
    assert found("migrat*", "--limit", "1") != []
    done = archived.run("sessions", "search", "nosuchword")
    assert (done.code, done.out) == (0, "")
    assert "Nothing found" in done.err


def test_read_says_what_is_in_a_file(person: Person) -> None:
    path = person.write(first_session())
    done = person.run("read", path)
    assert done.code == 0
    assert "the migration test fails" in done.out
    assert "Claude Code 2.1.220" in done.out
    assert "call 3" in done.out
    assert not os.path.exists(person.folder), "reading must not make an archive"


def test_read_names_damaged_lines_and_exits_1(person: Person) -> None:
    path = person.write(ClaudeTranscript().prompt("hello").line(b"{broken").line(b"\xff\xfe"))
    done = person.run("read", path)
    assert done.code == 1
    assert [line.split(": ")[0] for line in done.err.splitlines()] == [f"{path}:2", f"{path}:3"]
    assert person.run("read", path, "--json").code == 1


def test_read_prints_the_session_as_json_and_as_a_transcript(person: Person) -> None:
    path = person.write(first_session())
    (session,) = json.loads(person.run("read", path, "--json").out)
    assert session["id"] == FIRST
    assert "✗ Bash" in person.run("read", path, "--transcript").out
    assert "no such table" in person.run("read", path, "--transcript", "--full").out


def test_a_file_name_that_is_not_valid_text_is_escaped(person: Person) -> None:
    """Any bytes are a file name on some systems; they are shown escaped, also in JSON."""
    folder = os.path.join(person.projects, "-w-proj")
    os.makedirs(folder)
    path = os.path.join(os.fsencode(folder), b"caf\xe9.jsonl")
    try:
        with open(path, "wb") as stream:
            stream.write(ClaudeTranscript().prompt("hello").line(b"{broken").data())
    except OSError:
        pytest.skip("this file system takes only text as names")
    assert person.spawn("sync").code == 1
    assert person.spawn("sync", os.fsdecode(folder), "--json").code in (0, 1)
    done = person.spawn("doctor", "--json")
    assert any("caf" in problem["path"] for problem in json.loads(done.out)["problems"])
