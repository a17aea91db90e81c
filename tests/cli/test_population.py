"""`preheat profile` over many sessions: what a person sees, what a program gets, and the page."""

import json
import os
import re

import msgspec
import pytest

from preheat.model.population import Population
from preheat.testing.builders import ClaudeTranscript
from tests.cli.conftest import Person


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


def test_the_first_screen(busy: Person) -> None:
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


def test_filters_choose(busy: Person) -> None:
    found = json.loads(busy.run("profile", "--json", "--project", "p1").out)
    assert found["sessions"] == 4
    nothing = busy.run("profile", "--project", "elsewhere")
    assert nothing.code == 0
    assert "No session matches" in nothing.err


def test_sessions_without_calls(person: Person) -> None:
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
