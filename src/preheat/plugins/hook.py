"""The hook client: hands an agent's hook to the daemon and prints the answer. Standard library only; imports nothing of Preheat.

`preheat install` copies it beside Preheat's data; agents run it as `python3 -I -S -E hook.py AGENT`. Where it could be built, the
native client (`hook.c`) asks the daemon instead, and leaves to this one what goes beyond that: `hook.py AGENT WHY SECONDS`. It
always ends with 0 within a time limit. It is compiled at every call, and importing `os` takes a tenth of its time, so it is
short and uses `posix`; the code for when no daemon answers is in `hook_away.py`, which is read only then. What it runs lies
beside it: a folder that is named by the environment holds data, and only if it is the user's alone (`ownership.py`).
"""

import sys
import time

try:
    import _signal  # type: ignore[import-not-found] # `signal` would bring `enum` with it
    import _socket
    import posix
except ImportError:  # a system without Unix sockets, where there is no daemon
    sys.exit(0)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIMIT = 1.2
"""Seconds for everything, also where a daemon has to start first: with the time to spool the event, and for Python to start, an
agent waits 1.5 s at most. An event that is not answered in this time is told later, and a context that is due comes with the
answer to the next one."""
REPEAT = 0.1
"""Seconds after which the alarm comes again: one that comes just before a system call begins does not interrupt it."""
MOST = 50_000_000
PATIENCE = 30.0
"""Seconds for which no client waits after a daemon did not answer in time."""
OWN = (sys.argv[0] if sys.argv[0][:1] == "/" else posix.getcwd() + "/" + sys.argv[0]).rpartition("/")[0]
"""The folder with this file."""


class NoAnswerError(Exception):
    """The daemon did not answer."""


def read_input() -> bytes:
    """Read standard input, up to a little over the limit."""
    pieces, length = [], 0
    while length <= MOST and (more := posix.read(0, 1 << 20)):
        pieces.append(more)
        length += len(more)
    return b"".join(pieces)


def ask_daemon(agent: str, payload: bytes) -> bytes:
    """The daemon's answer. The current folder has the socket, because a whole path could be too long."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect("socket")
    connection.sendall(b"%s %d\n" % (agent.encode(), len(payload)) + payload)
    answer = bytearray()
    while len(answer) <= MOST and (more := connection.recv(1 << 16)):
        answer += more
    head, _, body = answer.partition(b"\n")
    # Without this line the daemon died or has another protocol, and the event may be lost.
    if head != b"preheat 1 %d" % len(body):
        raise NoAnswerError
    return bytes(body)


def write_output(answer: bytes) -> None:
    while answer:
        answer = answer[posix.write(1, answer) :]


def run_without_daemon(folder: str, agent: str, payload: bytes, how: str) -> bytes:
    """Spool the event, and if no daemon runs or the one that does has hung (`gone`, `slow`) start one; gives the answer of one
    that starts in time."""
    names = load("hook_away.py", OWN=OWN, explain_refusal=load("ownership.py")["explain_refusal"])
    answer: bytes = names["handle_absence"](folder, agent, payload, how, ask_daemon)
    return answer


def load(name: str, **names: "Any") -> "dict[str, Any]":
    """The names in a file of Preheat beside this one; in the package it may be in the folder above."""
    path = OWN + "/" + name
    try:
        source = posix.open(path, posix.O_RDONLY)
    except FileNotFoundError:
        source = posix.open(OWN + "/../" + name, posix.O_RDONLY)
    text = posix.read(source, 1 << 20)
    posix.close(source)
    exec(compile(text, path, "exec"), names)  # noqa: S102 - a file of Preheat
    return names


def find_folder() -> str:
    """Preheat's folder: the one that the environment names, else the one with this file; empty if it must not be used."""
    folder = posix.environ.get(b"PREHEAT_HOME", b"").decode()
    if folder in ("", OWN):
        return OWN
    home = posix.environ.get(b"HOME", b"").decode()
    if folder[:2] == "~/":
        folder = home + folder[1:]
    return "" if load("ownership.py")["explain_refusal"](folder + "/live", home) else folder


def was_slow_recently() -> bool:
    """Whether a daemon recently did not answer in time, or has not shown since then that it is alive."""
    try:
        found = posix.stat("slow")
    except OSError:
        return False
    return not found.st_size or -PATIENCE < time.time() - found.st_mtime < PATIENCE


def end_soon() -> None:
    """From now on there is only the time to spool the event."""
    _signal.signal(_signal.SIGALRM, lambda *_: posix._exit(0))
    _signal.setitimer(_signal.ITIMER_REAL, 0.2, REPEAT)


def main() -> None:
    agent = sys.argv[1]
    why, left = sys.argv[2:4] or ("", LIMIT)
    folder, payload, answer = "", b"", b""
    step = "reading"

    def on_timeout(*_: object) -> None:
        end_soon()
        if step in ("asking", "waiting"):
            run_without_daemon(folder, agent, payload, "hung" if step == "asking" else "late")
        posix._exit(0)

    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
    _signal.signal(_signal.SIGALRM, on_timeout)
    _signal.setitimer(_signal.ITIMER_REAL, float(left), REPEAT)
    if why == "hung":  # all of the time went by in the native client
        end_soon()
    payload = read_input()
    folder = find_folder()
    if not folder or len(payload) > MOST or b"PREHEAT_RUN" in posix.environ:
        return
    step = "asking"
    try:
        if not why:
            posix.chdir(folder + "/live")
            if was_slow_recently():
                why = "slow"
            else:
                answer = ask_daemon(agent, payload)
    except (OSError, NoAnswerError):
        why = "gone"
    if why:
        step = "waiting"
        answer = run_without_daemon(folder, agent, payload, why)
    step = "writing"
    write_output(answer)


if __name__ == "__main__":
    try:  # noqa: SIM105 - `contextlib` costs more than all the rest
        main()
    except BaseException:  # noqa: BLE001, S110 - an agent must never notice
        pass
    posix._exit(0)
