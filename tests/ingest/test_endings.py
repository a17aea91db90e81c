"""A large sync that is ended at any moment, by any signal, leaves no process, holds no lock, and loses nothing.

`PREHEAT_KILLS=100` kills more often than the tests of every day do.
"""

import fcntl
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from preheat.errors import ReaderDied
from preheat.ingest.pool import run_in_processes
from preheat.locking import hold_lock
from tests.ingest.machine import Machine, story
from tests.waiting import HUNG, until

KILLS = int(os.environ.get("PREHEAT_KILLS", "8"))
STOPPED = b"preheat: stopped; what was done so far is kept\n"

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are found in /proc")


def living_members(session: int) -> list[int]:
    """The processes of a session (of the system's kind) that have not ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, _, _, its = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(its) == session and state not in "ZX":
            found.append(int(name))
    return found


class Bulk(Machine):
    """A machine with so much to read that workers read it."""

    def __init__(self, root: Any) -> None:
        super().__init__(root)
        for number in range(24):
            story(number, steps=20).prompt("some words " * 110_000).write(self.projects)

    def start_sync(self, *command: str) -> "subprocess.Popen[bytes]":
        """A sync as the leader of a session, so that everything it starts can be found."""
        return subprocess.Popen(
            [*command, sys.executable, "-m", "preheat", "sync", "--quiet"],
            env={**os.environ, "HOME": self.home, "PREHEAT_HOME": self.folder, "CLAUDE_CONFIG_DIR": ""},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def is_locked(self) -> bool:
        path = os.path.join(self.folder, "sync.lock")
        if not os.path.exists(path):
            return False
        with open(path) as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Bulk:
    return Bulk(tmp_path_factory.mktemp("bulk"))


@pytest.fixture
def machine(bulk: Bulk, tmp_path: Path) -> Bulk:
    """The same sessions, with an archive of its own."""
    bulk.folder = str(tmp_path / "archive")
    return bulk


@pytest.fixture(scope="module")
def undisturbed(bulk: Bulk, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], float]:
    """What a sync stores that nobody disturbs, and how long it takes."""
    bulk.folder = str(tmp_path_factory.mktemp("undisturbed") / "archive")
    began = time.monotonic()
    process = bulk.start_sync()
    assert process.communicate(timeout=HUNG)[1] == b""
    seconds = time.monotonic() - began
    return {**bulk.contents(), **bulk.analyses()}, seconds


def wait_for_workers(process: "subprocess.Popen[bytes]") -> None:
    until(lambda: process.poll() is not None or len(living_members(process.pid)) > 2, "workers")
    assert process.poll() is None


def no_member_is_left(process: "subprocess.Popen[bytes]") -> None:
    until(lambda: not living_members(process.pid), "the end of every process of the sync")


def test_whatever_ends_a_sync_ends_its_workers_and_frees_its_lock(
    machine: Bulk, undisturbed: tuple[dict[str, Any], float]
) -> None:
    """Killed at random moments by each signal, over and over: then the next sync finds a free lock and stores the same."""
    chance = random.Random(16)
    contents, seconds = undisturbed
    for _ in range(KILLS):
        process = machine.start_sync()
        time.sleep(chance.uniform(0, 1.1 * seconds))
        number = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
        to_all = chance.random() < 0.3
        if process.poll() is None:
            (os.killpg if to_all and number != signal.SIGKILL else os.kill)(process.pid, number)
        _, errors = process.communicate(timeout=HUNG)
        # Before Python is ready for signals, and after the work, they just end it.
        assert process.returncode in (0, -number, 128 + number), (number, errors)
        assert process.returncode != 128 + number or errors == STOPPED
        no_member_is_left(process)
        assert not machine.is_locked()
        if chance.random() < 0.3:
            machine.sync()
            assert {**machine.contents(), **machine.analyses()} == contents
            machine.folder += "-next"
    machine.sync()
    assert {**machine.contents(), **machine.analyses()} == contents


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("times", [1, 2])
def test_a_signal_stops_a_sync_with_its_own_code_and_one_line(machine: Bulk, number: int, times: int) -> None:
    process = machine.start_sync()
    wait_for_workers(process)
    for _ in range(times):
        os.kill(process.pid, number)
    _, errors = process.communicate(timeout=HUNG)
    assert (process.returncode, errors) == (128 + number, STOPPED)
    no_member_is_left(process)


def test_a_killed_worker_ends_the_sync_with_one_line(machine: Bulk) -> None:
    process = machine.start_sync()
    wait_for_workers(process)
    os.kill(next(each for each in living_members(process.pid) if each != process.pid), signal.SIGKILL)
    _, errors = process.communicate(timeout=HUNG)
    assert process.returncode == 2
    assert b"a reading process was killed" in errors
    assert errors.count(b"\n") == 1
    no_member_is_left(process)


def test_timeout_ends_a_sync_as_it_ends_other_programs(machine: Bulk) -> None:
    process = machine.start_sync("timeout", "--preserve-status", "-s", "TERM", "1")
    _, errors = process.communicate(timeout=HUNG)
    assert (process.returncode, errors) in ((143, STOPPED), (-signal.SIGTERM, b""), (0, b""))
    no_member_is_left(process)
    assert not machine.is_locked()


def test_nohup_keeps_a_sync_alive_when_its_terminal_ends(machine: Bulk) -> None:
    process = machine.start_sync("nohup")
    wait_for_workers(process)
    os.killpg(process.pid, signal.SIGHUP)
    process.communicate(timeout=HUNG)
    assert process.returncode == 0


def test_a_sync_ends_with_its_terminal(machine: Bulk) -> None:
    """The other side of the terminal is closed, as when a window or a connection is."""
    ours, terminal = os.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", sys.executable, "-m", "preheat", "sync"],
        env={**os.environ, "HOME": machine.home, "PREHEAT_HOME": machine.folder, "CLAUDE_CONFIG_DIR": ""},
        stdin=terminal, stdout=terminal, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    lock = os.path.join(machine.folder, "sync.lock")
    until(
        lambda: process.poll() is not None or (os.path.exists(lock) and machine.is_locked()),
        "a sync that holds its lock",
    )
    os.close(ours)
    assert process.wait(HUNG) in (128 + signal.SIGHUP, 0)
    until(lambda: not machine.is_locked(), "a free lock")
    machine.sync()
    assert machine.rows("SELECT count(*) FROM sessions") == [(24,)]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_sync_works_with_closed_streams(tmp_path: Path, closed: str) -> None:
    machine = Machine(tmp_path)
    story(1).write(machine.projects)
    for words in (["sync"], ["sessions", "list", "--json"], ["nothing-like-this"]):
        command = shlex.join([sys.executable, "-m", "preheat", *words])
        done = subprocess.run(
            ["/bin/sh", "-c", f"{command} {closed}"],
            env={**os.environ, "HOME": machine.home, "PREHEAT_HOME": machine.folder}, capture_output=True, timeout=HUNG,
        )  # fmt: skip
        assert done.returncode == (2 if words == ["nothing-like-this"] else 0), (words, done.stderr)
        assert b"Traceback" not in done.stderr
        assert b"Exception" not in done.stderr
    assert machine.rows("SELECT count(*) FROM sessions") == [(1,)]


# The pool itself.
def sleep_long(piece: int) -> bytes:
    time.sleep(HUNG)
    return b""


def fail_at_three(piece: int) -> bytes:
    if piece == 3:
        raise ValueError("three")
    return b"%d" % piece


def use_much_memory(piece: int) -> bytes:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
    return bytes(1 << 30)


def test_every_piece_gives_its_result_once() -> None:
    assert sorted(run_in_processes(fail_at_three, range(4, 10), 3)) == [b"%d" % number for number in range(4, 10)]
    assert list(run_in_processes(fail_at_three, [], 3)) == []


def test_an_error_of_the_work_is_raised_where_it_was_started() -> None:
    with pytest.raises(ValueError, match="three"):
        list(run_in_processes(fail_at_three, range(9), 2))
    with pytest.raises(MemoryError):
        list(run_in_processes(use_much_memory, [1], 2))


def test_large_results_and_pieces_do_not_block_each_other() -> None:
    pieces = [bytes(3_000_000)] * 12
    assert [len(each) for each in run_in_processes(len_as_bytes, pieces, 3)] == [5_000_000] * 12


def len_as_bytes(piece: bytes) -> bytes:
    assert len(piece) == 3_000_000
    return bytes(5_000_000)


_SURVIVOR = """
import os, sys, time
from preheat.ingest.pool import run_in_processes
from preheat.locking import hold_lock
from tests.ingest.test_endings import sleep_long
if {threaded}:  # then workers are not forked
    import threading
    threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
if __name__ == "__main__":
    with hold_lock(sys.argv[1], 0, OSError("held")):
        list(run_in_processes(sleep_long, range(4), 2))
"""


@pytest.mark.parametrize("threaded", [False, True])
def test_workers_end_with_a_killed_parent_and_never_hold_its_lock(tmp_path: Path, threaded: bool) -> None:
    program, lock = tmp_path / "program.py", tmp_path / "lock"
    program.write_text(_SURVIVOR.format(threaded=threaded))
    process = subprocess.Popen(
        [sys.executable, str(program), str(lock)],
        start_new_session=True, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    until(lambda: process.poll() is not None or len(living_members(process.pid)) > 2, "workers")
    workers = [each for each in living_members(process.pid) if each != process.pid]
    inode = os.stat(lock).st_ino
    until(lambda: not any(inode in open_files(each) for each in workers), "workers without the lock's file")
    process.kill()
    process.wait()
    with hold_lock(str(lock), 0, OSError("still held")):
        pass
    no_member_is_left(process)


def open_files(process: int) -> set[int]:
    found = set()
    for name in os.listdir(f"/proc/{process}/fd"):
        try:
            found.add(os.stat(f"/proc/{process}/fd/{name}").st_ino)
        except OSError:
            continue
    return found


def test_a_dead_worker_is_reported() -> None:
    with pytest.raises(ReaderDied, match="run the same command again"):
        list(run_in_processes(kill_own, [1, 2], 2))


def kill_own(piece: int) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""
