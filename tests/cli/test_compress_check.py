"""`preheat compress-check`: one session, all of them, and bad input."""

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.builders import ClaudeTranscript
from tests.agents.hermes_database import HermesDatabase

from .conftest import FIRST, Person


def session(number: int, before: str, after: str) -> ClaudeTranscript:
    """Commands that worked (`.`) or did not (`x`) on both sides of a compaction."""
    built = ClaudeTranscript(session=f"{number:08d}-0000-4000-8000-000000000000").prompt(
        "make the tests pass again please"
    )
    for place, letter in enumerate(before + "|" + after):
        if letter == "|":
            built = built.compaction("We were making the tests pass.").prompt("make the tests pass again, please")
        else:
            built = built.run(f"cat file{place}", "text" if letter == "." else "cat: no such file", int(letter == "x"))
    return built


def check(person: Person, *arguments: str) -> Any:
    done = person.run("compress-check", "--json", *arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)


def put(person: Person, *sessions: ClaudeTranscript) -> None:
    for each in sessions:
        person.write(each)
    assert person.run("sync").code == 0


def test_one_compaction_is_compared_before_and_after(person: Person) -> None:
    put(person, session(11, "." * 39 + "x", "xx" + "." * 10))
    value = check(person, "00000011")
    assert (value["crossings"], value["verdict"]) == (1, "too little data")
    errors, _, _, asked = value["window"]
    assert [(errors[side]["count"], errors[side]["total"]) for side in ("before", "after")] == [(1, 12), (2, 12)]
    assert value["whole"][0]["before"]["total"] == 40
    assert (asked["after"]["count"], asked["after"]["total"]) == (1, 1)
    shown = person.run("compress-check", "00000011").out
    assert shown.startswith("Too little data: 8.3 % of the calls failed before, 16.7 % after")


def test_margin_and_window_change_the_verdict_and_the_size(person: Person) -> None:
    put(person, session(11, ("." * 3 + "x") * 15, ("." * 3 + "x") * 15))
    verdicts = {
        margin: check(person, "latest", "--margin", margin, "--window", "60")["verdict"] for margin in ("0.2", "4")
    }
    assert verdicts == {"0.2": "too little data", "4": "preserved"}
    sizes = [check(person, "latest", "--window", size)["window"][0]["before"]["total"] for size in ("5", "60")]
    assert sizes == [5, 60]


def test_worse_after_every_compaction_is_not_preserved(person: Person) -> None:
    """Ten sessions that fail hardly before and mostly after."""
    put(person, *(session(number, "." * 29 + "x", "x" * 20 + "." * 10) for number in range(11, 21)))
    value = check(person)
    assert (value["sessions"], value["crossings"], value["verdict"]) == (10, 10, "not preserved")
    shown = person.run("compress-check").out
    assert shown.startswith("Not preserved: 3.3 % of the calls failed before, 66.7 % after")
    assert "10 compactions in 10 sessions" in shown


def test_a_compaction_into_a_child_session_is_one_boundary(person: Person, tmp_path: Path) -> None:
    """The parent session ends with a compaction and the child continues; both, and all sessions, give the same boundary."""
    with HermesDatabase(str(tmp_path / "state.db")) as database:
        database.session("20260101_parent", end_reason="compression", ended_at=database.clock + 500)
        database.message("20260101_parent", "user", "make the tests pass")
        for number in range(6):
            database.turn("20260101_parent", f"before{number}", exit_code=int(number == 0))
        database.clock += 1000
        database.session("20260102_child", parent_session_id="20260101_parent")
        database.message("20260102_child", "user", "go on with the tests")
        for number in range(4):
            database.turn("20260102_child", f"after{number}", exit_code=int(number > 1))
    assert person.run("sync", str(tmp_path / "state.db")).code == 0
    for arguments in ([], ["20260101_parent"], ["20260102_child"]):
        value = check(person, *arguments)
        (boundary,) = value["boundaries"]
        assert (boundary["session"], boundary["child"], boundary["how"]) == (
            "hermes:20260101_parent", "hermes:20260102_child", "compaction",
        )  # fmt: skip
        errors = value["whole"][0]
        assert [(errors[side]["count"], errors[side]["total"]) for side in ("before", "after")] == [(1, 6), (2, 4)]
    assert person.run("compress-check", "20260102_child").code == 0


@pytest.mark.parametrize("width", [80, 110, 160])
def test_tables_fit_the_window(person: Person, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    put(person, *(session(number, "." * 29 + "x", "x" * 20 + "." * 10) for number in range(11, 17)))
    monkeypatch.setenv("COLUMNS", str(width))
    lines = person.run("compress-check").out.splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)


def test_sessions_without_compaction_have_nothing_to_compare(person: Person) -> None:
    put(person, ClaudeTranscript(session=FIRST).prompt("hello").run("ls", "a"))
    for arguments in ([], ["latest"], ["--project", "nowhere"]):
        done = person.run("compress-check", *arguments)
        assert (done.code, done.out) == (0, "")
        assert "no compaction" in done.err
    assert check(person)["verdict"] == "too little data"


def test_a_compaction_without_calls_after_it_is_too_little_data(archived: Person) -> None:
    """The sample session compacts and then only says thanks."""
    value = check(archived, "0f3c1a2b")
    assert (value["crossings"], value["verdict"]) == (1, "too little data")
    assert archived.run("compress-check", "0f3c1a2b").out.startswith("Too little data: ")


def test_a_session_and_filters_together_are_refused(archived: Person) -> None:
    done = archived.run("compress-check", "latest", "--project", "x")
    assert done.code == 2
    assert "not both" in done.err
    assert archived.run("compress-check", "nothing-like-it").code == 2
    assert archived.run("compress-check", "--margin", "0").code == 2
