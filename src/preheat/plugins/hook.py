"""The hook client: hands an agent's hook to the daemon and prints the answer. Standard library only; imports nothing of Preheat.

`preheat install` copies it beside Preheat's data; agents run it as `python3 -I -S -E hook.py AGENT`. Whatever happens, it ends
with 0 and within a limit. It is compiled at every call and `os` costs a tenth of its time, so it is short, uses `posix`, and
what there is to do while no daemon answers stands in `hook_away.py`, which is read only then.
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
"""Seconds for everything; the start of a session may take `START`, because a daemon may have to come up first."""
START = 3.0
MOST = 50_000_000
PATIENCE = 30.0
"""After a daemon did not answer in time nobody waits for it again for so long."""


class Away(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """No answer came."""


def told() -> bytes:
    """What comes on standard input, up to a little over the limit."""
    pieces, length = [], 0
    while length <= MOST and (more := posix.read(0, 1 << 20)):
        pieces.append(more)
        length += len(more)
    return b"".join(pieces)


def asked(agent: str, payload: bytes) -> bytes:
    """The daemon's answer. The folder with its socket is the current one: a path of its own could be too long for a socket."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect("socket")
    connection.sendall(b"%s %d\n" % (agent.encode(), len(payload)) + payload)
    answer = b""
    while more := connection.recv(1 << 16):
        answer += more
    head, _, body = answer.partition(b"\n")
    # An end without this line is a daemon that died or one that speaks otherwise: the event is not safe with it.
    if head != b"preheat 1 %d" % len(body):
        raise Away
    return body


def printed(answer: bytes) -> None:
    while answer:
        answer = answer[posix.write(1, answer) :]


def when_away(folder: str, agent: str, payload: bytes, how: str) -> bytes:
    """Keep the event for later, and if there is no daemon (`gone`, not `hung`) see to it that there is; an answer only if one
    comes up in time."""
    path = sys.argv[0][:-3] + "_away.py"
    source = posix.open(path, posix.O_RDONLY)
    text = posix.read(source, 1 << 20)
    names: dict[str, Any] = {}
    exec(compile(text, path, "exec"), names)  # noqa: S102 - the other half of this file
    answer: bytes = names["away"](folder, agent, payload, how, asked)
    return answer


def answered_slowly() -> bool:
    """Whether a daemon did not answer in time a moment ago."""
    try:
        return -PATIENCE < time.time() - posix.stat("slow").st_mtime < PATIENCE
    except OSError:
        return False


def main() -> None:
    agent = sys.argv[1]
    own = posix.environ.get(b"PREHEAT_HOME")
    folder = own.decode() if own else sys.argv[0].rpartition("/")[0] or "."
    payload = b""
    doing = "reading"

    def late(*_: object) -> None:
        _signal.signal(_signal.SIGALRM, lambda *_: posix._exit(0))
        _signal.setitimer(_signal.ITIMER_REAL, 0.2)
        if doing != "reading":
            when_away(folder, agent, payload, "hung" if doing == "asking" else "late")
        posix._exit(0)

    _signal.signal(_signal.SIGALRM, late)
    _signal.setitimer(_signal.ITIMER_REAL, LIMIT)
    payload = told()
    if len(payload) > MOST or b"PREHEAT_RUN" in posix.environ:
        return
    doing = "asking"
    if b"essionStart" in payload[:20_000] or b'"is_first_turn": true' in payload[:20_000]:
        _signal.setitimer(_signal.ITIMER_REAL, START)
    try:
        posix.chdir(folder + "/live")
        if answered_slowly():
            doing = "waiting"
            when_away(folder, agent, payload, "late")
            return
        answer = asked(agent, payload)
    except (OSError, Away):
        doing = "waiting"
        answer = when_away(folder, agent, payload, "gone")
    printed(answer)


if __name__ == "__main__":
    try:  # noqa: SIM105 - `contextlib` costs more than all the rest
        main()
    except BaseException:  # noqa: BLE001, S110 - an agent must never notice
        pass
    posix._exit(0)
