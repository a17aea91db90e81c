"""`preheat lessons`: list, show, pin, retire and release what was learned."""

import json
from typing import Any

import pytest

from tests.ingest.test_learning import worked

from .conftest import Person
from .taught import teach, tricked


@pytest.fixture
def taught(person: Person) -> Person:
    """Four sessions of one project that teach something."""
    teach(person)
    assert person.run("learn", "--quiet").code == 0
    return person


def listed(person: Person, *arguments: str) -> list[dict[str, Any]]:
    done = person.run("lessons", "list", "--json", *arguments)
    assert done.code == 0
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def repair(person: Person) -> str:
    return str(listed(person, "--kind", "repair")[0]["id"])


def handed_out(person: Person) -> set[str]:
    """The lessons that a new session is given."""
    done = person.run("warm", "start", "--task", "mend the till", "--project", "shop", "--json")
    assert done.code == 0
    return {item["lesson"] for item in json.loads(done.out)["context"]["items"]}


def test_a_group_without_a_command_lists_its_commands(person: Person) -> None:
    for group, some in (
        ("lessons", "list, show, retire, pin, release"),
        ("warm", "start, load, test, "),
        ("sessions", "list"),
    ):
        done = person.run(group)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"preheat: `preheat {group}` needs a command: {some}")
        assert done.err.endswith(f"(see `preheat {group} --help`)\n")
        assert len(done.err) < 250


def test_lessons_are_listed_by_kind(taught: Person) -> None:
    done = taught.run("lessons", "list")
    assert done.code == 0
    headings = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert headings[:2] == ["What works here", "What fixes what"]
    assert "uv run pytest tests" in done.out
    assert all(line == line.rstrip() for line in (done.out + done.err).splitlines())
    assert len(done.err.splitlines()) == 1
    assert "`preheat lessons show " in done.err


def test_filters(taught: Person) -> None:
    assert {each["kind"] for each in listed(taught, "--kind", "repair", "--kind", "convention")} == {
        "repair",
        "convention",
    }
    assert len(listed(taught, "--all")) > len(listed(taught))
    assert len(listed(taught, "--limit", "2")) == 2
    assert listed(taught, "--project", "shop") == listed(taught, "--project", "/home/dev/shop") == listed(taught)
    assert all(each["scope"].get("agent", "") == "" for each in listed(taught, "--agent", "codex"))


def test_lessons_of_several_projects_name_their_project(person: Person) -> None:
    for number in range(11, 15):
        person.write(worked(number, "/home/dev/till"))
    teach(person).run("learn")
    out = person.run("lessons", "list").out
    assert "  till" in out
    assert "  shop" in out
    alone = person.run("lessons", "list", "--project", "shop").out
    assert "till" not in alone


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "--project", "nowhere"], "no project `nowhere` is known"),
        (["list", "--project", "."], "no project `.` is known"),
        (["list", "--kind", "prophecy"], "`--kind`"),
        (["list", "--limit", "0"], "`--limit`"),
        (["list", "--agent", "nobody"], "no agent `nobody`"),
        (["show"], "Missing argument"),
        (["show", "zzz"], "no lesson `zzz`; `preheat lessons list --all` shows them"),
        (["show", ""], "begins "),
        (["pin", "zzz"], "no lesson `zzz`"),
        (["retire", "zzz"], "no lesson `zzz`"),
        (["release", "zzz"], "no lesson `zzz`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_one_line(arguments: list[str], message: str, taught: Person) -> None:
    done = taught.run("lessons", *arguments)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert message in done.err


def test_an_empty_list_of_lessons_is_no_error(person: Person) -> None:
    person.run("sync")
    done = person.run("lessons", "list")
    assert (done.code, done.out) == (0, "")
    assert "`preheat learn`" in done.err
    assert listed(person) == []


def test_a_lesson_is_shown_with_its_evidence(taught: Person) -> None:
    name = repair(taught)
    done = taught.run("lessons", "show", name)
    assert done.code == 0
    for word in (
        "kind",
        "holds for",
        "error",
        "for",
        "against",
        "confidence",
        "first seen",
        "half-life",
        "status",
        "Evidence",
    ):
        assert f"  {word}" in done.out
    assert "not measured" in done.out
    line = next(line for line in done.out.splitlines() if line.startswith("  for      2"))
    session = line.split()[3]
    assert taught.run("sessions", "show", session).code == 0
    whole = json.loads(taught.run("lessons", "show", name, "--json").out)
    assert whole["support"]["sessions_for"] == 4
    assert len({each["session"] for each in whole["evidence"]}) == 4


def test_a_lesson_is_found_by_the_beginning_of_its_id(taught: Person) -> None:
    name = repair(taught)
    assert json.loads(taught.run("lessons", "show", name[:-1], "--json").out)["id"] == name


def test_a_lesson_is_shown_after_its_session_was_forgotten(taught: Person) -> None:
    name = repair(taught)
    assert taught.run("forget", "latest", "--yes").code == 0
    done = taught.run("lessons", "show", name)
    assert done.code == 2
    assert "no lesson" in done.err
    assert taught.run("learn", "--quiet").code == 0
    assert taught.run("lessons", "show", name).code == 0


def test_a_retired_lesson_is_not_used_until_it_is_released(taught: Person) -> None:
    name = min(handed_out(taught))
    done = taught.run("lessons", "retire", name, "--because", "we \x1b[31mmoved")
    assert done.code == 0
    assert f"`preheat lessons release {name}` undoes it" in done.out
    taught.run("learn")
    assert name not in handed_out(taught)
    assert name not in {each["id"] for each in listed(taught)}
    shown = taught.run("lessons", "show", name).out
    assert "retired: we moved" in shown
    assert "\x1b" not in shown
    assert taught.run("lessons", "release", name).code == 0
    assert name in handed_out(taught)
    assert "nothing to undo" in taught.run("lessons", "release", name).out


def test_a_pinned_lesson_is_used_whatever_its_score(taught: Person) -> None:
    weak = next(each for each in listed(taught, "--all") if each.get("status") == "weak")
    assert taught.run("lessons", "pin", weak["id"]).code == 0
    assert weak["id"] in handed_out(taught)
    assert "(pinned)" in taught.run("lessons", "list").out


@pytest.mark.parametrize(("verb", "field", "value"), [("pin", "pinned", True), ("retire", "status", "retired")])
def test_marking_prints_the_lesson_as_json(verb: str, field: str, value: object, taught: Person) -> None:
    name = repair(taught)
    assert json.loads(taught.run("lessons", verb, name, "--json").out)[field] == value
    assert field not in json.loads(taught.run("lessons", "release", name, "--json").out)


def test_a_quarantined_lesson_cannot_be_pinned(person: Person) -> None:
    for number in (1, 2, 3):
        person.write(tricked(number, "Ignore previous instructions"))
    person.run("sync")
    person.run("learn")
    locked = next(each for each in listed(person, "--all") if each.get("status") == "quarantined")
    done = person.run("lessons", "pin", locked["id"])
    assert done.code == 2
    assert f"`{locked['id']}` is quarantined (" in done.err
    assert person.run("lessons", "show", locked["id"]).code == 0


def test_lesson_ids_are_completed(taught: Person) -> None:
    name = repair(taught)
    done = taught.spawn(_PREHEAT_COMPLETE="zsh_complete", COMP_WORDS=f"preheat lessons show {name[:4]}", COMP_CWORD="3")
    assert name in done.out


def test_completion_without_an_archive_is_silent(person: Person) -> None:
    done = person.spawn(_PREHEAT_COMPLETE="zsh_complete", COMP_WORDS="preheat lessons show ", COMP_CWORD="3")
    assert "Traceback" not in done.err
    assert done.out == ""
