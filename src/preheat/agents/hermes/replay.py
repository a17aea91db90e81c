"""Telling a message from its copy.

When Hermes compacts a conversation it stores the kept messages again: before the summary the first few, after
it the last ones, in their order. A session that goes on after a compaction, and a branch, begin with copies
of the parent's messages. A copy is one only where copies can be: the same words said twice are two messages.
Knows nothing of events.
"""

from itertools import pairwise
from typing import Any

import msgspec

SAME_MOMENT = 5e-6
"""Seconds. Copies are stored in one go, a microsecond apart; messages of a conversation never are."""
SAME_BATCH = 1e-3
"""Seconds, over copies in between that keep the originals' moments; a model answers before new messages."""


class Entry(msgspec.Struct, array_like=True):
    """A message of the conversation as the model saw it, and the line at which it was first read."""

    key: str
    line: int


class Waiting(msgspec.Struct):
    """A message that may turn out to be a copy."""

    row: dict[str, Any]
    line: int


class Replay(msgspec.Struct):
    """Follows the rows of one session; part of the parser's state."""

    entries: list[Entry] = msgspec.field(default_factory=list)
    """The conversation since the last compaction."""
    reference: list[Entry] = msgspec.field(default_factory=list)
    """What copies are copies of."""
    cursor: int = -1
    """Where in the reference the last copy stood."""
    copying: bool = False
    summarised: bool = False
    """The summary of this compaction was seen."""
    archived: bool = False
    """The row before was compacted away, so a compaction may begin here."""
    newest: float = 0.0
    """The latest moment of a row so far."""
    boundary: float = 0.0
    """The latest moment before the copies began; those of a resumed session keep the originals' moments."""
    stored: float = 0.0
    """When the copies were stored; 0 as long as only such copies were seen that keep the originals' moments."""
    in_place: bool = False
    """The copies are of this session's own messages."""
    waiting: list[Waiting] = msgspec.field(default_factory=list)

    def begin_with(self, keys: list[str]) -> None:
        """The session begins with copies of the parent's messages."""
        self.reference = [Entry(key, 0) for key in keys]
        self.copying = bool(keys)

    def may_begin(self, key: str) -> bool:
        """Whether this message may be the next of the copies with which a compaction begins."""
        place = len(self.waiting)
        return self.archived and not self.copying and place < len(self.entries) and self.entries[place].key == key

    def stored_together(self, moment: float) -> bool:
        """Whether a row at this moment was stored in one go with those that wait."""
        moments = [_moment(waiting.row) for waiting in self.waiting] + [moment]
        return len(moments) > 1 and all(abs(later - earlier) < SAME_MOMENT for earlier, later in pairwise(moments))

    def begin(self, moment: float) -> None:
        """A compaction begins, with a row of this moment: what waited were copies."""
        self.boundary, self.in_place = self.newest, True
        self.stored = moment if moment > self.newest else 0.0
        self.reference, self.entries = self.entries, self.entries[: len(self.waiting)]
        self.cursor = len(self.waiting) - 1
        self.waiting = []
        self.copying, self.summarised = True, False

    def copy_of(self, key: str) -> Entry | None:
        """The message that this one is a copy of."""
        if not self.copying:
            return None
        for place in range(self.cursor + 1, len(self.reference)):
            if self.reference[place].key == key:
                self.cursor = place
                return self.reference[place]
        return None

    def stop(self) -> None:
        """There are no more copies."""
        self.copying = False
        self.reference = []

    def still_copying(self, moment: float) -> bool:
        """Whether copies may follow a row that is none: it was stored with them, or is as old as they are."""
        if 0 < moment <= self.boundary:
            return True
        if abs(moment - self.stored) < SAME_BATCH or (self.in_place and not self.stored):
            self.stored = moment
            return True
        return False

    def take_back(self, after: int) -> None:
        """Forget the messages beyond a line: the person went back."""
        self.entries = [entry for entry in self.entries if entry.line <= after]


def _moment(row: dict[str, Any]) -> float:
    moment = row.get("timestamp")
    return float(moment) if isinstance(moment, int | float) else 0.0
