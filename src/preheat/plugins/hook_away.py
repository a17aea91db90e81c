"""What the hook client does while no daemon answers: spool the event, start a daemon, and at a session's start wait for it.

Read and run by `hook.py`, which adds `OWN` and `explain_refusal`; never imported. Standard library only. Every step may fail
without an effect on the agent.
"""

import _signal  # type: ignore[import-not-found] # as in `hook.py`: quicker than `signal` and `socket`
import _socket
import fcntl
import json
import os
import re
import sys
import time
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    OWN = ""
    """The folder of the client."""

    def explain_refusal(path: str) -> str: ...


LARGEST = 8_000_000
MOST_FILES = 500
MOST_BYTES = 64_000_000
AGAIN = 10.0
"""Seconds that a daemon may take to start before another one is started."""
PAUSE = 2.0
"""Seconds between two starts, if the first daemon has ended."""
LIMIT = 1.2
"""Seconds for everything, as in `hook.py`, but from the start of the process: Python is slow to start on a busy machine."""
REPLACE = 5.0
"""Seconds without a sign of life after which a daemon that did not answer is replaced."""
STARTS = (b"essionStart", b'"is_first_turn": true')
"""Texts that mark the start of a session in the payloads of agents; as in `hook.py`."""


IDS = frozenset(
    [
        "sessionid",
        "callid",
        "messageid",
        "tooluseid",
        "toolcallid",
        "conversationid",
        "generationid",
        "parentid",
        "agentid",
        "turnid",
        "requestid",
        "id",
    ]
)
"""Names of identifiers, without `_` and in lower case."""
FACTS = (
    "name",
    "event",
    "type",
    "source",
    "kind",
    "reason",
    "mode",
    "model",
    "status",
    "version",
    "cwd",
    "path",
    "file",
    "dir",
)
"""Ends of names whose values are no free text."""
PLAIN = re.compile(r"[A-Za-z0-9_.:/\\@~+ -]{0,600}")
RUN = re.compile(r"[A-Za-z0-9]{13,}")
KEY = re.compile(r"[A-Za-z_.-]{1,33}[0-9]{0,3}")


def handle_absence(
    folder: str, agent: str, payload: bytes, how: str, ask_daemon: Callable[[str, bytes], bytes]
) -> bytes:
    """The answer of `ask_daemon`, if the daemon was `gone` and a new one started in time; else empty, and the event is spooled.
    After a daemon that `hung` the next clients do not wait, and one that stays `slow` is replaced; if one is `late` the event is
    only spooled."""
    live = os.path.join(folder, "live")
    if os.path.exists(os.path.join(folder, "__init__.py")):
        return b""  # run from the package, where nothing may be written
    os.umask(0o077)
    os.makedirs(os.path.join(live, "spool"), exist_ok=True)
    if explain_refusal(live):
        return b""
    os.chdir(live)
    if how == "hung":
        accuse_daemon()
    is_awaited = how in ("gone", "slow") and any(each in payload[:20_000] for each in STARTS)
    if not is_awaited:  # first make sure of the event: a start can take all of the time
        spool(agent, payload)
    answer = None
    try:
        if how == "gone" or (how == "slow" and end_hung_daemon()):
            process = start_daemon(live)
            if is_awaited and process:
                answer = wait_for_answer(process, lambda: ask_daemon(agent, payload))
    except Exception:  # noqa: BLE001, S110 - others change the same files at that moment: the event is kept whatever fails
        pass
    if is_awaited and answer is None:
        spool(agent, payload)
    return answer or b""


def accuse_daemon() -> None:
    """Leave an empty file, until the daemon shows by a word in it that it is alive."""
    slow = os.open("slow", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    os.utime(slow)  # by its descriptor: a daemon that starts removes the file
    os.close(slow)


def wait_for_answer(process: int, ask: Callable[[], bytes]) -> bytes | None:
    """The answer of a daemon that starts; None if none came in time."""
    left = max(0.05, LIMIT - seconds_running())
    end = time.monotonic() + left
    _signal.setitimer(_signal.ITIMER_REAL, left + 0.05, 0.1)  # for an answer that does not come
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.02)
        try:
            return ask()
        except Exception:  # noqa: BLE001, S112 - not started yet
            continue
    return None


def seconds_running() -> float:
    """Seconds since this process began, where the system tells; else 0."""
    try:
        with open("/proc/self/stat", "rb") as stream:
            began = int(stream.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (AttributeError, OSError, ValueError, IndexError):
        return 0.0


def start_daemon(live: str) -> int:
    """Start a daemon unless another client just did; gives the process that starts, 0 if none does."""
    if not command():
        return 0
    # One client at a time: hooks come in dozens.
    starting = os.open("starting", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(starting, fcntl.LOCK_EX)
    process = number_in(starting)
    age = abs(time.time() - os.fstat(starting).st_mtime)  # the clock may have been set back
    if is_alive(process) and age < AGAIN:
        return process
    if process and age < PAUSE:
        return 0
    if middle := os.fork():
        os.waitpid(middle, 0)
        return number_in(starting)
    try:
        os.setsid()
        if process := os.fork():
            os.pwrite(starting, b"%-20d" % process, 0)
        else:
            become_daemon(live)
    finally:
        os._exit(0)


def number_in(descriptor: int) -> int:
    """The process number at the start of a file; 0 if there is none."""
    word = os.pread(descriptor, 20, 0).partition(b" ")[0]
    return int(word) if word.isdigit() else 0


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        with open(f"/proc/{process}/stat", "rb") as stream:  # one that ended may wait there for its parent
            return process > 0 and b") Z" not in stream.read()
    except FileNotFoundError:  # a system without `/proc`
        return process > 0
    except OSError:
        return False


def end_hung_daemon() -> bool:
    """Kill the daemon if it gave no sign of life since a client accused it; True if none runs now. Nothing is lost by that: what
    it has answered is in its journal."""
    accused = os.stat("slow")
    if accused.st_size or abs(time.time() - accused.st_mtime) < REPLACE:
        return False
    lock = os.open("lock", os.O_RDWR | os.O_CREAT, 0o600)
    for attempt in range(20):
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            process = number_in(lock)
            if not attempt and process and is_daemon(process):
                os.kill(process, _signal.SIGKILL)
            time.sleep(0.01)
        else:
            os.close(lock)
            os.unlink("slow")
            return True
    return False


def is_daemon(process: int) -> bool:
    """Whether a process is the one at the socket, or (where nobody can tell) looks like it: numbers are used again."""
    if sys.platform == "linux":
        try:
            connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            connection.setblocking(False)
            connection.connect("socket")
            found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 4)
            return int.from_bytes(found, sys.byteorder) == process
        except OSError:
            with open(f"/proc/{process}/cmdline", "rb") as stream:
                return b"preheat" in stream.read()
    return True


def become_daemon(live: str) -> None:
    """Become the daemon, with no open file of the agent, which may wait for its hook's output to close."""
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null_device, descriptor)
    os.closerange(3, 1024)
    environment = {**os.environ, "PREHEAT_HOME": os.path.dirname(live)}
    os.execve(command()[0], command(), environment)  # noqa: S606 - a command of our own


def command() -> list[str]:
    """The command that starts a daemon, as the last installation stored it beside the client; else with this Python. It never
    comes from a folder that the environment names; empty if others can change it."""
    start = os.path.join(OWN, "live", "start")
    if os.path.lexists(start) and explain_refusal(start):
        return []
    try:
        with open(start, encoding="utf-8") as stream:
            return stream.read().rstrip("\n").split("\n")[1:]
    except (OSError, UnicodeError):
        return [sys.executable, "-P", "-m", "preheat", "serve", "--foreground"]


def spool(agent: str, payload: bytes) -> None:
    """Store an event until a daemon takes it, up to a limit: without free text, in which secrets can be that only the daemon
    recognises. It reads the rest from the transcript."""
    try:
        event = json.dumps(without_text(json.loads(payload))).encode()
    except (ValueError, RecursionError):
        return
    sizes = spooled_sizes()
    if len(event) > LARGEST or len(sizes) >= MOST_FILES or sum(sizes) + len(event) > MOST_BYTES:
        count_lost()
        return
    name = os.path.join("spool", f"{time.time_ns():020}-{os.getpid()}")
    with open(f"{name}.new", "wb") as stream:
        stream.write(f"{agent} {time.time()!r}\n".encode())
        stream.write(event)
    os.rename(f"{name}.new", f"{name}.event")


def spooled_sizes() -> list[int]:
    """The sizes of the files in the spool. One that is listed may be gone when it is looked at: its client has given it its last
    name, or the daemon has taken it."""
    sizes = []
    with os.scandir("spool") as entries:
        for entry in entries:
            try:
                sizes.append(entry.stat().st_size)
            except OSError:
                continue
    return sizes


def count_lost() -> None:
    """Count an event that is not kept, so that the next daemon can say so: a byte for each."""
    descriptor = os.open(os.path.join("spool", "lost"), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.write(descriptor, b".")
    os.close(descriptor)


def without_text(value: "Any", name: str = "") -> "Any":
    """The value with only its structure, numbers, identifiers, paths and names of things; other texts are empty."""
    if isinstance(value, dict):
        return {key: without_text(each, key) for key, each in value.items() if KEY.fullmatch(key)}
    if isinstance(value, list):
        return [without_text(each, name) for each in value[:200]]
    if isinstance(value, str):
        return value if is_fact(value, name) else ""
    return value


def is_fact(value: str, name: str) -> bool:
    """Whether a text can be stored as it is: an identifier, or a path or name in which nothing looks random."""
    name = name.replace("_", "").lower()
    if name in IDS:
        return len(value) < 129 and PLAIN.fullmatch(value) is not None
    if not name.endswith(FACTS) or not PLAIN.fullmatch(value):
        return False
    return not any(is_mixed(run) for run in RUN.findall(value))


def is_mixed(run: str) -> bool:
    """Whether a run of letters and digits may be a token: it has several digits, or it is longer than names are."""
    digits = len(re.findall("[0-9]", run))
    return len(run) > 33 or (not run.isdigit() and digits > (0 if len(run) > 23 else 2))
