"""A person's machine for the command line: an empty home, an archive folder, and a few sessions."""

import os
import re
import subprocess
import sys
import time
from typing import Any, NamedTuple

import pytest

from preheat.cli import main
from preheat.testing.builders import ClaudeTranscript
from tests.waiting import HUNG

FIRST = "0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607"
NOW = 1_768_500_000.0
"""2026-01-15, a few days after most sessions of the tests."""
SECOND = "7a7b7c7d-0000-4000-8000-000000000002"
_OURS = (
    "PREHEAT_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "HERMES_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "COLUMNS",
)


class CommandResult(NamedTuple):
    """What a command gave."""

    code: int
    out: str
    err: str


class Person:
    """Runs commands, in this process or (slower, but the real thing) in one of their own."""

    def __init__(self, home: str, capture: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.projects = os.path.join(home, ".claude", "projects")
        self.folder = os.path.join(home, "archive")
        self._capture = capture

    def run(self, *arguments: str) -> CommandResult:
        self._capture.readouterr()
        code = main(list(arguments))
        captured = self._capture.readouterr()
        return CommandResult(code, captured.out, captured.err)

    def spawn(self, *arguments: str, **environment: str) -> CommandResult:
        done = subprocess.run(
            [sys.executable, "-m", "preheat", *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=HUNG,
        )
        return CommandResult(done.returncode, done.stdout, done.stderr)

    def write(self, transcript: ClaudeTranscript) -> str:
        return transcript.write(self.projects)


@pytest.fixture
def person(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Person:
    """Nothing on the machine yet."""
    for name in _OURS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("TZ", "UTC")
    source = os.path.join(os.path.dirname(__file__), "..", "..", "src")
    monkeypatch.setenv("PYTHONPATH", os.path.abspath(source))
    return Person(str(tmp_path), capsys)


@pytest.fixture
def steady(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """For whole screens: always the same time and the same width."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "110")


def mask_sizes(text: str) -> str:
    """The text with `#` for sizes and durations, which differ from machine to machine."""
    return re.sub(r"\b[\d.]+ (B|[KMGT]B|s)\b", r"# \1", text)


@pytest.fixture
def archived(person: Person) -> Person:
    """Two sessions of two projects, one with a subagent, read into the archive."""
    first = first_session()
    child = ClaudeTranscript(session=FIRST, agent="abc123").prompt("look for usages").answer("There are none.")
    person.write(first)
    person.write(child)
    person.write(
        ClaudeTranscript(session=SECOND, project="/w/other", model="claude-opus-4", started=1_768_000_000.0)
        .prompt("write the release notes")
        .answer("Done: the release notes mention the migration.")
    )
    assert person.run("sync").code == 0
    return person


def first_session() -> ClaudeTranscript:
    """A prompt, a failing command, a thought, a subagent, a rewind and a compaction."""
    return (
        ClaudeTranscript(session=FIRST)
        .prompt("the migration test fails, fix it")
        .reasoning("The test comes first.")
        .answer("I run the test first.")
        .run("pytest tests/test_migration.py", "E   no such table: users", exit_code=1)
        .call("Read", {"file_path": "/w/proj/src/models.py"})
        .result("class User: ...")
        .call("Agent", {"prompt": "look for usages"})
        .result("There are none.", outcome={"agentId": "abc123", "status": "completed"})
        .prompt("use sqlite")
        .answer("I use sqlite.")
        .rewind()
        .prompt("use postgres")
        .answer("I use postgres.")
        .inject("<system-reminder>be careful</system-reminder>")
        .compaction("The test was fixed.")
        .prompt("thanks")
        .answer("You are welcome.")
    )
