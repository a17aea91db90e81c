"""Runs work in several processes. Threads would not help: the work is in Python.

A worker ends with its parent, whatever ends that: it reads its pieces from a pipe which only the parent holds open, and Linux
kills it without a delay. It holds no lock (`preheat.locking`). Knows nothing of what the work is, or of the archive.
"""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from preheat.errors import ReaderDied
from preheat.processes import end_with_parent
from preheat.programs import shut_out_current_folder

Piece = TypeVar("Piece")

_AT_ONCE = 2
"""Pieces under way for each worker: one that it works on, and the next, so that it need not wait for the parent."""
_DONE, _FAILED = b"\0", b"\1"
_END_SECONDS = 1.0
_IGNORED = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Sent to a whole group by terminals and by programs such as `timeout`: the parent decides, and ends its workers."""


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: "Connection[Any, Any]"


def run_in_processes(work: Callable[[Piece], bytes], pieces: Iterable[Piece], workers: int) -> Iterator[bytes]:
    """The result of each piece, in the order in which they finish. Close the iterator to end the workers early.

    The work returns bytes: sending many small values between processes is several times faster that way."""
    crew: list[_Worker] = []
    try:
        with _hold_signals():
            for _ in range(workers):
                crew.append(_start_worker(work, [worker.pipe for worker in crew]))
        yield from _spread(iter(pieces), crew)
        for worker in crew:
            worker.pipe.close()
            worker.process.join(_END_SECONDS)
    except (EOFError, ConnectionError) as error:
        raise ReaderDied("a reading process was killed (out of memory?); run the same command again") from error
    finally:
        for worker in crew:
            worker.process.kill()  # it has nothing to clean up
            worker.pipe.close()
        for worker in crew:
            worker.process.join()


def _spread(pieces: Iterator[Piece], crew: list[_Worker]) -> Iterator[bytes]:
    """Send the pieces to the workers, and give what comes back."""
    by_pipe = {id(worker.pipe): worker for worker in crew}
    under_way = dict.fromkeys(by_pipe, 0)
    for _ in range(_AT_ONCE):
        for worker in crew:
            _send_next(pieces, worker, under_way)
    while any(under_way.values()):
        for pipe in wait([worker.pipe for worker in crew if under_way[id(worker.pipe)]]):
            worker = by_pipe[id(pipe)]
            kind, result = worker.pipe.recv_bytes(), worker.pipe.recv_bytes()
            under_way[id(pipe)] -= 1
            _send_next(pieces, worker, under_way)  # first, because whoever takes the result may be slow
            if kind == _FAILED:
                raise pickle.loads(result)  # noqa: S301 - from our own worker
            yield result


def _send_next(pieces: Iterator[Piece], worker: _Worker, under_way: dict[int, int]) -> None:
    piece = next(pieces, None)
    if piece is not None:
        worker.pipe.send(piece)
        under_way[id(worker.pipe)] += 1


def _start_worker(work: Callable[[Any], bytes], others: list["Connection[Any, Any]"]) -> _Worker:
    # Forking saves each worker the imports, but is safe only while no thread has been started.
    forking = sys.platform == "linux" and threading.active_count() == 1
    context: Any = multiprocessing.get_context("fork" if forking else "spawn")
    own, its = context.Pipe()
    # A forked process has the open files of its parent: the ends that only the parent may hold are closed there.
    inherited = [own, *others] if forking else []
    process = context.Process(target=_serve, args=(work, its, inherited, os.getpid()), daemon=True)
    with shut_out_current_folder():
        process.start()
    its.close()
    return _Worker(process, own)


@contextmanager
def _hold_signals() -> Iterator[None]:
    """Have signals wait: Python loses an exception that is raised while it forks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, _IGNORED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _IGNORED)


# In the worker.
def _serve(
    work: Callable[[Any], bytes], pipe: "Connection[Any, Any]", inherited: list["Connection[Any, Any]"], parent: int
) -> None:
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _IGNORED)
    end_with_parent(parent)
    for each in inherited:
        each.close()
    pieces: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, pieces), daemon=True).start()
    while True:
        kind, result = _run(work, pieces.get())
        try:
            pipe.send_bytes(kind)
            pipe.send_bytes(result)
        except OSError:  # the parent has ended
            os._exit(1)


def _receive(pipe: "Connection[Any, Any]", pieces: "SimpleQueue[Any]") -> None:
    """Take pieces in while others are worked on, so that the parent never waits; end with the parent."""
    try:
        while True:
            pieces.put(pipe.recv())
    except (EOFError, OSError):
        os._exit(0)


def _run(work: Callable[[Any], bytes], piece: Any) -> tuple[bytes, bytes]:
    try:
        return _DONE, work(piece)
    except Exception as error:  # noqa: BLE001 - raised in the parent
        try:
            return _FAILED, pickle.dumps(error)
        except Exception:  # noqa: BLE001 - not every exception can be sent
            return _FAILED, pickle.dumps(ReaderDied(f"{type(error).__name__}: {error}"))
