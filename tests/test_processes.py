"""A guarded program, and what it started, ends with the process that started it; its own end is seen as it was."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from preheat.processes import start_guarded
from tests.waiting import HUNG, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")

_STARTER = """
import subprocess, sys, time
from preheat.processes import start_guarded
start_guarded(["sh", "-c", "sleep 1000 & echo $! $$ > 'ids.new'; mv ids.new ids; sleep 1000"], stdin=subprocess.DEVNULL)
time.sleep(1000)
"""


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return os.path.isdir("/proc/self") is False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT])
def test_whatever_ends_the_parent_ends_a_guarded_program_and_its_children(tmp_path: Path, number: int) -> None:
    parent = subprocess.Popen([sys.executable, "-c", _STARTER], cwd=tmp_path, stderr=subprocess.DEVNULL)
    ids = tmp_path / "ids"
    until(ids.exists, "the guarded program")
    members = [int(each) for each in ids.read_text().split()]
    parent.send_signal(number)
    parent.wait(HUNG)
    for each in members:
        until(lambda each=each: not is_alive(each), "the end of the guarded program")  # type: ignore[misc]


def test_a_guarded_program_ends_with_its_guard(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells a process of its parent's end")
    guard = start_guarded(["sh", "-c", "echo $$ > id.new; mv id.new id; exec sleep 1000"], cwd=tmp_path)
    until((tmp_path / "id").exists, "the guarded program")
    member = int((tmp_path / "id").read_text())
    guard.kill()
    guard.wait(HUNG)
    until(lambda: not is_alive(member), "the end of the guarded program")


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", -15), ("kill -KILL $$", -9)]
)
def test_the_end_of_a_guarded_program_is_seen_as_it_was(script: str, code: int) -> None:
    assert start_guarded(["sh", "-c", script]).wait(HUNG) == code


def test_a_program_that_is_not_there_says_so() -> None:
    process = start_guarded(["no-such-program-anywhere"], stderr=subprocess.PIPE)
    _, errors = process.communicate(timeout=HUNG)
    assert process.returncode == 127
    assert b"No such file" in errors
    assert errors.count(b"\n") == 1


def test_a_guarded_program_has_the_streams_and_environment_that_were_given(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("given")
    with open(tmp_path / "in") as given:
        process = start_guarded(
            ["sh", "-c", "cat; echo $NAME; ls /proc/self/fd 2>/dev/null | wc -l"],
            stdin=given, stdout=subprocess.PIPE, env={**os.environ, "NAME": "value"},
        )  # fmt: skip
    printed, _ = process.communicate(timeout=HUNG)
    assert printed.startswith(b"givenvalue\n")
