"""Work for quiet times: when it begins, when it does not, and that it runs in another process behind everything else."""

import os
import tempfile
from pathlib import Path

import pytest

from preheat.daemon.idle import NICE, QUIET_AFTER_SESSION, IdleWork
from preheat.testing.builders import ClaudeTranscript
from tests.waiting import until


def test_idle_work_starts_after_quiet_time_with_new_events() -> None:
    with tempfile.TemporaryFile() as log:
        idle = IdleWork(log.fileno(), quiet=60, again=600)
        idle.start_if_due(1000.0, 950.0, 5)
        assert not idle.is_running, "events came a moment ago"
        idle.start_if_due(1000.0, 0.0, 0)
        assert not idle.is_running, "nothing has happened"


def test_idle_work_starts_sooner_after_the_end_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with tempfile.TemporaryFile() as log:
        idle = IdleWork(log.fileno(), quiet=60, again=600)
        idle.start_if_due(1000.0, 990.0, 5)
        assert not idle.is_running
        idle.note_session_end()
        idle.start_if_due(1000.0, 1000.0 - QUIET_AFTER_SESSION + 1, 5)
        assert not idle.is_running, "something happens elsewhere"
        idle.start_if_due(1000.0, 1000.0 - QUIET_AFTER_SESSION, 5)
        assert idle.is_running
        idle.stop()
        idle.start_if_due(1001.0, 900.0, 5)
        idle.note_session_end()
        idle.start_if_due(1002.0, 900.0, 6)
        assert not idle.is_running, "it has only just begun"


def test_idle_work_syncs_and_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    ClaudeTranscript().prompt("hello").run("ls", "a.py").answer("done").write(str(tmp_path / "claude" / "projects"))
    with (tmp_path / "log").open("w") as log:
        idle = IdleWork(log.fileno(), quiet=60, again=600)
        idle.start_if_due(1000.0, 900.0, 5)
        assert idle.is_running
        (process,) = [each for each in [idle._process] if each is not None]
        until(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) >= NICE, "a process that steps back")
        until(lambda: idle.start_if_due(0.0, 0.0, 0), "the end of the work")
        idle.start_if_due(1100.0, 1001.0, 9)
        assert not idle.is_running, "too soon"
    text = (tmp_path / "log").read_text()
    assert "preheat sync --quiet: ended with 0" in text
    assert "preheat learn --quiet: ended with 0" in text
    assert (tmp_path / "data" / "archive.db").exists()


def test_idle_work_ends_with_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with tempfile.TemporaryFile() as log:
        idle = IdleWork(log.fileno(), quiet=0, again=0)
        idle.start_if_due(1000.0, 900.0, 5)
        idle.stop()
        assert not idle.is_running
