"""Plain `preheat` and `preheat admin doctor`: what is on this machine, and what is wrong."""

import json
import os
import sqlite3

import pytest

from preheat.testing.builders import ClaudeTranscript
from tests.screens import check_screen
from tests.shared import bound_by_permissions, needs_permissions

from .conftest import NOW, SECOND, Person, mask_sizes


@pytest.mark.usefixtures("steady")
def test_doctor_shows_agents_places_archive_and_problems(archived: Person) -> None:
    path = archived.write(
        ClaudeTranscript(session="99999999-0000-4000-8000-000000000009").prompt("hi").line(b"{broken")
    )
    for folder, _, names in os.walk(archived.projects):
        for name in names:
            os.utime(os.path.join(folder, name), (NOW - 3600, NOW - 3600))
    archived.run("sync")
    done = archived.run("doctor")
    assert done.code == 1
    assert path.replace(archived.home, "~") in done.out
    check_screen("doctor", mask_sizes(done.out))


def test_doctor_finds_nothing_wrong_on_an_empty_machine(person: Person) -> None:
    done = person.run("doctor")
    assert done.code == 0
    assert json.loads(person.run("doctor", "--json").out)["findings"] == []
    assert not os.path.exists(person.folder), "looking must not make an archive"


def test_doctor_counts_stored_deleted_and_new_files(archived: Person) -> None:
    archived.write(ClaudeTranscript(session="99999999-0000-4000-8000-000000000009").prompt("new"))
    os.unlink(os.path.join(archived.projects, "-w-other", f"{SECOND}.jsonl"))
    found = json.loads(archived.run("doctor", "--json").out)
    (claude,) = (agent for agent in found["agents"] if agent["agent"] == "claude_code")
    assert (claude["files"], claude["waiting"], claude["gone"], claude["held"]["sessions"]) == (3, 1, 1, 3)
    assert found["archive"]["source_bytes"] > 0


def test_doctor_lists_what_could_not_be_read(person: Person) -> None:
    path = person.write(ClaudeTranscript().prompt("hello").line(b"{broken"))
    person.run("sync")
    done = person.run("doctor")
    assert done.code == 1
    assert f"{path.replace(person.home, '~')}:2: " in done.out


@needs_permissions
def test_doctor_names_folders_it_may_not_open(archived: Person) -> None:
    closed = os.path.join(archived.projects, "-w-other")
    os.chmod(closed, 0)
    with bound_by_permissions(archived.home):
        done = archived.run("doctor")
    os.chmod(closed, 0o700)
    assert done.code == 1
    assert f"`{closed}` cannot be opened: no permission" in done.out


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions there")
def test_doctor_warns_when_others_can_read_the_archive(archived: Person) -> None:
    assert archived.run("doctor").code == 0
    path = os.path.join(archived.folder, "archive.db")
    os.chmod(path, 0o644)
    done = archived.run("doctor")
    assert done.code == 1
    assert f"others can read `{path}` (mode 644); `chmod 600 {path}` closes it" in done.out


def test_doctor_verifies_every_byte(archived: Person) -> None:
    assert "every byte is as it was stored" in archived.run("doctor", "--verify").out
    connection = sqlite3.connect(os.path.join(archived.folder, "archive.db"))
    with connection:
        connection.execute("UPDATE segments SET sha256 = zeroblob(32)")
    connection.close()
    done = archived.run("doctor", "--verify")
    assert done.code == 1
    assert "is damaged" in done.out


def test_every_command_explains_a_damaged_archive(archived: Person) -> None:
    path = os.path.join(archived.folder, "archive.db")
    for name in os.listdir(archived.folder):
        if name != "sync.lock":
            os.unlink(os.path.join(archived.folder, name))
    with open(path, "w") as stream:
        stream.write("this is no database at all" * 100)
    for arguments in (["sessions", "list"], ["sync"], ["export", "latest"], []):
        done = archived.run(*arguments)
        assert done.code == 2
        assert "is damaged" in done.err
        assert len(done.err.splitlines()) == 1
    done = archived.run("doctor")
    assert done.code == 1
    assert "is damaged" in done.out
