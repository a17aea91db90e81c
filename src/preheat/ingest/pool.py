"""Reads sources in several processes at once. Threads would not help: the work is in Python.

Knows nothing of the archive.
"""

import multiprocessing
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import msgspec

from preheat.archive.rows import Batch
from preheat.errors import ReaderDied
from preheat.ingest.digest import Job, digest

_BATCH = msgspec.msgpack.Decoder(Batch)


def side_by_side(groups: list[list[Job]], workers: int) -> Iterator[Batch]:
    """Each group's batch, as they are done; never more than two groups a worker under way, so memory stays bounded."""
    # Forking is safe here: no thread has been started yet. It also spares each worker the imports.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_interrupts_to_the_parent) as pool:
        waiting = iter(groups)
        running: set[Future[bytes]] = set()
        try:
            while True:
                while len(running) < 2 * workers and (group := next(waiting, None)) is not None:
                    running.add(pool.submit(_digest_packed, group))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield _BATCH.decode(future.result())
        except BrokenProcessPool as error:
            raise ReaderDied("a reading process was killed (out of memory?); run `preheat sync` again") from error
        finally:
            for future in running:
                future.cancel()


def _leave_interrupts_to_the_parent() -> None:
    """A terminal sends Ctrl-C to every process: the parent stops between two sources, and these end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _digest_packed(jobs: list[Job]) -> bytes:
    """A batch as bytes: many small values travel between processes several times faster that way."""
    return msgspec.msgpack.encode(digest(jobs))
