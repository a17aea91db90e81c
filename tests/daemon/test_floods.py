"""A real daemon that is flooded: it keeps no memory of strangers, and hooks are answered all the same.

The sizes are small here; `PREHEAT_ATTACK=1` makes them those of an attack.
"""

import json
import os
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest

from preheat.daemon_client import Address, known_address
from tests.daemon.builders import Daemon, daemon, hook_payload
from tests.waiting import HUNG, until

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="memory is read from /proc")
FULL = bool(os.environ.get("PREHEAT_ATTACK"))
IDLE = 5_000 if FULL else 500
POSTS = 100
BODY = 4_500_000 if FULL else 2_000_000
MEGABYTE = 1 << 20


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Daemon]:
    with daemon(str(tmp_path / "data")) as found:
        yield found


def memory(of: Daemon) -> int:
    """The most memory that it ever used."""
    with open(f"/proc/{of.process.pid}/status") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("VmHWM"))


def address_of(found: Daemon) -> Address:
    address = known_address(found.folder)
    assert address is not None
    return address


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, IDLE + 500)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_bodies_without_the_token_cost_no_memory(served: Daemon) -> None:
    served.ask(hook_payload("SessionEnd"))
    before = memory(served)
    head = f"POST /hook/claude_code HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {BODY + 1}\r\n\r\n".encode()
    body = b"x" * BODY
    with ExitStack() as connections:
        for _ in range(POSTS):
            connection = connections.enter_context(
                socket.create_connection(("127.0.0.1", address_of(served).port), HUNG)
            )
            with suppress(ConnectionError):
                connection.sendall(head)
                connection.sendall(body)
        served.ask(hook_payload("SessionEnd"))
        grown = memory(served) - before
    print(f"{POSTS} posts of {BODY:,} bytes without the token: {grown / MEGABYTE:.1f} MB more")
    assert grown < 25 * MEGABYTE


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("kind", ["http", "unix", "half a request"])
def test_a_hook_is_answered_among_idle_connections(served: Daemon, kind: str) -> None:
    """Compared with how long one takes alone, generously: before, all of them had to end first."""
    begun = time.monotonic()
    served.ask(hook_payload("SessionEnd"))
    alone = time.monotonic() - begun
    before = memory(served)
    with ExitStack() as connections:
        for _ in range(IDLE):
            connection = connections.enter_context(socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET))
            connection.settimeout(HUNG)
            until(partial(_connect, connection, served, kind), "room for a connection")
            if kind == "half a request":
                with suppress(ConnectionError):
                    connection.sendall(b"POST /hook/claude_code HTTP/1.1\r\nHost: ")
        begun = time.monotonic()
        served.ask(hook_payload("SessionEnd"))
        took = time.monotonic() - begun
        print(f"{IDLE} idle connections ({kind}): a hook took {took * 1000:.1f} ms, alone {alone * 1000:.1f} ms")
        assert _post(address_of(served)) in (200, 204)
        until(lambda: served.status()["connections"] <= 405, "no more connections than allowed")
        assert served.status()["closed_connections"] >= IDLE - 205
    assert memory(served) - before < 25 * MEGABYTE


def _connect(connection: socket.socket, to: Daemon, kind: str) -> bool:
    place = os.path.join(to.folder, "live", "socket") if kind == "unix" else ("127.0.0.1", address_of(to).port)
    try:
        connection.connect(place)
    except BlockingIOError:  # too many wait to be accepted
        return False
    return True


def _post(address: Address) -> int:
    body = json.dumps({"session_id": "s", "hook_event_name": "Stop", "cwd": "/"}).encode()
    head = (
        f"POST /hook/claude_code HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {address.token}\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", address.port), HUNG) as connection:
        connection.sendall(head.encode() + body)
        return int(connection.recv(1000).split()[1])


def test_the_token_is_in_no_log_command_line_or_environment(served: Daemon) -> None:
    token = address_of(served).token.encode()
    _post(address_of(served))
    for name in ("cmdline", "environ"):
        assert token not in Path(f"/proc/{served.process.pid}/{name}").read_bytes()
    served.stop()
    found = [path for path in Path(served.folder).rglob("*") if path.is_file() and token in path.read_bytes()]
    assert [path.name for path in found] == ["address.json"]
