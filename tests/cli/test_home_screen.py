"""Plain `preheat`: it reads what is new, shows what it cost, what to mend and what the next session gets, and names one step."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.archive.summary_cache import CACHE_NAME
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.test_learning import worked
from tests.screens import check_screen
from tests.shared import bound_by_permissions, needs_permissions

from .conftest import NOW, Person

WIDTHS = [60, 80, 110, 200]


def summary(person: Person) -> Any:
    done = person.run("--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture
def worker(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Four sessions with the same mistake, which nobody has read yet, and their project's folder."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for number in range(1, 5):
        person.write(worked(number, str(folder)))
    return person


def test_on_an_empty_machine_it_says_where_it_looked_and_makes_no_archive(person: Person) -> None:
    done = person.run()
    assert done.code == 0
    assert "~/.claude/projects" in done.out
    assert done.out.endswith("\n  preheat demo\n")
    assert summary(person)["next_step"]["command"] == "preheat demo"
    assert not os.path.exists(person.folder)


def test_new_sessions_are_read_and_learned_from_without_being_asked_for(worker: Person) -> None:
    found = summary(worker)
    assert found["archive"]["sessions"] == 4
    assert {agent["agent"]: agent["new"] for agent in found["agents"] if agent["files"]} == {"claude_code": 0}
    assert any("uv run pytest" in sentence for sentence in found["next_session"]["sentences"])
    worker.write(worked(5, os.getcwd()))
    assert summary(worker)["archive"]["sessions"] == 5


def test_a_mistake_that_can_be_mended_comes_with_its_repair_and_a_command_that_works(
    worker: Person, steady: None
) -> None:
    (mistake,) = summary(worker)["mistakes"]
    assert (mistake["calls"], mistake["sessions"], mistake["worked"]) == (4, 4, 4)
    assert "pytest" in mistake["title"]
    assert "uv" in mistake["repair"]
    done = worker.run(*mistake["command"].split()[1:])
    assert done.code == 0, done.err


def test_the_act_is_a_line_in_the_projects_file_and_once_it_is_there_to_pin_the_lesson(
    worker: Person, steady: None
) -> None:
    (mistake,) = summary(worker)["mistakes"]
    assert mistake["command"] == "preheat lessons propose --project shop"
    assert worker.run("lessons", "propose", "--project", "shop", "--write").code == 0
    (mistake,) = summary(worker)["mistakes"]
    assert mistake["command"] == f"preheat lessons pin {mistake['lesson']}"
    assert worker.run("lessons", "pin", mistake["lesson"]).code == 0
    (mistake,) = summary(worker)["mistakes"]
    assert mistake["command"] == f"preheat mistakes {mistake['id']}"


def test_a_mistake_that_a_dead_end_knows_is_shown_with_the_command_that_it_was_given_up_for(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steady: None
) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for number in range(1, 5):
        session = ClaudeTranscript(
            session=f"{number:08x}-4444-4000-8000-000000000000", project=str(folder), started=NOW - number * 86400.0
        )
        session = session.prompt("mend the tax").run("npm test", "npm error Missing script: test", 1)
        person.write(session.run("pnpm run test:unit", "2 passed").answer("Done."))
    (mistake,) = summary(person)["mistakes"]
    assert mistake["repair"] == "with `pnpm run test:unit` instead of `npm test`"
    assert (mistake["calls"], mistake["worked"]) == (4, 4)
    assert mistake["lesson"].startswith("d")
    assert mistake["command"] == "preheat lessons propose --project store"
    shown = person.run("mistakes").out
    assert "with `pnpm run test:unit` instead of `npm test`  worked 4 of 4 times" in shown
    assert "no repair found" not in shown
    assert person.run("mistakes", "1").out.count("✓ pnpm run test:unit") == 4


def test_the_next_step_is_to_install_where_an_agent_with_hooks_is_found(worker: Person) -> None:
    found = summary(worker)
    assert found["installable"] == ["claude_code"]
    assert found["next_step"]["command"] == "preheat install claude_code"
    assert worker.run("install", "claude_code").code == 0
    found = summary(worker)
    assert (found["installed"], found["installable"]) == (["claude_code"], [])
    assert found["next_step"]["command"] == "preheat report --week"
    assert found["effect"].startswith("Too little data")


def test_the_week_is_the_last_one_with_sessions_when_nothing_ran_lately(worker: Person) -> None:
    found = summary(worker)  # the sessions are of January 2026
    assert found["week_is_current"] is False
    assert found["week"]["sessions"] == 4
    assert found["week_until"] < 1_768_500_000


def test_what_is_kept_is_not_used_when_the_archive_has_changed(worker: Person) -> None:
    assert summary(worker)["total"]["sessions"] == 4
    kept = os.path.join(worker.folder, CACHE_NAME)
    with open(kept, "rb") as stream:
        first = stream.readline()
    with open(kept, "wb") as stream:
        stream.write(first + b'{"not": "a summary"}')
    assert summary(worker)["total"]["sessions"] == 4, "what cannot be read is found out anew"
    worker.write(worked(6, os.getcwd()))
    assert worker.run("sync").code == 0
    assert summary(worker)["total"]["sessions"] == 5


def test_what_is_kept_goes_with_a_deleted_session(worker: Person) -> None:
    summary(worker)
    kept = os.path.join(worker.folder, CACHE_NAME)
    assert oct(os.stat(kept).st_mode & 0o777) == "0o600"
    assert worker.run("sessions", "delete", "latest", "--yes").code == 0
    assert not os.path.exists(kept)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.usefixtures("steady")
def test_the_screen(width: int, worker: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = worker.run()
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= width
    check_screen(f"home-{width}", done.out)


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("width", WIDTHS)
def test_the_screen_of_an_empty_machine(width: int, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(person.home)
    check_screen(f"home-empty-{width}", person.run().out)


@pytest.mark.parametrize("width", ["20", "1", "0", "x"])
def test_a_tiny_window_is_no_error(width: str, worker: Person) -> None:
    done = worker.spawn(COLUMNS=width)
    assert (done.code, done.err) == (0, "")
    assert "preheat install claude_code" in done.out


def test_without_utf_8_it_is_plain_text(worker: Person) -> None:
    done = worker.spawn(PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert (done.code, done.err) == (0, "")
    assert "preheat install claude_code" in done.out
    assert done.out.isascii()


@needs_permissions
def test_sessions_that_cannot_be_read_are_named_and_the_rest_is_shown(worker: Person) -> None:
    worker.run()  # loads what the user below may not read
    path = worker.write(ClaudeTranscript(session="99999999-0000-4000-8000-000000000009").prompt("secret"))
    os.chmod(path, 0)
    with bound_by_permissions(os.path.dirname(worker.home)):
        done = worker.run()
    assert done.code == 1
    assert path in done.err
    assert "Preheat knows 4 sessions" in done.out


def test_only_unreadable_sessions_give_the_reason_and_no_traceback(person: Person) -> None:
    person.write(ClaudeTranscript(session="99999999-0000-4000-8000-000000000009").line(b"\x00\xff not json"))
    done = person.run()
    assert done.code == 1
    assert "99999999" in done.err
    assert "Traceback" not in done.err


def test_without_a_home_folder_it_ends_in_one_line(worker: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.delenv("PREHEAT_HOME")
    done = worker.run()
    assert done.code in (0, 2)
    assert len(done.err.splitlines()) <= 1
    assert "Traceback" not in done.err
