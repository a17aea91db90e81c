"""The daemon's own time on the events of each session, until an entry of the journal takes it along. Knows no event's meaning.

From the arrival of a whole event to its answer, waiting for a context included. Not in it: the start of the client, the
socket, the wait for this process, and whatever the agent's program does around a hook.
"""

from collections import OrderedDict
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import msgspec

from preheat.model.live import JournalEntry

Reply = Callable[[bytes], None]
SessionKey = tuple[str, str]
_MOST = 1_000


class HandlingTime(NamedTuple):
    """The time on the events of a session since its last entry."""

    events: int = 0
    microseconds: int = 0
    slowest: int = 0


class HandlingTimes:
    """The times of all sessions that are not in the journal yet."""

    def __init__(self) -> None:
        self._times: OrderedDict[SessionKey, HandlingTime] = OrderedDict()

    def measure(self, reply: Reply, key: SessionKey | None, began: float) -> Reply:
        """A reply that notes the time from `began` (of `perf_counter`) when it is given; the same where no session is known."""
        if key is None:
            return reply

        def answer(data: bytes) -> None:
            reply(data)
            self.note(key, perf_counter() - began)

        return answer

    def note(self, key: SessionKey, seconds: float) -> None:
        """Note the time on one event."""
        spent = round(1e6 * seconds)
        known = self._times.get(key, HandlingTime())
        self._times[key] = HandlingTime(known.events + 1, known.microseconds + spent, max(known.slowest, spent))
        self._times.move_to_end(key)
        if len(self._times) > _MOST:
            self._times.popitem(last=False)

    def add_to(self, entry: JournalEntry) -> JournalEntry:
        """The entry with the time of its session so far, which is taken out of here."""
        found = self._times.pop((entry.agent, entry.session), None)
        if found is None:
            return entry
        return msgspec.structs.replace(
            entry, events_taken=found.events, microseconds=found.microseconds, slowest=found.slowest
        )
