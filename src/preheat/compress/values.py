"""What a strategy is, and what compressing a session gives. Knows no strategy."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.compress.view import View
from preheat.model.session import Session

MarkerKind: TypeAlias = Literal["forms", "repairs", "instructions", "files", "checks", "references"]
"""The kinds of proficiency markers; `measure` describes each and when it is kept."""
MARKER_KINDS: tuple[MarkerKind, ...] = ("forms", "repairs", "instructions", "files", "checks", "references")


class Strategy(NamedTuple):
    """One way to make a session shorter."""

    name: str
    keep: int
    """The default for how much of the end is kept unchanged."""
    measure: str
    """What `keep` counts; empty where it has no meaning."""
    summary: str
    """What it does, in a line."""
    shorten: Callable[[View, int], Session]


class KeptCount(msgspec.Struct, frozen=True, gc=False):
    """How many markers of one kind there were, and how many are left."""

    kept: int
    total: int

    @property
    def share(self) -> float | None:
        return self.kept / self.total if self.total else None


class Compressed(msgspec.Struct, frozen=True, kw_only=True):
    """A shorter history, and what it cost."""

    strategy: str
    keep: int
    session: Session
    """What is left of the session."""
    messages: list[dict[str, Any]]
    """The shorter session, rendered."""
    before: int
    """Estimated tokens of the whole session."""
    after: int
    messages_before: int
    calls: tuple[int, ...]
    """The `CallRecord.seq` of the calls that are left with their results."""
    markers: dict[MarkerKind, KeptCount]

    @property
    def ratio(self) -> float | None:
        """The share of the tokens that is left."""
        return self.after / self.before if self.before else None

    @property
    def all_markers(self) -> KeptCount:
        """The counts of all kinds together."""
        found = self.markers.values()
        return KeptCount(sum(each.kept for each in found), sum(each.total for each in found))
