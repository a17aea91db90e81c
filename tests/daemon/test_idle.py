"""Work for quiet times: when it begins, when it does not, and that it runs in another process behind everything else."""

import os
import tempfile
from pathlib import Path

import pytest

from preheat.daemon.idle import NICE, SOON, Idle
from preheat.testing.builders import ClaudeTranscript
from tests.waiting import until


def test_idle_work_starts_after_quiet_time_with_new_events() -> None:
    with tempfile.TemporaryFile() as log:
        idle = Idle(log.fileno(), quiet=60, again=600)
        idle.look(1000.0, 950.0, 5)
        assert not idle.busy, "events came a moment ago"
        idle.look(1000.0, 0.0, 0)
        assert not idle.busy, "nothing has happened"


def test_idle_work_starts_sooner_after_the_end_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with tempfile.TemporaryFile() as log:
        idle = Idle(log.fileno(), quiet=60, again=600)
        idle.look(1000.0, 990.0, 5)
        assert not idle.busy
        idle.ended()
        idle.look(1000.0, 1000.0 - SOON + 1, 5)
        assert not idle.busy, "something happens elsewhere"
        idle.look(1000.0, 1000.0 - SOON, 5)
        assert idle.busy
        idle.stop()
        idle.look(1001.0, 900.0, 5)
        idle.ended()
        idle.look(1002.0, 900.0, 6)
        assert not idle.busy, "it has only just begun"


def test_idle_work_syncs_and_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    ClaudeTranscript().prompt("hello").ran("ls", "a.py").answer("done").write(str(tmp_path / "claude" / "projects"))
    with (tmp_path / "log").open("w") as log:
        idle = Idle(log.fileno(), quiet=60, again=600)
        idle.look(1000.0, 900.0, 5)
        assert idle.busy
        (process,) = [each for each in [idle._process] if each is not None]
        until(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) >= NICE, "a process that steps back")
        until(lambda: idle.look(0.0, 0.0, 0), "the end of the work")
        idle.look(1100.0, 1001.0, 9)
        assert not idle.busy, "too soon"
    text = (tmp_path / "log").read_text()
    assert "preheat sync --quiet: ended with 0" in text
    assert "preheat learn --quiet: ended with 0" in text
    assert (tmp_path / "data" / "archive.db").exists()


def test_idle_work_ends_with_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with tempfile.TemporaryFile() as log:
        idle = Idle(log.fileno(), quiet=0, again=0)
        idle.look(1000.0, 900.0, 5)
        idle.stop()
        assert not idle.busy
