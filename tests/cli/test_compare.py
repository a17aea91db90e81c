"""`preheat compare`: sessions, sets, and everything that cannot be compared."""

import json
from typing import Any

import pytest

from preheat.testing.builders import ClaudeTranscript

from .conftest import Person


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


def compared(person: Person, *arguments: str) -> Any:
    done = person.run("compare", "--json", *arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_compare_of_two_sessions_counts_failures_on_both_sides(two: Person) -> None:
    value = compared(two, "00000011", "00000021")
    errors = value["differences"][0]
    assert (value["of"], errors["a_count"], errors["a_total"], errors["b_count"], errors["b_total"]) == (
        "sessions", 2, 30, 9, 27,
    )  # fmt: skip
    shown = two.run("compare", "00000011", "00000021").out
    assert "error rate 6.7 % against 33.3 %" in shown
    assert "does not prove a cause" in shown


def test_compare_of_two_sets_finds_the_higher_error_rate(two: Person) -> None:
    value = compared(two, "project=/w/good", "project=/w/bad")
    assert (value["a"]["sessions"], value["b"]["sessions"], value["verdict"]) == (6, 6, "b is higher")
    assert two.run("compare", "project=/w/good", "project=/w/bad").out.startswith(
        "A fails fewer: error rate 6.7 % against"
    )


def test_a_session_in_both_sets_counts_in_the_smaller_one(two: Person) -> None:
    value = compared(two, "project=/w/bad", "all")
    assert (value["a"]["sessions"], value["b"]["sessions"], value["shared"]) == (6, 6, 6)
    assert value["b"]["label"] == "all, the others"
    assert value["verdict"] == "a is higher"


def test_a_set_may_have_several_conditions_with_every_key(two: Person) -> None:
    everything = (
        "agent=claude,project=/w/bad,model=sonnet,since=2020-01-01,until=2030-01-01,min-messages=1,max-messages=999"
    )
    assert compared(two, f"{everything},subagents=no", "project=/w/good")["a"]["sessions"] == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["00000011", "00000011"], "same session"),
        (["project=/w/bad", "project=/w/bad"], "same 6 sessions"),
        (["all", "all"], "same 12 sessions"),
        (["00000011", "all"], "a session and a set"),
        (["project=/w/nowhere", "all"], "no session with calls fits `project=/w/nowhere`"),
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
    assert compared(two, "00000011", "00000031")["verdict"] == "too little data"
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
