"""What the hook client does while no daemon answers: keep the event, start a daemon, and at a session's start wait for it.

Read and run by `hook.py`; never imported. Standard library only. All of it may fail: a home that
cannot be written or a full disk costs the agent nothing, and no daemon is started that could not say that it was.
"""

import os
import sys
import time
from collections.abc import Callable

LARGEST = 8_000_000
MOST_FILES = 500
MOST_BYTES = 64_000_000
AGAIN = 10.0
"""Seconds before another attempt to start a daemon."""
WAIT = 2.4
"""Of the limit that the start of a session has."""
STARTS = (b"essionStart", b'"is_first_turn": true')
"""By which one is known, in whatever program's words; as in `hook.py`."""


def away(folder: str, agent: str, payload: bytes, how: str, asked: Callable[[str, bytes], bytes]) -> bytes:
    """The answer (as `asked` has it), if a daemon is `gone` and came up in time; else nothing, and the event is kept for it.
    After one that `hung` the next clients do not wait; one that comes up `late` is given its time."""
    live = os.path.join(folder, "live")
    if os.path.exists(os.path.join(folder, "__init__.py")):
        return b""  # run out of the package and not where it was installed to: there is no place for anything
    os.umask(0o077)
    os.makedirs(os.path.join(live, "spool"), exist_ok=True)
    os.chdir(live)
    begun = time.monotonic()
    if how == "hung":
        stamp("slow")
    elif how == "gone" and start(live) and any(each in payload[:20_000] for each in STARTS):
        while time.monotonic() - begun < WAIT:
            time.sleep(0.03)
            try:
                return asked(agent, payload)
            except Exception:  # noqa: BLE001, S112 - not yet there
                continue
    spool(agent, payload)
    return b""


def stamp(name: str) -> None:
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))
    os.utime(name)


def start(live: str) -> bool:
    """Have a daemon started, by whoever comes first; whether one is being started."""
    try:
        age = time.time() - os.stat("starting").st_mtime
    except FileNotFoundError:
        age = AGAIN
    if -AGAIN < age < AGAIN:  # a clock may have been set back
        return True
    stamp("starting")
    if os.fork():
        os.wait()
        return True
    try:
        os.setsid()
        if os.fork() == 0:
            become(live)
    finally:
        os._exit(0)


def become(live: str) -> None:
    """Be the daemon: nothing of the agent's stays open, for it may wait until its hook's output is closed."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.closerange(3, 1024)
    environment = {**os.environ, "PREHEAT_HOME": os.path.dirname(live)}
    os.execve(command()[0], command(), environment)  # noqa: S606 - a command of our own


def command() -> list[str]:
    """How a daemon is started, as the Preheat that was last installed says; else as this Python's."""
    try:
        with open("start", encoding="utf-8") as stream:
            return stream.read().rstrip("\n").split("\n")[1:]
    except (OSError, UnicodeError):
        return [sys.executable, "-m", "preheat", "serve", "--foreground"]


def spool(agent: str, payload: bytes) -> None:
    """Keep an event until a daemon takes it in; never more than a bounded lot of them."""
    with os.scandir("spool") as entries:
        sizes = [entry.stat().st_size for entry in entries]
    if len(payload) > LARGEST or len(sizes) >= MOST_FILES or sum(sizes) + len(payload) > MOST_BYTES:
        return
    name = os.path.join("spool", f"{time.time_ns():020}-{os.getpid()}")
    with open(f"{name}.new", "wb") as stream:
        stream.write(f"{agent} {time.time()!r}\n".encode())
        stream.write(payload)
    os.rename(f"{name}.new", f"{name}.event")
