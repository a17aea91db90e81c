"""Processes that end with their parent, whatever ends it: a signal, a crash, or `kill -9`. Knows nothing of what they do.

A worker calls `end_with_parent`. A program of somebody else runs below a guard (`start_guarded`): this file, run with nothing but
the standard library, which ends the program's whole group when its end of a pipe to the parent closes. A process that made itself
a session of its own is not in that group.
"""

import os
import select
import signal
import sys
from collections.abc import Sequence
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import Any

_PR_SET_PDEATHSIG = 1
_NOT_STARTED = 127


def end_with_parent(parent: int) -> None:
    """Have the system kill this process when its parent ends, where the system can do that (Linux); without a delay, also in the
    middle of a long computation. Elsewhere, and besides, a worker ends when its pipe to the parent closes."""
    if sys.platform == "linux":
        try:
            import ctypes  # noqa: PLC0415 - not every Python has it, and only processes of ours need it

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        except (ImportError, OSError, AttributeError):
            return
    if hasattr(os, "getppid") and os.getppid() != parent:  # it ended before this was set
        os._exit(1)


def start_guarded(command: Sequence[str], **options: "Any") -> "Popen[bytes]":
    """Start a program like `subprocess.Popen`, below a guard: its session ends with this process. A program that is not there
    prints so and ends with 127."""
    from subprocess import Popen  # noqa: PLC0415 - the guard itself must start quickly

    if sys.platform == "win32":
        return Popen(list(command), **options)
    pipe = _pipe_to_children()
    guarded = [sys.executable, "-I", "-S", os.path.abspath(__file__), str(pipe), *command]
    return Popen(guarded, pass_fds=(pipe,), start_new_session=True, **options)


@cache
def _pipe_to_children() -> int:
    """The read end of a pipe; only this process has its write end, as long as it lives."""
    read, write = os.pipe()

    def close_in_child() -> None:
        os.close(write)
        _pipe_to_children.cache_clear()

    os.register_at_fork(after_in_child=close_in_child)
    return read


def guard(descriptor: int, command: list[str]) -> int:
    """Run a command until it ends or the pipe closes; returns its exit code."""
    own = os.getpid()
    wakeup, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    child = os.fork()
    if child == 0:
        try:
            end_with_parent(own)
            os.close(descriptor)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and programs would inherit that
            os.execvp(command[0], command)  # noqa: S606 - the guarded command
        except OSError as error:
            os.write(2, f"{error}\n".encode())
        os._exit(_NOT_STARTED)
    while True:
        ready, _, _ = select.select([descriptor, wakeup], [], [])
        if descriptor in ready:
            os.killpg(own, signal.SIGKILL)
        os.read(wakeup, 1 << 10)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)


def _end_like(code: int) -> int:
    """End by the signal that ended the command, if one did."""
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(_end_like(guard(int(sys.argv[1]), sys.argv[2:])))
