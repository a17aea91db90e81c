"""`preheat sessions compare` and `preheat report compactions`: verdicts, numbers, and what cannot be compared."""

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.builders import ClaudeTranscript
from tests.agents.hermes_database import HermesDatabase

from .conftest import FIRST, Person


def session(number: int, pattern: str, project: str = "/w/good") -> ClaudeTranscript:
    built = ClaudeTranscript(session=f"{number:08d}-0000-4000-8000-000000000000", project=project).prompt(
        f"task {number}"
    )
    for place, letter in enumerate(pattern):
        built = built.run(f"cat file{place}", "text" if letter == "." else "cat: no such file", int(letter == "x"))
    return built


@pytest.fixture
def two(person: Person) -> Person:
    """Six sessions that work well, six that do not."""
    for number in range(11, 17):
        person.write(session(number, "." * 28 + "xx"))
    for number in range(21, 27):
        person.write(session(number, "..x" * (9 + number % 3), "/w/bad"))
    assert person.run("sync").code == 0
    return person


def compare_json(person: Person, *arguments: str) -> Any:
    done = person.run("compare", "--json", *arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_compare_of_two_sessions_counts_failures_on_both_sides(two: Person) -> None:
    value = compare_json(two, "00000011", "00000021")
    errors = value["differences"][0]
    assert (value["of"], errors["a_count"], errors["a_total"], errors["b_count"], errors["b_total"]) == (
        "sessions", 2, 30, 9, 27,
    )  # fmt: skip
    shown = two.run("compare", "00000011", "00000021").out
    assert "error rate 6.7 % against 33.3 %" in shown
    assert "does not prove a cause" in shown


def test_compare_of_two_sets_finds_the_higher_error_rate(two: Person) -> None:
    value = compare_json(two, "project=/w/good", "project=/w/bad")
    assert (value["a"]["sessions"], value["b"]["sessions"], value["verdict"]) == (6, 6, "b is higher")
    assert two.run("compare", "project=/w/good", "project=/w/bad").out.startswith(
        "A fails fewer: error rate 6.7 % against"
    )


def test_a_session_in_both_sets_counts_in_the_smaller_one(two: Person) -> None:
    value = compare_json(two, "project=/w/bad", "all")
    assert (value["a"]["sessions"], value["b"]["sessions"], value["shared"]) == (6, 6, 6)
    assert value["b"]["label"] == "all, the others"
    assert value["verdict"] == "a is higher"


def test_a_set_may_have_several_conditions_with_every_key(two: Person) -> None:
    everything = (
        "agent=claude,project=/w/bad,model=sonnet,since=2020-01-01,until=2030-01-01,min-messages=1,max-messages=999"
    )
    assert compare_json(two, f"{everything},subagents=no", "project=/w/good")["a"]["sessions"] == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["00000011", "00000011"], "same session"),
        (["project=/w/bad", "project=/w/bad"], "same 6 sessions"),
        (["all", "all"], "same 12 sessions"),
        (["00000011", "all"], "a session and a set"),
        (["project=/w/nowhere", "all"], "no project `/w/nowhere` is known"),
        (["colour=red", "all"], "the keys are agent, project"),
        (["project=", "all"], "KEY=VALUE"),
        (["since=soon", "all"], "2026-01-31"),
        (["agent=nobody", "all"], "no agent `nobody`"),
        (["min-messages=few", "all"], "min-messages=few"),
        (["00000011", "zzzzzz"], "no session `zzzzzz`"),
        (["00000011"], "B"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_impossible_comparison_is_refused_in_one_line(two: Person, arguments: list[str], message: str) -> None:
    done = two.run("compare", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_session_without_calls_is_refused_and_one_call_is_too_little_data(two: Person) -> None:
    two.write(session(31, "."))
    two.write(session(32, ""))
    two.run("sync")
    assert compare_json(two, "00000011", "00000031")["verdict"] == "too little data"
    assert two.run("compare", "00000011", "00000031").out.startswith("Too little data")
    done = two.run("compare", "00000011", "00000032")
    assert done.code == 2
    assert "`00000032` has no calls" in done.err


@pytest.mark.parametrize("width", [80, 110, 160])
def test_the_table_fits_the_window(two: Person, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in (["project=/w/good", "all"], ["00000011", "00000021"]):
        lines = two.run("compare", *arguments).out.splitlines()
        assert max(map(len, lines)) <= width
        assert not any("…" in line for line in lines)


def compacted_session(number: int, before: str, after: str) -> ClaudeTranscript:
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


def check_json(person: Person, *arguments: str) -> Any:
    done = person.run("compress-check", "--json", *arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)


def sync_sessions(person: Person, *sessions: ClaudeTranscript) -> None:
    for each in sessions:
        person.write(each)
    assert person.run("sync").code == 0


def test_one_compaction_is_compared_before_and_after(person: Person) -> None:
    sync_sessions(person, compacted_session(11, "." * 39 + "x", "xx" + "." * 10))
    value = check_json(person, "00000011")
    assert (value["crossings"], value["verdict"]) == (1, "too little data")
    errors, _, _, asked = value["window"]
    assert [(errors[side]["count"], errors[side]["total"]) for side in ("before", "after")] == [(1, 12), (2, 12)]
    assert value["whole"][0]["before"]["total"] == 40
    assert (asked["after"]["count"], asked["after"]["total"]) == (1, 1)
    shown = person.run("compress-check", "00000011").out
    assert shown.startswith("Too little data: 8.3 % of the calls failed before, 16.7 % after")


def test_margin_and_window_change_the_verdict_and_the_size(person: Person) -> None:
    sync_sessions(person, compacted_session(11, ("." * 3 + "x") * 15, ("." * 3 + "x") * 15))
    verdicts = {
        margin: check_json(person, "latest", "--margin", margin, "--window", "60")["verdict"] for margin in ("0.2", "4")
    }
    assert verdicts == {"0.2": "too little data", "4": "preserved"}
    sizes = [check_json(person, "latest", "--window", size)["window"][0]["before"]["total"] for size in ("5", "60")]
    assert sizes == [5, 60]


def test_worse_after_every_compaction_is_not_preserved(person: Person) -> None:
    """Ten sessions that fail hardly before and mostly after."""
    sync_sessions(person, *(compacted_session(number, "." * 29 + "x", "x" * 20 + "." * 10) for number in range(11, 21)))
    value = check_json(person)
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
        value = check_json(person, *arguments)
        (boundary,) = value["boundaries"]
        assert (boundary["session"], boundary["child"], boundary["how"]) == (
            "hermes:20260101_parent", "hermes:20260102_child", "compaction",
        )  # fmt: skip
        errors = value["whole"][0]
        assert [(errors[side]["count"], errors[side]["total"]) for side in ("before", "after")] == [(1, 6), (2, 4)]
    assert person.run("compress-check", "20260102_child").code == 0


@pytest.mark.parametrize("width", [80, 110, 160])
def test_tables_fit_the_window(person: Person, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    sync_sessions(person, *(compacted_session(number, "." * 29 + "x", "x" * 20 + "." * 10) for number in range(11, 17)))
    monkeypatch.setenv("COLUMNS", str(width))
    lines = person.run("compress-check").out.splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)


def test_sessions_without_compaction_have_nothing_to_compare(person: Person) -> None:
    sync_sessions(person, ClaudeTranscript(session=FIRST).prompt("hello").run("ls", "a"))
    for arguments in ([], ["latest"]):
        done = person.run("compress-check", *arguments)
        assert (done.code, done.out) == (0, "")
        assert "no compaction" in done.err
    assert check_json(person)["verdict"] == "too little data"


def test_a_compaction_without_calls_after_it_is_too_little_data(archived: Person) -> None:
    """The sample session compacts and then only says thanks."""
    value = check_json(archived, "0f3c1a2b")
    assert (value["crossings"], value["verdict"]) == (1, "too little data")
    assert archived.run("compress-check", "0f3c1a2b").out.startswith("Too little data: ")


def test_a_session_and_filters_together_are_refused(archived: Person) -> None:
    done = archived.run("compress-check", "latest", "--project", "x")
    assert done.code == 2
    assert "not both" in done.err
    assert archived.run("compress-check", "nothing-like-it").code == 2
    assert archived.run("compress-check", "--margin", "0").code == 2
