"""Work for quiet times: when it begins, when it does not, and that it runs in another process behind everything else."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from preheat.daemon.idle import NICE, QUIET_AFTER_SESSION, IdleWork
from preheat.locking import hold_lock
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.test_endings import living_members
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


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are found in /proc")
def test_idle_work_ends_with_a_killed_daemon_and_frees_the_archive(tmp_path: Path) -> None:
    """Its sync waits for the archive, which another process holds."""
    script = (
        "import sys, time\n"
        "from preheat.daemon.idle import IdleWork\n"
        "idle = IdleWork(2, quiet=0, again=0)\n"
        "idle.start_if_due(1000.0, 0.0, 5)\n"
        "print(idle._process.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    for number in range(3):
        ClaudeTranscript(session=f"{number:08x}-5d6e-4f70-8a91-b2c3d4e5f607").prompt("hello").write(
            str(tmp_path / "claude" / "projects")
        )
    variables = {"PREHEAT_HOME": str(tmp_path / "data"), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    (tmp_path / "data").mkdir(mode=0o700)
    with hold_lock(str(tmp_path / "data" / "sync.lock"), 0, OSError("held")):
        process = subprocess.Popen(
            [sys.executable, "-c", script], env={**os.environ, **variables, "HOME": str(tmp_path)},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdout is not None
        group = int(process.stdout.readline())
        until(lambda: len(living_members(group)) >= 3, "the guard, the idle work and its sync")
        process.kill()
        process.communicate()
        until(lambda: not living_members(group), "the end of the idle work")


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
    assert "preheat lessons learn --quiet: ended with 0" in text
    assert "preheat admin tree update --quiet: ended with 0" in text
    assert (tmp_path / "data" / "archive.db").exists()


def test_idle_work_ends_with_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with tempfile.TemporaryFile() as log:
        idle = IdleWork(log.fileno(), quiet=0, again=0)
        idle.start_if_due(1000.0, 900.0, 5)
        idle.stop()
        assert not idle.is_running
