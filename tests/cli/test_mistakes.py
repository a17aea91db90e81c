"""`preheat mistakes`: the cards, one mistake in full, and what is said when there is none."""

import json
from typing import Any

import pytest

from preheat.cli.mistake_screen import show_mistake
from preheat.mistakes.recurring import find_mistakes
from preheat.testing.builders import ClaudeTranscript
from tests.mistakes.test_recurring import failure
from tests.screens import check_screen

from .conftest import Person

NOT_READ = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"


def session_id(number: int) -> str:
    return f"{number:08d}-0000-4000-8000-000000000000"


def session(number: int, project: str = "/w/proj", message: str = NOT_READ, edited: str = "") -> ClaudeTranscript:
    """An edit that fails because the file was not read; then a read and an edit that works."""
    edit: dict[str, Any] = {"file_path": edited or f"/w/proj/src/part{number}.py", "old_string": "a", "new_string": "b"}
    return (
        ClaudeTranscript(session=session_id(number), project=project, started=1_767_606_000.0 + number * 86_400)
        .prompt("change it")
        .call("Edit", edit)
        .result(message, is_error=True)
        .call("Read", {"file_path": edit["file_path"]})
        .result("a")
        .call("Edit", edit)
        .result("The file has been updated.")
    )


@pytest.fixture
def mistaken(person: Person) -> Person:
    for number, project in ((11, "/w/proj"), (22, "/w/proj"), (33, "/w/other")):
        person.write(session(number, project))
    assert person.run("sync").code == 0
    return person


def mistakes_json(person: Person, *arguments: str) -> Any:
    return json.loads(person.run("mistakes", "--json", *arguments).out)


@pytest.mark.usefixtures("steady")
def test_a_mistake_is_shown_with_its_cost_its_repair_and_its_sessions(mistaken: Person) -> None:
    done = mistaken.run("mistakes")
    assert done.code == 0
    check_screen("mistakes", done.out)
    assert "preheat mistakes 1" in done.err
    evidence = next(line for line in done.out.splitlines() if "seen in" in line)
    for short in evidence.replace("seen in", "").replace(",", " ").split():
        assert mistaken.run("sessions", "show", short).code == 0, short


def test_json_has_the_numbers_that_are_shown(mistaken: Person) -> None:
    value = mistakes_json(mistaken)
    (mistake,) = value["mistakes"]
    assert (mistake["calls"], len(mistake["sessions"]), mistake["recovered"]) == (3, 3, 3)
    assert mistake["repair"]["form"] == "after reading the file"
    assert sorted(mistake["projects"]) == ["/w/other", "/w/proj"]
    assert value["seconds"] == mistake["seconds"] > 0


def test_one_mistake_by_number_or_id_shows_every_occurrence(mistaken: Person) -> None:
    identity = mistakes_json(mistaken)["mistakes"][0]["id"]
    by_number, by_id = mistaken.run("mistakes", "1"), mistaken.run("mistakes", identity)
    assert by_number.out == by_id.out
    for number in (11, 22, 33):
        assert f"part{number}.py" in by_number.out
    assert len(mistakes_json(mistaken, identity)["occurrences"]) == 3
    for wrong in ("2", "0", "nothing"):
        done = mistaken.run("mistakes", wrong)
        assert done.code == 2
        assert "preheat mistakes --all" in done.err


def test_filters_and_limits_choose_the_mistakes(mistaken: Person) -> None:
    assert mistakes_json(mistaken, "--project", "/w/proj")["calls"] == 2
    assert mistakes_json(mistaken, "--project", "/w/other")["mistakes"] == []
    assert len(mistakes_json(mistaken, "--project", "/w/other", "--min-sessions", "1")["mistakes"]) == 1
    assert mistakes_json(mistaken, "--cause", "environment")["mistakes"] == []


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_window(mistaken: Person, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    mistaken.write(session(44, edited="/w/proj/" + "very/long/path/" * 20 + "end.py"))
    mistaken.run("sync")
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in ([], ["1"]):
        lines = mistaken.run("mistakes", *arguments).out.splitlines()
        assert lines
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [60, 110])
def test_of_a_patch_its_file_is_shown_as_seen_from_the_project(
    person: Person, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """The beginning of every patch, and of every path on a machine, is the same in all lines and says nothing."""
    monkeypatch.setenv("COLUMNS", str(width))
    patch = "*** Begin Patch *** Update File: /w/shop/src/cart.py @@ -old +new"
    facts = [
        failure(name, tool="apply_patch", project="/w/shop", summary=patch, repair_summary=patch, recovered_in=1)
        for name in ("one", "two")
    ]
    (mistake,) = find_mistakes(facts).mistakes
    show_mistake(mistake, {"one": "one", "two": "two"})
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("one", "two"))]
    assert [row.count("src/cart.py") for row in rows] == [1, 1]
    assert not any("Update File" in row or "/w/shop" in row for row in rows)


def test_what_tools_said_is_neither_obeyed_nor_read_as_markup(person: Person) -> None:
    """Colours, a cursor move and markup in a message are printed as text."""
    message = (
        "<tool_use_error>\x1b[31mString [bold]not[/bold] found\x1b[0m \x1b]0;title\x07 in the file\r</tool_use_error>"
    )
    for number in (11, 22):
        person.write(session(number, message=message, edited="/w/[red]x[/red]\x1b[2J.py"))
    person.run("sync")
    for arguments in ([], ["1"]):
        out = person.run("mistakes", *arguments).out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "\r" not in out
    assert "[bold]" in person.run("mistakes").out


def test_a_mistake_of_one_session_is_not_listed(person: Person) -> None:
    person.write(session(11))
    person.run("sync")
    done = person.run("mistakes")
    assert (done.code, done.out) == (0, "")
    assert "No mistake came back" in done.err
    assert "--min-sessions 1" in done.err


def test_sessions_without_failures_have_no_mistakes(archived: Person) -> None:
    done = archived.run("mistakes", "--project", "/w/other")
    assert (done.code, done.out) == (0, "")
    assert "No failed call" in done.err


def test_without_an_archive_it_says_what_to_do(person: Person) -> None:
    done = person.run("mistakes")
    assert (done.code, done.out) == (2, "")
    assert "preheat sync" in done.err


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("width", [60, 110])
def test_what_a_person_can_mend_and_what_waited_for_them_is_shown(
    person: Person, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """A missing script in two sessions stands before an agent's own mistake in three; a refused push stands below."""
    monkeypatch.setenv("COLUMNS", str(width))
    for number in (11, 22, 33):
        made = session(number)
        if number != 33:
            made = made.run("npm test", 'npm error Missing script: "test"', 1).run("pnpm test", "4 passed")
            refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
            made = made.call("Bash", {"command": "git push origin main"}).result(refusal, is_error=True)
        person.write(made)
    assert person.run("sync").code == 0
    done = person.run("mistakes")
    order = (
        "npm test: ",
        "What only agents can avoid",
        "File has not been read yet",
        "What waited for you",
        "settings",
    )
    places = [" ".join(done.out.split()).index(words) for words in order]
    assert places == sorted(places)
    check_screen(f"mistakes-waits-{width}", done.out)
    waits = mistakes_json(person)["waits"]
    assert [(each["command"][:8], each["calls"], each["sessions"]) for each in waits] == [("git push", 2, 2)]
