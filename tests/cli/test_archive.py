"""`preheat sync` and `preheat sessions delete`: what goes into the archive, and what is deleted from it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from preheat.testing.builders import ClaudeTranscript
from tests.screens import check_screen
from tests.shared import bound_by_permissions, needs_permissions
from tests.waiting import HUNG, until

from .conftest import FIRST, SECOND, Person, first_session, mask_sizes


def test_sync_without_any_session_says_what_to_do(person: Person) -> None:
    done = person.run("sync")
    assert done.code == 0
    assert "No sessions were found" in done.out
    assert "preheat demo" in done.out


@pytest.mark.usefixtures("steady")
def test_sync_shows_what_was_read_and_removed(person: Person) -> None:
    person.write(first_session().prompt("the token is ghp_" + "a1B2c3D4e5" * 4))
    done = person.run("sync")
    assert done.code == 0
    check_screen("sync", mask_sizes(done.out))


def test_a_second_sync_prints_the_same_on_the_quick_and_the_full_path(person: Person) -> None:
    """The quick path (own process) and the long one print the same sentence and the same JSON shape."""
    person.write(first_session())
    assert person.run("sync").code == 0
    long, short = person.run("sync"), person.spawn("sync")
    assert "Nothing new: 1 file looked at" in long.out
    assert long == short
    long_json, short_json = (
        json.loads(done.out) for done in (person.run("sync", "--json"), person.spawn("sync", "--json"))
    )
    assert long_json.pop("seconds") >= 0
    assert short_json.pop("seconds") >= 0
    assert long_json == short_json
    assert person.run("sync", "--quiet") == person.spawn("sync", "--quiet") == (0, "", "")


def test_json_has_the_whole_report(person: Person) -> None:
    person.write(first_session().line(b"{broken"))
    done = person.run("sync", "--json")
    report = json.loads(done.out)
    assert done.code == 1
    assert report["agents"]["claude_code"]["sessions"] == 1
    assert report["problems"][0]["line"] == len(first_session().lines()) + 1


def test_a_broken_line_is_named_and_the_rest_is_read(person: Person) -> None:
    """One line `path:line: why` on the error stream, exit code 1, everything else in the archive."""
    path = person.write(first_session().line(b"{broken").prompt("after the damage"))
    done = person.run("sync")
    assert done.code == 1
    assert done.err.startswith(f"{path}:{len(first_session().lines()) + 1}: ")
    assert len(done.err.splitlines()) == 1
    assert person.run("sessions", "search", "damage").out


def test_many_problems_are_capped(person: Person) -> None:
    transcript = ClaudeTranscript().prompt("hello")
    for number in range(25):
        transcript = transcript.line(b"{broken %d" % number)
    person.write(transcript)
    lines = person.run("sync").err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 5 more; `preheat admin doctor` lists them"


def test_sync_of_a_folder_counts_files_that_are_no_sessions(person: Person) -> None:
    folder = os.path.join(person.home, "backup")
    first_session().write(folder)
    for name in ("notes.txt", "empty.jsonl"):
        with open(os.path.join(folder, name), "w") as stream:
            stream.write("" if name.startswith("empty") else "not a session")
    done = person.run("sync", folder)
    assert done.code == 0
    assert "2 other files" in done.out
    assert json.loads(person.run("sync", folder, "--json").out)["unrecognised_files"] == 2


def test_sync_of_a_file_that_is_no_session_is_an_error(person: Person) -> None:
    path = os.path.join(person.home, "notes.txt")
    with open(path, "w") as stream:
        stream.write("not a session")
    done = person.run("sync", path)
    assert done.code == 2
    assert done.err.startswith(f"preheat: `{path}` is not a session")
    assert len(done.err.splitlines()) == 1


@needs_permissions
def test_an_unreadable_file_in_a_folder_is_named_and_the_rest_is_read(person: Person) -> None:
    folder = os.path.join(person.home, "backup")
    first_session().write(folder)
    closed = ClaudeTranscript(session=SECOND).prompt("secret").write(folder)
    os.chmod(closed, 0)
    person.run("sync")  # loads what the user below may not read
    with bound_by_permissions(os.path.dirname(person.home)):
        done = person.run("sync", folder)
    assert done.code == 1
    assert closed in done.err
    assert "no permission" in done.err
    assert "Claude Code" in done.out


def test_agent_names_are_accepted_in_any_spelling(person: Person) -> None:
    person.write(first_session())
    assert json.loads(person.run("sync", "--agent", "Claude Code", "--json").out)["agents"]["claude_code"]["read"] == 1
    done = person.run("sync", "--agent", "nobody")
    assert (done.code, done.out) == (2, "")
    assert "Preheat knows claude_code" in done.err


def test_secrets_are_counted_by_kind(person: Person) -> None:
    person.write(ClaudeTranscript().prompt("the token is ghp_" + "a1B2c3D4e5" * 4))
    assert json.loads(person.run("sync", "--json").out)["redactions"] == {"github-token": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="how to wait for the reading processes is known for Linux only")
def test_an_interrupted_sync_prints_one_line_and_exits_with_130(person: Person) -> None:
    """Ctrl-C reaches the worker processes, too: they print no traceback. The next sync continues."""
    big = ClaudeTranscript(pace=0.01)
    for number in range(40):
        big = big.prompt(f"question {number}").answer("x" * 200_000)
    for number in range(8):
        ClaudeTranscript(session=f"{number:08x}-5d6e-4f70-8a91-b2c3d4e5f607", records=big.records).write(
            person.projects
        )
    process = subprocess.Popen(
        [sys.executable, "-m", "preheat", "sync"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    until(lambda: process.poll() is not None or Path(children).read_text(), "a reading process")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=HUNG)
    assert (process.returncode, err) == (130, "preheat: stopped; what was done so far is kept\n"), out
    assert person.run("sync").code == 0


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
