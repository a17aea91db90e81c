"""Recognises copies of messages.

When Hermes compacts a conversation it stores the kept messages again: the first few before the summary, the last
ones after it, in their order. A session that continues after a compaction, and a branch, begin with copies of the
parent's messages. A message counts as a copy only where copies can be: the same text twice is two messages.
Knows nothing of events.
"""

from itertools import pairwise
from typing import Any

import msgspec

SAME_MOMENT = 5e-6
"""Seconds. Copies are stored together, a microsecond apart; messages of a conversation never are."""
SAME_BATCH = 1e-3
"""Seconds between two stored rows of one compaction, when copies between them keep the originals' times."""


class Entry(msgspec.Struct, array_like=True):
    """A message of the conversation as the model saw it, and the line at which it was first read."""

    key: str
    line: int


class WaitingRow(msgspec.Struct):
    """A message that may turn out to be a copy."""

    row: dict[str, Any]
    line: int


class CopyTracker(msgspec.Struct):
    """Follows the rows of one session; part of the parser's state."""

    entries: list[Entry] = msgspec.field(default_factory=list)
    """The conversation since the last compaction."""
    reference: list[Entry] = msgspec.field(default_factory=list)
    """The messages that copies are looked up in."""
    cursor: int = -1
    """The index in `reference` of the last copy's original."""
    copying: bool = False
    summarised: bool = False
    """The summary of this compaction was read."""
    archived: bool = False
    """The previous row was compacted away, so a compaction may begin here."""
    newest: float = 0.0
    """The latest time of a row so far."""
    boundary: float = 0.0
    """The latest time before the copies began; copies in a resumed session keep the originals' times."""
    stored: float = 0.0
    """When the copies were stored; 0 as long as all copies read kept the originals' times."""
    in_place: bool = False
    """The copies are of this session's own messages."""
    waiting: list[WaitingRow] = msgspec.field(default_factory=list)

    def begin_with(self, keys: list[str]) -> None:
        """Expect the session to begin with copies of the parent's messages."""
        self.reference = [Entry(key, 0) for key in keys]
        self.copying = bool(keys)

    def may_begin(self, key: str) -> bool:
        """Whether this message may be the next of the copies with which a compaction begins."""
        place = len(self.waiting)
        return self.archived and not self.copying and place < len(self.entries) and self.entries[place].key == key

    def is_stored_together(self, time: float) -> bool:
        """Whether a row with this time was stored together with the waiting rows."""
        times = [_time_of(waiting.row) for waiting in self.waiting] + [time]
        return len(times) > 1 and all(abs(later - earlier) < SAME_MOMENT for earlier, later in pairwise(times))

    def begin(self, time: float) -> None:
        """Begin a compaction with a row of this time: the waiting rows were copies."""
        self.boundary, self.in_place = self.newest, True
        self.stored = time if time > self.newest else 0.0
        self.reference, self.entries = self.entries, self.entries[: len(self.waiting)]
        self.cursor = len(self.waiting) - 1
        self.waiting = []
        self.copying, self.summarised = True, False

    def find_original(self, key: str) -> Entry | None:
        """The message that this one is a copy of."""
        if not self.copying:
            return None
        for place in range(self.cursor + 1, len(self.reference)):
            if self.reference[place].key == key:
                self.cursor = place
                return self.reference[place]
        return None

    def stop(self) -> None:
        """Expect no more copies."""
        self.copying = False
        self.reference = []

    def may_still_copy(self, time: float) -> bool:
        """Whether copies may follow a row that is not a copy: it was stored with them, or is as old as they are."""
        if 0 < time <= self.boundary:
            return True
        if abs(time - self.stored) < SAME_BATCH or (self.in_place and not self.stored):
            self.stored = time
            return True
        return False

    def take_back(self, after: int) -> None:
        """Forget the messages after a line, which the person rewound."""
        self.entries = [entry for entry in self.entries if entry.line <= after]


def _time_of(row: dict[str, Any]) -> float:
    time = row.get("timestamp")
    return float(time) if isinstance(time, int | float) else 0.0
