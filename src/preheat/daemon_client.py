"""The daemon as other programs see it: its folder, lock and address, how it is started, whether it runs, and how to ask it.

Knows nothing of events and sessions. Light: commands that look for the daemon start here.
"""

import json
import os
import secrets
import socket
import sys
import time
from typing import Any, NamedTuple

import msgspec

import preheat
from preheat import __version__
from preheat.errors import PreheatError
from preheat.files import write_atomically
from preheat.settings import data_folder

if sys.platform != "win32":
    import fcntl

# The files of the daemon.
LIVE = "live"
SOCKET = "socket"
CLIENT_FILES = ("hook.py", "hook_away.py")
LAST_SEEN_FILE = "last-seen.json"
"""The last event of each agent."""
_FOLDERS = ("journal", "sessions", "spool")


class Address(NamedTuple):
    """The address for HTTP hooks. It is stored, because agents have it in their settings."""

    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook/"


def live_folder(folder: str | None = None) -> str:
    """The daemon's folder in Preheat's data folder, which is the person's own unless given."""
    return os.path.join(folder or data_folder(), LIVE)


def prepare_folder(folder: str | None = None) -> str:
    """Make the daemon's folder, private to its owner; gives its path. Raises OSError."""
    live = live_folder(folder)
    os.makedirs(os.path.dirname(live), mode=0o700, exist_ok=True)
    for path in (live, *(os.path.join(live, name) for name in _FOLDERS)):
        os.makedirs(path, mode=0o700, exist_ok=True)
        if os.stat(path).st_mode & 0o077:
            os.chmod(path, 0o700)
    return live


def write_client(folder: str | None = None) -> str:
    """Copy the hook client beside the data, with the command that starts the daemon; gives the client's path."""
    live = prepare_folder(folder)
    own = os.path.join(os.path.dirname(os.path.abspath(preheat.__file__)), "plugins")
    for name in CLIENT_FILES:
        with open(os.path.join(own, name), "rb") as stream:
            write_atomically(os.path.join(os.path.dirname(live), name), stream.read())
    write_start(live)
    return os.path.join(os.path.dirname(live), CLIENT_FILES[0])


# How a daemon is started: the version, then the command, one word per line. A daemon that finds another version hands over.
def start_command() -> list[str]:
    return [sys.executable, "-m", "preheat", "serve", "--foreground"]


def start_text() -> str:
    return "\n".join((__version__, *start_command())) + "\n"


def write_start(live: str) -> None:
    path = os.path.join(live, "start")
    if read_start(live) != start_text():
        write_atomically(path, start_text().encode())


def read_start(live: str) -> str:
    try:
        with open(os.path.join(live, "start"), encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeError):
        return ""


# The address for HTTP.
def ensure_address(folder: str | None = None) -> Address:
    """The address; if none is stored yet, a free port and a new token. Raises OSError."""
    known = known_address(folder)
    if known is None:
        known = Address(_free_port(), secrets.token_urlsafe(24))
        write_address(prepare_folder(folder), known)
    return known


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def known_address(folder: str | None = None) -> Address | None:
    """The stored address, if there is one."""
    try:
        with open(os.path.join(live_folder(folder), "address.json"), encoding="utf-8") as stream:
            found = json.load(stream)
        return Address(int(found["port"]), str(found["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_address(live: str, address: Address) -> None:
    write_atomically(os.path.join(live, "address.json"), json.dumps(address._asdict()).encode())


# The lock.
def take_lock(live: str) -> int | None:
    """Take the lock of the one daemon, as a descriptor; None if another process has it. It is released when its holder ends.
    Raises OSError."""
    descriptor = os.open(os.path.join(live, "lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def sign_lock(lock: int) -> None:
    """Write the holder into the lock file. Raises OSError."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()} {__version__}\n".encode(), 0)


class DaemonProcess(NamedTuple):
    """The daemon that runs."""

    pid: int
    version: str


def find_daemon(folder: str | None = None) -> DaemonProcess | None:
    """The daemon that runs; None if there is none."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(os.path.join(live_folder(folder), "lock"), os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pid, _, version = os.pread(descriptor, 100, 0).decode("utf-8", "replace").strip().partition(" ")
        return DaemonProcess(int(pid), version) if pid.isdigit() else None
    finally:
        os.close(descriptor)
    return None


# Asking the daemon as the hook client does, for commands and tests.
STATUS = "?"
"""Used in the place of an agent's name to ask for the status."""

_LONGEST_PATH = 100
"""The longest path of a socket; a longer one is opened from its own folder."""


class DaemonError(PreheatError):
    """There is no daemon, or it does not answer."""


def ask(agent: str, payload: bytes, folder: str | None = None, seconds: float = 3.0) -> bytes:
    """The daemon's answer. Raises DaemonError."""
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
    """The status of the daemon. Raises DaemonError."""
    try:
        found = msgspec.json.decode(ask(STATUS, b"", folder, seconds))
    except msgspec.DecodeError as error:
        raise DaemonError("it answers something else") from error
    return found if isinstance(found, dict) else {}


def wait_for_daemon(running: bool, folder: str | None = None, seconds: float = 5.0) -> DaemonProcess | None:
    """Wait until a daemon answers, or (`running` false) until none runs; gives the one that runs then."""
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
