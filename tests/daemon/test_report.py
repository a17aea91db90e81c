"""What `preheat admin doctor` says of a daemon that is dead, hung or old, and that a change of settings reaches one that runs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from preheat import __version__, daemon_client
from preheat.app.health import daemon_faults as report
from tests.daemon.builders import (
    daemon,
    environment,
    hook_payload,
    install_client,
    no_start,
    ran,
    run_client,
    spooled_files,
)
from tests.waiting import HUNG, until


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def doctor(folder: str) -> list[str]:
    """The findings, as the command tells them."""
    done = subprocess.run(
        [sys.executable, "-m", "preheat", "doctor", "--json"],
        env=environment(folder), capture_output=True, text=True, timeout=HUNG,
    )  # fmt: skip
    found: list[str] = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if found else 0)
    return found


def test_doctor_reports_a_daemon_that_does_not_start(folder: str) -> None:
    client = install_client(folder, no_start())
    run_client(client, ran(1, "make"))
    (name,) = spooled_files(folder)
    assert report(folder) == []
    past = time.time() - 3600
    os.utime(os.path.join(folder, "live", "spool", name), (past, past))
    Path(folder, "live", "daemon.log").write_text("ImportError: no module named preheat\n\n")
    (finding,) = doctor(folder)
    assert "no daemon runs and none has come up: 1 event of a hook waits" in finding
    assert "`preheat admin serve`" in finding
    assert finding.endswith("its log ends with: ImportError: no module named preheat")
    with daemon(folder):
        assert report(folder) == []
    assert spooled_files(folder) == []


def test_doctor_reports_a_daemon_that_hangs(folder: str) -> None:
    with daemon(folder) as one:
        one.process.send_signal(signal.SIGSTOP)
        try:
            (finding,) = doctor(folder)
        finally:
            one.process.send_signal(signal.SIGCONT)
        assert f"process {one.process.pid}) does not answer: timed out" in finding
        assert "answered with nothing" in finding
        assert f"`kill -9 {one.process.pid}`" in finding


def test_doctor_reports_a_daemon_of_another_version(folder: str) -> None:
    with daemon(folder) as one:
        Path(folder, "live", "lock").write_text(f"{one.process.pid} 0.0.1\n")
        (finding,) = doctor(folder)
    assert finding == (
        f"the daemon is of version 0.0.1, this is {__version__}; `preheat admin serve` puts this one in its place"
    )


def test_doctor_reports_a_missing_python(folder: str) -> None:
    install_client(folder, ["/nowhere/bin/python", "-m", "preheat", "serve", "--foreground"])
    (finding,) = doctor(folder)
    assert "`/nowhere/bin/python` is gone" in finding
    with daemon(folder):
        assert report(folder) == []


def test_doctor_reports_invalid_settings(folder: str) -> None:
    os.makedirs(folder)
    Path(folder, "settings.toml").write_text('[live]\nfocus_low = "high"\nblock = "always"\n')
    first, second = doctor(folder)
    assert "settings.toml`, below `[live]`" in first
    assert "focus_low" in first
    assert "block" in second
    Path(folder, "settings.toml").write_text("live = 3\n")
    (finding,) = doctor(folder)
    assert "`live` is no table" in finding


def test_changed_settings_reach_a_running_daemon(folder: str) -> None:
    call = hook_payload("PreToolUse", tool_name="Bash", tool_input={"command": "git push --force origin main"})
    with daemon(folder) as one:
        assert one.ask(call) == b""
        Path(folder, "settings.toml").write_text('[live]\nblock = "critical"\n')
        assert b"push-force-main" in until(lambda: one.ask(call), "an answer by the new settings")
        assert daemon_client.find_daemon(folder) == daemon_client.DaemonProcess(one.process.pid, __version__)
        assert one.status()["refused"] >= 1
