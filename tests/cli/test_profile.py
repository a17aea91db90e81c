"""`preheat profile SESSION`: what it prints, that JSON says the same, and what it says when there is little to say."""

import json
import re
from typing import Any

import pytest

from preheat.testing.builders import ClaudeTranscript

from .conftest import FIRST, SECOND, Person

LONG = "aaaaaaaa-0000-4000-8000-00000000000a"
_CONSTANTS = {"95", "0.7", "0.3", "1", "100", "0"}
"""Of intervals and of the score's formula; and the share that begins it."""


def long_session() -> ClaudeTranscript:
    """Sixty-odd calls, a few of them wrong, one of them a failing test; a path and a question."""
    story = ClaudeTranscript(session=LONG, project="/w/long", started=1_769_000_000.0).prompt(
        "does src/app/main.py work?"
    )
    for number in range(24):
        story = story.call("Read", {"file_path": f"/w/long/src/{number % 20}.py"}).result("x = 1")
        story = story.run(f"ls {number}", "main.py")
    for number in range(5):
        story = story.call("Edit", {"file_path": "/w/long/src/0.py", "old_string": "a", "new_string": "b"})
        story = story.result("<tool_use_error>String to replace not found in file.</tool_use_error>", is_error=True)
        story = story.run("pytest -q", "E  assert 1 == 2\n1 failed, 2 passed", exit_code=1)
        if number % 2:
            story = story.call("Edit", {"file_path": "/w/long/src/0.py", "old_string": "c", "new_string": "b"})
            story = story.result("The file has been updated.")
    return story.answer("It does not.")


@pytest.fixture
def profiled(archived: Person) -> Person:
    archived.write(long_session())
    assert archived.run("sync").code == 0
    return archived


def test_a_profile_has_a_sentence_a_table_and_a_line_per_measure(profiled: Person) -> None:
    done = profiled.run("profile", LONG[:8])
    assert done.code == 0
    assert "does src/app/main.py work?" in done.out
    assert re.search(
        r"^60 calls, 10 failed \(17 %, 95 % interval 9–28 %\): \d+ mistakes?, \d+ findings?\.$", done.out, re.MULTILINE
    )
    for label in (
        "Lost",
        "Trend",
        "Recovery",
        "Repeats",
        "Context",
        "Person",
        "Mostly",
        "Refers to",
        "Score",
        "Evidence",
    ):
        assert re.search(rf"^{label} ", done.out, re.MULTILINE), label
    assert re.search(r"^Edit +7 +5 ", done.out, re.MULTILINE)
    assert "per hundred calls" in done.out
    assert "`preheat sessions show aaaaaaaa --calls`" in done.err


def test_every_number_that_is_printed_is_in_the_json(profiled: Person) -> None:
    """As it is, as a percentage, in points, or as people read times and tokens."""
    shown = profiled.run("profile", LONG).out.split("\n\n", 1)[1]  # the heading is the archive's, not the profile's
    measured = json.loads(profiled.run("profile", LONG, "--json").out)
    known = _CONSTANTS | {form for number in numbers(measured) for form in forms(number)}
    shown = re.sub(r"^Refers to.*", "", shown, flags=re.MULTILINE)
    for number in re.findall(r"\d[\d,]*(?:\.\d+)?", shown):
        assert number.replace(",", "") in known, number


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for inner in value.values() for number in numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in numbers(inner)]
    return [value] if isinstance(value, int | float) else []


def forms(number: float) -> list[str]:
    size = abs(number)
    whole = round(size)
    return [
        f"{size:g}", f"{size:.1f}", f"{size:.2f}", f"{100 * size:.0f}", f"{100 * size:.1f}", str(round(100 * size)), str(whole),
        f"{size / 1000:.0f}", f"{size / 1e6:.1f}", *map(str, (whole // 60, whole % 60, whole // 3600, whole % 3600 // 60)),
    ]  # fmt: skip


def test_a_session_without_calls_says_so(profiled: Person) -> None:
    done = profiled.run("profile", SECOND)
    assert done.code == 0
    assert "No tool was called" in done.out
    assert "at least ten messages" in done.out
    assert "nan" not in done.out.lower()


def test_a_profile_of_few_calls_warns(profiled: Person) -> None:
    done = profiled.run("profile", FIRST)
    assert done.code == 0
    assert "with so few calls" in done.out
    assert "too few judged calls" in done.out


def test_calls_of_unknown_outcome_are_not_judged(person: Person) -> None:
    """Calls whose results were never written."""
    person.write(ClaudeTranscript(session=LONG).prompt("go").call("Bash", {"command": "ls"}))
    person.run("sync")
    done = person.run("profile", "latest")
    assert done.code == 0
    assert "1 call of unknown outcome." in done.out
    assert "not judged" in done.out


@pytest.mark.parametrize("width", ["40", "80", "140"])
def test_the_profile_fits_the_window(profiled: Person, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    lines = profiled.run("profile", LONG).out.splitlines()
    measures = lines[next(index for index, line in enumerate(lines) if line.startswith("Lost")) :]
    assert max(map(len, measures)) <= max(int(width), 42)


def test_piped_output_has_no_colours(profiled: Person) -> None:
    assert "\x1b" not in profiled.spawn("profile", LONG).out


def test_control_characters_in_a_title_are_removed(person: Person) -> None:
    person.write(ClaudeTranscript(session=LONG).prompt("[bold]\x1b[31mred").call("Ba\x1b[31msh[/x]", {}).result("ok"))
    person.run("sync")
    done = person.run("profile", LONG)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "[bold]" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nosuch"], "no session `nosuch`"),
        ([LONG, "--html", "x.html"], "for many sessions"),
        ([LONG, "--project", "x"], "for many sessions"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(profiled: Person, arguments: list[str], words: str) -> None:
    done = profiled.run("profile", *arguments)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""
