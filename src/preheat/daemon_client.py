"""The daemon as other programs see it: its folder, lock and address, how it is started, whether it runs, and how to ask it.

Knows nothing of events and sessions. Light: commands that look for the daemon start here.
"""

import json
import os
import secrets
import socket
import sys
import time
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

import preheat
from preheat import __version__, native_client, ownership
from preheat.errors import PreheatError
from preheat.files import make_private_folder, open_private, read_file, read_text, write_atomically
from preheat.programs import own_command
from preheat.settings import data_folder, own_folder

if sys.platform != "win32":
    import fcntl

# The files of the daemon.
LIVE = "live"
SOCKET = "socket"
CLIENT_FILES = ("hook.py", "hook_away.py", "ownership.py")
SLOW_FILE = "slow"
"""Made by a client that got no answer in time; empty until the daemon writes into it that it is alive."""
LAST_SEEN_FILE = "last-seen.json"
"""The last event of each agent."""
TEST_EVENT = b'{"preheat_test": true}'
"""A payload with which `preheat status` tries the way from a hook to its answer; it is about no session and leaves no trace."""
TEST_MARK = "preheat-test"
"""The word in the answer to it; what follows is `fine` or what is wrong."""
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
    """Make the daemon's folder, private to its owner; gives its path. Raises OSError, and FolderRefused."""
    live = live_folder(folder)
    make_private_folder(live)
    own_folder(live)  # what was made, perhaps not by us
    for path in (live, *(os.path.join(live, name) for name in _FOLDERS)):
        make_private_folder(path)
        if os.stat(path).st_mode & 0o077:
            os.chmod(path, 0o700)
    return live


def write_client(folder: str | None = None) -> str:
    """Copy the hook client beside the data, with the command that starts the daemon; gives the client's path."""
    live = prepare_folder(folder)
    for name in reversed(CLIENT_FILES):  # the one that needs the others is last
        write_atomically(os.path.join(os.path.dirname(live), name), read_file(client_source(name)))
    native_client.remove_stale(os.path.dirname(live))
    write_start(live)
    return os.path.join(os.path.dirname(live), CLIENT_FILES[0])


def remove_client(folder: str) -> None:
    """Delete the hook client: no agent calls it any more. Raises OSError."""
    native_client.remove(folder)
    for name in CLIENT_FILES:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))


def client_source(name: str) -> str:
    """Where the package has one of the client's files."""
    if name == os.path.basename(ownership.__file__):
        return ownership.__file__
    return os.path.join(os.path.dirname(os.path.abspath(preheat.__file__)), "plugins", name)


# How a daemon is started: the version, then the command, one word per line. A daemon that finds another version hands over.
def start_command() -> list[str]:
    return own_command("serve", "--foreground")


def start_text() -> str:
    return "\n".join((__version__, *start_command())) + "\n"


def write_start(live: str) -> None:
    path = os.path.join(live, "start")
    if read_start(live) != start_text():
        write_atomically(path, start_text().encode())


def read_start(live: str) -> str:
    """The text of the file; empty if there is none, or others could have written it."""
    path = os.path.join(live, "start")
    if ownership.explain_refusal(path):
        return ""
    try:
        return read_text(path)
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
        found = json.loads(read_text(os.path.join(live_folder(folder), "address.json")))
        return Address(int(found["port"]), str(found["token"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write_address(live: str, address: Address) -> None:
    write_atomically(os.path.join(live, "address.json"), json.dumps(address._asdict()).encode())


# The lock.
def take_lock(live: str) -> int | None:
    """Take the lock of the one daemon, as a descriptor; None if another process has it. It is released when its holder ends.
    Raises OSError."""
    descriptor = open_private(os.path.join(live, "lock"), os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)  # nobody may take the process before for the holder
    return descriptor


def is_lock_of(lock: int, live: str) -> bool:
    """Whether a descriptor is the lock in this folder; not if the folder was deleted or made anew."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(os.path.join(live, "lock")))
    except OSError:
        return False


def sign_lock(lock: int) -> None:
    """Write the holder into the lock file. Raises OSError."""
    os.set_inheritable(lock, False)  # one that was handed over can be inherited
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
            _connect(connection, live, time.monotonic() + seconds)
            connection.sendall(f"{agent} {len(payload)}\n".encode() + payload)
            while more := connection.recv(1 << 16):
                answer += more
    except OSError as error:
        raise DaemonError(str(error)) from error
    head, _, body = answer.partition(b"\n")
    if head != b"preheat 1 %d" % len(body):
        raise DaemonError("it ended without an answer")
    return body


def _connect(connection: socket.socket, live: str, end: float) -> None:
    path = os.path.join(live, SOCKET)
    if len(os.fsencode(path)) < _LONGEST_PATH:
        _connect_until(connection, path, end)
        return
    here = os.getcwd()
    os.chdir(live)
    try:
        _connect_until(connection, SOCKET, end)
    finally:
        os.chdir(here)


def _connect_until(connection: socket.socket, path: str, end: float) -> None:
    """Connect to a Unix socket; with a time limit the system does not wait while its queue is full, so this does."""
    while True:
        try:
            connection.connect(path)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.002)
        else:
            return


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
