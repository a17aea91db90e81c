"""The hook client: hands an agent's hook to the daemon and prints the answer. Standard library only; imports nothing of Preheat.

`preheat install` copies it beside Preheat's data; agents run it as `python3 -I -S -E hook.py AGENT`. It always ends with 0
within a time limit. It is compiled at every call, and importing `os` takes a tenth of its time, so it is short and uses `posix`;
the code for when no daemon answers is in `hook_away.py`, which is read only then.
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

LIMIT = 1.5
"""Seconds for everything; at the start of a session `START`, because a daemon may have to start first."""
START = 3.0
REPEAT = 0.1
"""Seconds after which the alarm comes again: one that comes just before a system call begins does not interrupt it."""
MOST = 50_000_000
PATIENCE = 30.0
"""Seconds for which no client waits after a daemon did not answer in time."""


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
    answer = b""
    while more := connection.recv(1 << 16):
        answer += more
    head, _, body = answer.partition(b"\n")
    # Without this line the daemon died or has another protocol, and the event may be lost.
    if head != b"preheat 1 %d" % len(body):
        raise NoAnswerError
    return body


def write_output(answer: bytes) -> None:
    while answer:
        answer = answer[posix.write(1, answer) :]


def run_without_daemon(folder: str, agent: str, payload: bytes, how: str) -> bytes:
    """Spool the event, and if no daemon runs (`gone`, not `hung`) start one; gives its answer if it starts in time."""
    path = sys.argv[0][:-3] + "_away.py"
    source = posix.open(path, posix.O_RDONLY)
    text = posix.read(source, 1 << 20)
    names: dict[str, Any] = {}
    exec(compile(text, path, "exec"), names)  # noqa: S102 - a file of Preheat
    answer: bytes = names["handle_absence"](folder, agent, payload, how, ask_daemon)
    return answer


def was_slow_recently() -> bool:
    """Whether a daemon recently did not answer in time."""
    try:
        return -PATIENCE < time.time() - posix.stat("slow").st_mtime < PATIENCE
    except OSError:
        return False


def main() -> None:
    agent = sys.argv[1]
    own = posix.environ.get(b"PREHEAT_HOME")
    folder = own.decode() if own else sys.argv[0].rpartition("/")[0] or "."
    payload = b""
    step = "reading"

    def on_timeout(*_: object) -> None:
        _signal.setitimer(_signal.ITIMER_REAL, 0.2, REPEAT)
        _signal.signal(_signal.SIGALRM, lambda *_: posix._exit(0))
        if step != "reading":
            run_without_daemon(folder, agent, payload, "hung" if step == "asking" else "late")
        posix._exit(0)

    _signal.signal(_signal.SIGALRM, on_timeout)
    _signal.setitimer(_signal.ITIMER_REAL, LIMIT, REPEAT)
    payload = read_input()
    if len(payload) > MOST or b"PREHEAT_RUN" in posix.environ:
        return
    step = "asking"
    if b"essionStart" in payload[:20_000] or b'"is_first_turn": true' in payload[:20_000]:
        _signal.setitimer(_signal.ITIMER_REAL, START, REPEAT)
    try:
        posix.chdir(folder + "/live")
        if was_slow_recently():
            step = "waiting"
            run_without_daemon(folder, agent, payload, "late")
            return
        answer = ask_daemon(agent, payload)
    except (OSError, NoAnswerError):
        step = "waiting"
        answer = run_without_daemon(folder, agent, payload, "gone")
    write_output(answer)


if __name__ == "__main__":
    try:  # noqa: SIM105 - `contextlib` costs more than all the rest
        main()
    except BaseException:  # noqa: BLE001, S110 - an agent must never notice
        pass
    posix._exit(0)
