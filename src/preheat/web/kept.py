"""Values that take long to add up, kept until the archive changes. Knows no value.

They are added up in a process of its own, one after the other: the server keeps its processor, and the memory goes with the
process. A page does not wait for one: it is shown without it, and asks again. While the archive changes all the time (a sync
runs), the last value is shown, and a new one is begun at most every few seconds.
"""

import os
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context, resource_tracker
from threading import Lock, Thread
from typing import Any, Generic, NamedTuple, TypeVar

from preheat.processes import end_with_parent

Value = TypeVar("Value")

PATIENCE = 0.05
"""Seconds that a page waits for a value."""
_MOST = 24
_AGAIN_AFTER = 5.0
"""Seconds after which a value of an archive that has changed is added up again."""


class KeptValue(NamedTuple, Generic[Value]):
    """A value, or that it is still being added up."""

    value: Value | None
    is_ready: bool


class _Place:
    def __init__(self) -> None:
        self.stamp: object = None
        self.future: Future[Any] | None = None
        self.value: Any = None
        self.at = 0.0
        self.has_value = False


class KeptValues:
    """The values of one archive. `stamp` says what the archive is like now; without patience every value is waited for, here."""

    def __init__(self, stamp: Callable[[], object], patience: float | None = PATIENCE) -> None:
        self._stamp = stamp
        self._patience = patience
        self._places: OrderedDict[object, _Place] = OrderedDict()
        self._lock = Lock()
        self._worker: ProcessPoolExecutor | None = None

    def find(self, compute: Callable[..., Value], *arguments: Any) -> KeptValue[Value]:
        """What a function of a module returns for these arguments; all of them can be sent to another process. Raises what it
        raises."""
        if self._patience is None:
            return KeptValue(self.find_now(compute, *arguments), True)
        now, stamp = time.monotonic(), self._stamp()
        with self._lock:
            place = self._place_of((compute, arguments))
            is_due = place.stamp != stamp and (not place.has_value or now - place.at > _AGAIN_AFTER)
            if place.future is None and is_due:
                place.stamp, place.future = stamp, self._submit(compute, arguments)
        self._collect(place)
        return KeptValue(place.value, place.has_value)

    def find_now(self, compute: Callable[..., Value], *arguments: Any) -> Value:
        """The same of a function that is quick: it is called here if the archive has changed."""
        stamp = self._stamp()
        with self._lock:
            place = self._place_of((compute, arguments))
        if place.stamp != stamp or not place.has_value:
            place.value, place.stamp, place.has_value = compute(*arguments), stamp, True
        value: Value = place.value
        return value

    def _place_of(self, name: object) -> _Place:
        place = self._places.setdefault(name, _Place())
        self._places.move_to_end(name)
        while len(self._places) > _MOST:
            self._places.popitem(last=False)
        return place

    def _submit(self, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> "Future[Any]":
        with _without_interrupts():
            try:
                return self._get_worker().submit(compute, *arguments)
            except BrokenProcessPool:  # something ended it
                self.close()
                return self._get_worker().submit(compute, *arguments)

    def _get_worker(self) -> ProcessPoolExecutor:
        if self._worker is None:
            self._worker = ProcessPoolExecutor(
                1, get_context("spawn"), _begin_work, (os.getpid(),), max_tasks_per_child=1
            )
        return self._worker

    def _collect(self, place: _Place) -> None:
        """Take the value over if it is there; a page that has an older one does not wait."""
        future = place.future
        if future is None:
            return
        try:
            value = future.result(0.0 if place.has_value else self._patience)
        except FutureTimeout:
            return
        except BaseException:
            place.future = place.stamp = None
            raise
        place.value, place.at, place.has_value, place.future = value, time.monotonic(), True, None

    def forget(self) -> None:
        """Add everything up anew: something was changed by a person who wants to see it now."""
        with self._lock:
            self._places.clear()

    def close(self) -> None:
        if self._worker is None:
            return
        ending = Thread(target=self._worker.shutdown, kwargs={"cancel_futures": True})
        ending.start()
        while ending.is_alive():  # a worker that ends is replaced by another one, which nobody would ever end
            for child in active_children():  # nobody wants to wait for what it adds up; it changes nothing
                child.kill()
            ending.join(0.02)
        self._worker = None


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """What is started here is not told of Ctrl-C, which a terminal sends to everything: the server ends it, silently."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # whoever starts it lets interrupts in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_work(parent: int) -> None:
    """What the worker does first: it ends with the server, and everything else comes before it."""
    end_with_parent(parent)
    with suppress(OSError):
        os.nice(5)
