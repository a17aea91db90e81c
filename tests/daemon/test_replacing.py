"""A daemon that is stopped, hangs, died early, or lost its folder is replaced or ends by itself; and it always heeds SIGTERM."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from preheat import daemon_client
from preheat.daemon.journal import Journal
from tests.daemon.builders import (
    BRIEF,
    Daemon,
    daemon,
    edited,
    end_started,
    environment,
    install_client,
    no_start,
    run_client,
    spooled_files,
    started,
)
from tests.waiting import HUNG, until

SERVE = [sys.executable, "-m", "preheat", "serve"]


@pytest.fixture
def folder(tmp_path: Path, each_client: str) -> Iterator[str]:
    data = str(tmp_path / "data")
    yield data
    end_started(data)


def journaled_calls(folder: str) -> set[str]:
    found = list(Journal(os.path.join(folder, "live", "journal")).replay(0))
    calls = [entry.call_id for entry in found if entry.call_id]
    assert len(calls) == len(set(calls))
    return set(calls)


def serve(folder: str, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*SERVE, *options],
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=HUNG,
        stdin=subprocess.DEVNULL,
    )


def start_impatient(folder: str) -> "subprocess.Popen[bytes]":
    """A daemon with its own limits."""
    os.makedirs(folder, exist_ok=True)
    process = subprocess.Popen([*SERVE, "--foreground"], env=environment(folder), stdin=subprocess.DEVNULL)
    assert daemon_client.wait_for_daemon(True, folder, HUNG) is not None
    return process


def connect(folder: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(os.path.join(folder, "live"))
    connection.connect("socket")
    os.chdir(here)
    return connection


# A daemon that does not answer.
def test_hooks_replace_a_stopped_daemon_and_lose_nothing(folder: str) -> None:
    one = Daemon(folder)
    client = install_client(folder)
    run_client(client, edited(0, "src/0.py"))
    one.process.send_signal(signal.SIGSTOP)
    assert run_client(client, edited(1, "src/1.py"), limit=BRIEF) == b""
    assert run_client(client, edited(2, "src/2.py"), replace=0.0, pause=0.0) == b""
    assert one.process.wait(HUNG) == -signal.SIGKILL
    new = daemon_client.wait_for_daemon(True, folder, HUNG)
    assert new is not None
    assert new.pid != one.process.pid
    until(lambda: journaled_calls(folder) == {"call-0", "call-1", "call-2"}, "all calls in the journal, once")
    assert not os.path.exists(os.path.join(folder, "live", "slow"))


def test_a_daemon_that_is_only_slow_is_not_replaced(folder: str) -> None:
    with daemon(folder) as one:
        client = install_client(folder)
        slow = Path(folder, "live", "slow")
        slow.touch()
        accused_at = slow.stat().st_mtime_ns
        until(lambda: slow.read_text() == "alive\n", "the daemon's sign of life")
        assert slow.stat().st_mtime_ns == accused_at, "clients count from there"
        run_client(client, edited(1, "src/1.py"), replace=0.0)
        assert daemon_client.status(folder, HUNG)["pid"] == one.process.pid
        until(lambda: journaled_calls(folder) == {"call-1"}, "the call in the journal")


def test_no_other_process_is_killed_in_the_place_of_a_daemon(folder: str) -> None:
    """The number in the lock is another program's, because process numbers are used again."""
    client = install_client(folder, ["/bin/true"])
    innocent = subprocess.Popen(["sleep", "1000"])
    lock = daemon_client.take_lock(os.path.join(folder, "live"))
    assert lock is not None
    try:
        os.pwrite(lock, f"{innocent.pid} 0.2.0\n".encode(), 0)
        Path(folder, "live", "slow").touch()
        assert run_client(client, edited(1, "src/1.py"), replace=0.0) == b""
        assert innocent.poll() is None
        assert len(spooled_files(folder)) == 1
    finally:
        os.close(lock)
        innocent.kill()
        innocent.wait()


def test_serve_replaces_a_stopped_daemon(folder: str) -> None:
    one = Daemon(folder)
    one.process.send_signal(signal.SIGSTOP)
    done = serve(folder)
    assert done.returncode == 0, done.stderr
    assert one.process.wait(HUNG) == -signal.SIGKILL
    assert daemon_client.status(folder, HUNG)["pid"] != one.process.pid


def test_serve_stops_a_stopped_daemon(folder: str) -> None:
    one = Daemon(folder)
    one.process.send_signal(signal.SIGSTOP)
    done = serve(folder, "--stop")
    assert (done.returncode, done.stdout) == (0, "The daemon has stopped.\n")
    assert one.process.wait(HUNG) == -signal.SIGKILL


# A daemon that died early.
def test_no_session_waits_for_a_daemon_that_died(folder: str) -> None:
    """A client without a limit ends: it does not wait for what cannot come."""
    client = install_client(folder, ["/bin/false"])
    assert run_client(client, started()) == b""
    assert run_client(client, started("s2")) == b""
    assert len(spooled_files(folder)) == 2


def test_a_session_gets_an_answer_from_a_daemon_started_after_one_died(folder: str) -> None:
    client = install_client(folder)
    run_client(client, started())
    first = daemon_client.status(folder, HUNG)["pid"]
    os.kill(first, signal.SIGKILL)
    daemon_client.wait_for_daemon(False, folder, HUNG)
    run_client(client, started("s2"), pause=0.0)
    found = daemon_client.status(folder, HUNG)
    assert found["pid"] != first
    assert found["events"] == 1
    assert spooled_files(folder) == []


def test_many_hooks_at_once_start_one_daemon(folder: str, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    client = install_client(
        folder, ["/bin/sh", "-c", f'echo >> {starts}; exec "$0" -m preheat admin serve --foreground', sys.executable]
    )
    threads = [
        threading.Thread(target=run_client, args=(client, edited(number, "src/a.py", f"s{number}")))
        for number in range(30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert daemon_client.wait_for_daemon(True, folder, HUNG) is not None
    # A client that has ended leaves its event with the daemon or in the spool: when nothing waits, nothing more can come.
    until(lambda: daemon_client.status(folder, HUNG)["waiting"] == 0, "no event that waits for the daemon")
    assert journaled_calls(folder) == {f"call-{number}" for number in range(30)}
    assert starts.read_text() == "\n"


def test_an_event_is_kept_while_others_change_the_spool(folder: str) -> None:
    """A link to nothing is a file that is listed and gone when it is looked at: another client has just given it its last name,
    or the daemon has taken it."""
    client = install_client(folder, no_start())
    Path(folder, "live", "spool", "1-1.new").symlink_to("1-1.event")
    assert run_client(client, edited(1, "src/1.py")) == b""
    assert len(spooled_files(folder)) == 2


@pytest.mark.parametrize("payload", [started(), edited(1, "src/1.py")], ids=["awaited", "not awaited"])
@pytest.mark.parametrize("blocked", ["starting", "lock"])
def test_an_event_is_kept_where_no_daemon_can_be_started_or_replaced(folder: str, blocked: str, payload: bytes) -> None:
    client = install_client(folder, no_start())
    live = Path(folder, "live")
    (live / blocked).mkdir()
    if blocked == "lock":
        (live / "slow").touch()
    assert run_client(client, payload, replace=0.0) == b""
    assert len(spooled_files(folder)) == 1


# Its folder.
def test_a_daemon_whose_folder_is_deleted_ends(folder: str) -> None:
    one = Daemon(folder)
    one.ask(edited(1, "src/a.py"))
    shutil.rmtree(folder, ignore_errors=True)
    assert one.process.wait(HUNG) == 0


@pytest.mark.parametrize("busy", [False, True])
def test_a_daemon_whose_folder_was_deleted_heeds_sigterm(folder: str, busy: bool) -> None:
    process = start_impatient(folder)
    connections = [connect(folder) for _ in range(3 * busy)]
    shutil.rmtree(folder, ignore_errors=True)
    process.send_signal(signal.SIGTERM)
    assert process.wait(HUNG) == 0
    for each in connections:
        each.close()


def test_a_daemon_leaves_the_folder_to_one_that_was_started_after_it_was_made_anew(folder: str) -> None:
    one = Daemon(folder)
    shutil.rmtree(os.path.join(folder, "live"))
    with daemon(folder) as two:
        assert one.process.wait(HUNG) == 0
        assert two.status()["pid"] == two.process.pid
        two.ask(edited(1, "src/a.py"))


# Signals.
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_daemon_ends_on_a_signal_with_hanging_connections(folder: str, number: int) -> None:
    process = start_impatient(folder)
    connections = [connect(folder) for _ in range(5)]
    connections[0].sendall(b"claude_code 100\nhalf of it")
    process.send_signal(number)
    assert process.wait(HUNG) == 0
    assert not os.path.exists(os.path.join(folder, "live", "socket"))
    for each in connections:
        each.close()


def test_a_pipe_that_nobody_writes_to_does_not_hang_a_daemon(folder: str) -> None:
    """In the place of a file that it reads when that changes."""
    process = start_impatient(folder)
    start = os.path.join(folder, "live", "start")
    os.unlink(start)
    os.mkfifo(start)
    assert daemon_client.status(folder, HUNG)["pid"] == process.pid
    process.send_signal(signal.SIGTERM)
    process.wait(HUNG)


# Files.
def test_a_stale_socket_and_lock_do_not_keep_a_daemon_from_starting(folder: str) -> None:
    live = Path(daemon_client.prepare_folder(folder))
    with socket.socket(socket.AF_UNIX) as left:
        here = os.getcwd()
        os.chdir(live)
        left.bind("socket")
        os.chdir(here)
    (live / "lock").write_text(f"{os.getpid()} 0.2.0\n")
    (live / "starting").write_text("999999999           ")
    assert daemon_client.find_daemon(folder) is None
    client = install_client(folder)
    run_client(client, started(), pause=0.0)
    assert daemon_client.status(folder, HUNG)["events"] == 1


@pytest.mark.parametrize("year", [1971, 2100])
def test_a_clock_that_jumps_does_not_keep_a_daemon_from_being_replaced_or_started(folder: str, year: int) -> None:
    client = install_client(folder)
    live = Path(folder, "live")
    at = (year - 1970) * 365.25 * 86400
    for name in ("slow", "starting"):
        (live / name).write_text("")
        os.utime(live / name, (at, at))
    run_client(client, started(), replace=1.0, pause=1.0)
    assert daemon_client.status(folder, HUNG)["events"] == 1


def test_with_a_full_disk_a_daemon_does_not_start_and_no_hook_fails(folder: str) -> None:
    client = install_client(folder)
    limited = ["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]
    done = subprocess.run(
        [*limited, *SERVE, "--foreground"], env=environment(folder), capture_output=True, text=True, timeout=HUNG
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    hook = subprocess.run(
        [*limited, sys.executable, "-I", "-S", "-E", client, "claude_code"],
        input=started(),
        capture_output=True,
        timeout=HUNG,
    )
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, b"", b"")
