"""`preheat report profile` of one session and of many: what is printed, the same values as JSON, and the page."""

import json
import os
import re
from typing import Any

import msgspec
import pytest

from preheat.model.population import Population
from preheat.testing.builders import ClaudeTranscript
from tests.screens import check_screen

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


@pytest.mark.usefixtures("steady")
def test_a_profile_has_a_sentence_a_table_and_a_line_per_measure(profiled: Person) -> None:
    done = profiled.run("profile", LONG[:8])
    assert done.code == 0
    check_screen("profile", done.out)
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


@pytest.fixture
def busy(person: Person) -> Person:
    """Eight short sessions in two projects; in each, one command of eight fails."""
    for number in range(8):
        made = ClaudeTranscript(session=f"0000000{number}-5d6e-4f70-8a91-b2c3d4e5f607", project=f"/w/p{number % 2}")
        made = made.prompt("run it")
        for step in range(8):
            failing = step == number % 3
            output = "bash: frobnicate: command not found" if failing else "fine"
            made = made.run("frobnicate --now" if failing else f"echo {step}", output, exit_code=127 if failing else 0)
        person.write(made)
    assert person.run("sync").code == 0
    return person


def test_many_sessions_are_shown_by_length_tool_agent_model_and_project(busy: Person) -> None:
    """The rate, by length, whether agents get better, by tool, agent, model and project, and what to do next."""
    done = busy.run("profile")
    assert done.code == 0
    assert done.out.startswith("12.5 % of calls failed (95 % interval ")
    order = ["By length", "Do agents get better", "By tool", "By agent", "By model", "By project"]
    assert [heading for heading in order if heading in done.out] == order
    assert sorted(order, key=done.out.index) == order
    assert "Too little data to say" in done.out
    assert "preheat mistakes" in done.err
    assert not re.search(r"\bnan\b", done.out, re.IGNORECASE)


def test_every_line_fits_a_narrow_window(busy: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = busy.run("profile").out.splitlines()
    assert max(map(len, lines[1:])) <= 80  # the first line is a sentence, left to the terminal to wrap


def test_json_has_the_same_values(busy: Person) -> None:
    done = busy.run("profile", "--json")
    found = msgspec.convert(json.loads(done.out), Population)
    assert (found.sessions, found.overall.errors.count, found.overall.errors.total) == (8, 8, 64)
    assert {cell.name: cell.errors.total for cell in found.projects.cells} == {"/w/p0": 32, "/w/p1": 32}


def test_filters_choose_the_sessions_that_are_measured(busy: Person) -> None:
    found = json.loads(busy.run("profile", "--json", "--project", "p1").out)
    assert found["sessions"] == 4
    nothing = busy.run("profile", "--project", "elsewhere")
    assert nothing.code == 2
    assert "no project `elsewhere` is known" in nothing.err


def test_sessions_without_calls_have_no_rates(person: Person) -> None:
    person.write(ClaudeTranscript().prompt("hello").answer("Hello."))
    assert person.run("sync").code == 0
    done = person.run("profile")
    assert done.code == 0
    assert "no call in them can be judged" in done.err
    assert json.loads(person.run("profile", "--json").out)["calls"] == 0


def test_the_html_report_is_written_and_replaced(busy: Person) -> None:
    path = os.path.join(busy.home, "report.html")
    first = busy.run("profile", "--html", path)
    assert "Wrote" in first.err
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    assert text.startswith("<!doctype html>")
    assert "command not found" in text or "frobnicate" in text
    again = busy.run("profile", "--html", path)
    assert "Replaced" in again.err
    assert os.listdir(busy.home).count("report.html") == 1
    assert not [name for name in os.listdir(busy.home) if name.endswith(".new")]


def test_an_unwritable_html_report_is_refused_in_one_line(busy: Person) -> None:
    done = busy.run("profile", "--html", os.path.join(busy.home, "missing", "report.html"))
    assert done.code == 2
    assert "cannot write" in done.err
    assert "Traceback" not in done.err
