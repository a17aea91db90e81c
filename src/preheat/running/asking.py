"""Asks the daemon, as the hook client does, for commands and tests. Knows nothing of what it does."""

import os
import socket
import time
from typing import Any

import msgspec

from preheat.errors import PreheatError
from preheat.running.place import SOCKET, DaemonProcess, find_daemon, live_folder

STATUS = "?"
"""Used in the place of an agent's name to ask for the status."""

_LONGEST_PATH = 100
"""The longest path of a socket; a longer one is opened from its own folder."""


class DaemonError(PreheatError):
    """There is no daemon, or it does not answer."""


def ask(agent: str, payload: bytes, folder: str | None = None, seconds: float = 3.0) -> bytes:
    """The daemon's answer. Raises NoAnswer."""
    live = live_folder(folder)
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(seconds)
            _connect(connection, live)
            connection.sendall(f"{agent} {len(payload)}\n".encode() + payload)
            while more := connection.recv(1 << 16):
                answer += more
    except OSError as error:
        raise DaemonError(str(error)) from error
    head, _, body = answer.partition(b"\n")
    if head != b"preheat 1 %d" % len(body):
        raise DaemonError("it ended without an answer")
    return body


def _connect(connection: socket.socket, live: str) -> None:
    path = os.path.join(live, SOCKET)
    if len(os.fsencode(path)) < _LONGEST_PATH:
        connection.connect(path)
        return
    here = os.getcwd()
    os.chdir(live)
    try:
        connection.connect(SOCKET)
    finally:
        os.chdir(here)


def status(folder: str | None = None, seconds: float = 3.0) -> dict[str, Any]:
    """The status of the daemon. Raises NoAnswer."""
    try:
        found = msgspec.json.decode(ask(STATUS, b"", folder, seconds))
    except msgspec.DecodeError as error:
        raise DaemonError("it answers something else") from error
    return found if isinstance(found, dict) else {}


def wait_for_daemon(running: bool, folder: str | None = None, seconds: float = 5.0) -> DaemonProcess | None:
    """Wait until a daemon answers, or (`wanted` false) until none runs; gives the one that runs then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = find_daemon(folder)
        if not running and found is None:
            return None
        if running and found is not None:
            try:
                status(folder, 1.0)
            except DaemonError:
                pass
            else:
                return found
        time.sleep(0.02)
    return find_daemon(folder)
