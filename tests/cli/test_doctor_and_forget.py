"""`preheat doctor`, `preheat forget` and `preheat demo`."""

import json
import os
import sqlite3

import pytest

from preheat.testing.builders import ClaudeTranscript
from tests.shared import bound_by_permissions, needs_permissions

from .conftest import FIRST, SECOND, Person


def test_doctor_finds_nothing_wrong_on_an_empty_machine(person: Person) -> None:
    done = person.run("doctor")
    assert done.code == 0
    assert "~/.claude/projects" in done.out
    assert "not here" in done.out
    assert "Nothing is wrong." in done.out
    assert not os.path.exists(person.folder), "looking must not make an archive"


def test_doctor_counts_stored_deleted_and_new_files(archived: Person) -> None:
    archived.write(ClaudeTranscript(session="99999999-0000-4000-8000-000000000009").prompt("new"))
    os.unlink(os.path.join(archived.projects, "-w-other", f"{SECOND}.jsonl"))
    found = json.loads(archived.run("doctor", "--json").out)
    (claude,) = (agent for agent in found["agents"] if agent["agent"] == "claude_code")
    assert (claude["files"], claude["waiting"], claude["gone"], claude["held"]["sessions"]) == (3, 1, 1, 3)
    assert found["archive"]["source_bytes"] > 0
    shown = archived.run("doctor").out
    assert "1 file" in shown
    assert "`preheat sync` reads 1 new file." in shown


def test_doctor_lists_what_could_not_be_read(person: Person) -> None:
    path = person.write(ClaudeTranscript().prompt("hello").line(b"{broken"))
    person.run("sync")
    done = person.run("doctor")
    assert done.code == 1
    assert "1 place in the transcripts could not be read" in done.out
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


def test_forget_needs_yes_without_a_terminal(archived: Person) -> None:
    done = archived.spawn("forget", "0f3c1a2b")
    assert done.code == 2
    assert "--yes" in done.err
    assert archived.run("sessions", "show", "0f3c1a2b").code == 0


def test_forget_deletes_subagents_too_and_keeps_the_agents_files(archived: Person) -> None:
    done = archived.run("forget", "0f3c1a2b", "--yes")
    assert done.code == 0
    assert "2 sessions deleted from the archive" in done.out
    own = os.path.join(archived.projects, "-w-proj", f"{FIRST}.jsonl")
    assert own.replace(archived.home, "~") in done.out
    assert os.path.exists(own)
    assert archived.run("sync").code == 0
    left = json.loads(archived.run("sessions", "list", "--json").out)
    assert [session["session"] for session in left] == [SECOND]
    assert archived.run("sessions", "search", "postgres").out == ""


def test_forget_by_project_takes_exact_paths_and_folders_below(archived: Person) -> None:
    archived.write(
        ClaudeTranscript(session="99999999-0000-4000-8000-000000000009", project="/w/proj/sub").prompt("below")
    )
    archived.write(
        ClaudeTranscript(session="88888888-0000-4000-8000-000000000008", project="/w/proj2").prompt("beside")
    )
    archived.run("sync")
    assert archived.run("forget", "--project", "pro", "--yes").code == 2
    report = json.loads(archived.run("forget", "--project", "/w/proj", "--yes", "--json").out)
    assert len(report["forgotten"]) == 3
    left = json.loads(archived.run("sessions", "list", "--json").out)
    assert {session["project"] for session in left} == {"/w/other", "/w/proj2"}


def test_forget_names_resumed_sessions_that_stay(archived: Person) -> None:
    archived.write(ClaudeTranscript(session=SECOND, project="/w/other").prompt("write the release notes"))
    resumed = ClaudeTranscript(session=SECOND, project="/w/other").prompt("write the release notes").answer("again")
    path = os.path.join(archived.projects, "-w-other", "99999999-0000-4000-8000-000000000009.jsonl")
    with open(path, "wb") as stream:
        stream.write(resumed.data())
    archived.run("sync")
    done = archived.run("forget", SECOND, "--yes")
    assert "may repeat parts of it and was not deleted" in done.out


def test_demo_runs_on_the_samples_and_deletes_its_archive(person: Person) -> None:
    """The real commands with their real output; the person's own archive is not touched."""
    done = person.spawn("demo", TMPDIR=person.home)
    assert done.code == 0, done.err
    for command in ("sync", "sessions list", "sessions search", "sessions show", "export"):
        assert f"$ preheat {command}" in done.out
    assert "Nothing new" in done.out
    assert not [name for name in os.listdir(person.home) if name.startswith("preheat-demo-")]
    assert not os.path.exists(person.folder)


def test_demo_keeps_its_archive_when_asked(person: Person) -> None:
    done = person.spawn("demo", "--keep", TMPDIR=person.home)
    folder = done.out.strip().rpartition("PREHEAT_HOME=")[2]
    assert os.path.exists(os.path.join(folder, "archive.db"))
