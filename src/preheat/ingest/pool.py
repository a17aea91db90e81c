"""Runs work in several processes. Threads would not help: the work is in Python.

Knows nothing of what the work is, or of the archive.
"""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from preheat.errors import ReaderDied

Piece = TypeVar("Piece")


def run_in_processes(work: Callable[[Piece], bytes], pieces: Iterable[Piece], workers: int) -> Iterator[bytes]:
    """The result of each piece, in the order in which they finish. At most two pieces a worker are under way, to bound memory.

    The work returns bytes: sending many small values between processes is several times faster that way."""
    # Forking saves each worker the imports, but is safe only while no thread has been started.
    forking = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if forking else "spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interrupts) as pool:
        waiting = iter(pieces)
        running: set[Future[bytes]] = set()
        try:
            while True:
                while len(running) < 2 * workers and (piece := next(waiting, None)) is not None:
                    running.add(pool.submit(work, piece))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool as error:
            raise ReaderDied("a reading process was killed (out of memory?); run the same command again") from error
        finally:
            for future in running:
                future.cancel()


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which a terminal sends to every process: the parent stops between two pieces and ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
