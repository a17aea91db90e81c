"""Values that take long to add up, kept until the archive changes. Knows no value.

A page does not wait for one: it is shown without it, and asks again. While the archive changes all the time (a sync runs), the
last value is shown, and a new one is begun at most every few seconds.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")

PATIENCE = 0.12
"""Seconds that a page waits for a value."""
_MOST = 24
_AGAIN_AFTER = 5.0
"""Seconds after which a value of an archive that has changed is added up again."""


class KeptValue(NamedTuple, Generic[Value]):
    """A value, or that it is still being added up."""

    value: Value | None
    is_ready: bool
    is_current: bool = True
    """False if the archive has changed since."""
    at: float = 0.0
    """When it was added up."""


class _Place:
    def __init__(self) -> None:
        self.stamp: object = None
        self.future: Future[object] | None = None
        self.value: object = None
        self.at = 0.0
        self.has_value = False


class KeptValues:
    """The values of one archive, by name. `stamp` says what the archive is like now; None for `patience` waits without end."""

    def __init__(self, stamp: Callable[[], object], patience: float | None = PATIENCE) -> None:
        self._stamp = stamp
        self._patience = patience
        self._places: OrderedDict[object, _Place] = OrderedDict()
        self._lock = Lock()
        # One at a time: two would only take each other's processor away, and both are held in memory.
        self._workers = ThreadPoolExecutor(1, thread_name_prefix="adding-up")

    def find(self, name: object, compute: Callable[[], Value]) -> KeptValue[Value]:
        """The value of a name. Raises what `compute` raises."""
        now, stamp = time.monotonic(), self._stamp()
        with self._lock:
            place = self._places.setdefault(name, _Place())
            self._places.move_to_end(name)
            while len(self._places) > _MOST:
                self._places.popitem(last=False)
            is_due = place.stamp != stamp and (not place.has_value or now - place.at > _AGAIN_AFTER)
            if place.future is None and (is_due or not place.has_value):
                place.stamp = stamp
                place.future = self._workers.submit(compute)
        self._collect(place)
        return KeptValue(
            place.value,  # type: ignore[arg-type] # what `compute` of this name returned
            place.has_value,
            place.stamp == stamp and place.future is None,
            place.at,
        )

    def _collect(self, place: _Place) -> None:
        """Take the value over if it is there; a page that has an older one does not wait."""
        future = place.future
        if future is None:
            return
        try:
            value = future.result(0.0 if place.has_value and self._patience is not None else self._patience)
        except FutureTimeout:
            return
        except BaseException:
            place.future = None
            place.stamp = None
            raise
        place.value, place.at, place.has_value, place.future = value, time.monotonic(), True, None

    def forget(self) -> None:
        """Add everything up anew: something was changed by a person who wants to see it now."""
        with self._lock:
            self._places.clear()

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)
