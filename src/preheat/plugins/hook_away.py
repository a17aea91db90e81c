"""What the hook client does while no daemon answers: spool the event, start a daemon, and at a session's start wait for it.

Read and run by `hook.py`; never imported. Standard library only. Every step may fail without an effect on the agent.
"""

import os
import sys
import time
from collections.abc import Callable

LARGEST = 8_000_000
MOST_FILES = 500
MOST_BYTES = 64_000_000
AGAIN = 10.0
"""Seconds between two attempts to start a daemon."""
WAIT = 2.4
"""Seconds to wait for a daemon at the start of a session."""
STARTS = (b"essionStart", b'"is_first_turn": true')
"""Texts that mark the start of a session in the payloads of agents; as in `hook.py`."""


def handle_absence(
    folder: str, agent: str, payload: bytes, how: str, ask_daemon: Callable[[str, bytes], bytes]
) -> bytes:
    """The answer of `ask_daemon`, if the daemon was `gone` and a new one started in time; else empty, and the event is spooled.
    After a daemon that `hung` the next clients do not wait; if one is `late` the event is only spooled."""
    live = os.path.join(folder, "live")
    if os.path.exists(os.path.join(folder, "__init__.py")):
        return b""  # run from the package, where nothing may be written
    os.umask(0o077)
    os.makedirs(os.path.join(live, "spool"), exist_ok=True)
    os.chdir(live)
    started = time.monotonic()
    if how == "hung":
        touch("slow")
    elif how == "gone" and start_daemon(live) and any(each in payload[:20_000] for each in STARTS):
        while time.monotonic() - started < WAIT:
            time.sleep(0.03)
            try:
                return ask_daemon(agent, payload)
            except Exception:  # noqa: BLE001, S112 - not started yet
                continue
    spool(agent, payload)
    return b""


def touch(name: str) -> None:
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))
    os.utime(name)


def start_daemon(live: str) -> bool:
    """Start a daemon unless another client just did; True if one is starting."""
    try:
        age = time.time() - os.stat("starting").st_mtime
    except FileNotFoundError:
        age = AGAIN
    if -AGAIN < age < AGAIN:  # the clock may have been set back
        return True
    touch("starting")
    if os.fork():
        os.wait()
        return True
    try:
        os.setsid()
        if os.fork() == 0:
            become_daemon(live)
    finally:
        os._exit(0)


def become_daemon(live: str) -> None:
    """Become the daemon, with no open file of the agent, which may wait for its hook's output to close."""
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null_device, descriptor)
    os.closerange(3, 1024)
    environment = {**os.environ, "PREHEAT_HOME": os.path.dirname(live)}
    os.execve(command()[0], command(), environment)  # noqa: S606 - a command of our own


def command() -> list[str]:
    """The command that starts a daemon, as the last installation stored it; else with this Python."""
    try:
        with open("start", encoding="utf-8") as stream:
            return stream.read().rstrip("\n").split("\n")[1:]
    except (OSError, UnicodeError):
        return [sys.executable, "-m", "preheat", "serve", "--foreground"]


def spool(agent: str, payload: bytes) -> None:
    """Store an event until a daemon takes it, up to a limit."""
    with os.scandir("spool") as entries:
        sizes = [entry.stat().st_size for entry in entries]
    if len(payload) > LARGEST or len(sizes) >= MOST_FILES or sum(sizes) + len(payload) > MOST_BYTES:
        return
    name = os.path.join("spool", f"{time.time_ns():020}-{os.getpid()}")
    with open(f"{name}.new", "wb") as stream:
        stream.write(f"{agent} {time.time()!r}\n".encode())
        stream.write(payload)
    os.rename(f"{name}.new", f"{name}.event")
