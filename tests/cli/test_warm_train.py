"""`preheat templates train` on the command line: what it refuses before anything runs, and what it shows."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Person
from tests.shared import TESTS

SUITE = """\
name: basics
tasks:
  - id: build
    prompt: |
      sh: make -f build.mk all
    setup: printf 'all:\\n\\techo built\\n' > build.mk
  - id: wrong
    prompt: "sh: true"
    verify: "false"
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return str(path)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A stand-in for the agent's program."""
    path = tmp_path / "agent"
    path.write_text(f"#!/bin/sh\nexec {sys.executable} -m tests.lab.training_agent\n")
    path.chmod(0o755)
    checkout = os.path.dirname(TESTS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((checkout, os.path.join(checkout, "src"))))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked.txt"))
    return str(path)


def test_a_training_is_shown_task_by_task(person: Person, suite: str, program: str) -> None:
    """Exit code 1 where a task was left out; the template is there."""
    done = person.run("warm", "train", "basics", "--suite", suite, "--agent", "claude", "--program", program)
    assert done.code == 1, done.err
    assert "build   done" in done.out
    assert "wrong   not verified" in done.out
    assert "Compressed: " in done.out
    assert "Kept `basics@" in done.out
    assert "1/2 build: done" in done.err


def test_a_training_is_reported_as_json(person: Person, suite: str, program: str) -> None:
    words = ("--suite", suite, "--agent", "claude", "--program", program, "--limit", "1", "--json")
    done = person.run("warm", "train", "basics", *words)
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert [task["status"] for task in report["tasks"]] == ["done"]
    assert len(report["tasks"][0]["sessions"]) == 1
    assert report["examples"] >= 1


def test_a_wrong_training_is_refused_before_anything_runs(person: Person, suite: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("tasks:\n  - id: a\n")
    start = ("warm", "train", "basics", "--agent")
    for arguments, report in (
        ((*start, "claude", "--suite", str(broken)), "broken.yaml` line 2: task 1 has no `prompt`"),
        ((*start, "claude", "--suite", suite, "--program", "no-such-program"), "`no-such-program` is not installed"),
        ((*start, "cursor", "--suite", suite), "does not know how to start Cursor without a terminal; it knows"),
        ((*start, "claude", "--suite", suite, "--program", "sh", "--project", "/no/such"), "`/no/such` is no folder"),
        (("warm", "train", "../up", "--agent", "claude", "--suite", suite, "--program", "sh"), "../up"),
    ):
        done = person.run(*arguments)
        assert done.code == 2, arguments
        assert report in done.err
        assert len(done.err.strip().splitlines()) == 1
    assert not os.path.exists(os.path.join(person.folder, "templates"))


def test_sigterm_ends_the_training_and_the_agents_program(
    person: Person, suite: str, program: str, tmp_path: Path
) -> None:
    """The agent's program has its own process group, and would go on otherwise."""
    process_id = tmp_path / "process"
    Path(suite).write_text(f"tasks: [{{id: long, prompt: 'sh: echo $$ > {process_id}; sleep 600'}}]")
    words = ("warm", "train", "basics", "--suite", suite, "--agent", "claude", "--program", program)
    with subprocess.Popen([sys.executable, "-m", "preheat", *words], stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (process_id.exists() and process_id.read_text().strip()):
            time.sleep(0.02)
        process.terminate()
        _, report = process.communicate()
    assert process.returncode == 143, report
    with contextlib.suppress(FileNotFoundError):  # one that ended and nobody asked after has no words left
        assert Path("/proc", process_id.read_text().strip(), "cmdline").read_bytes() == b""
