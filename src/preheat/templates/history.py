"""The present state of a template's name, folded from its history. Knows no file.

Nothing is ever removed from a history: deletions, rollbacks and reviews are entries of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from preheat.model.template import TemplateHistoryEntry


class NameState(NamedTuple):
    """The present state of a name."""

    live: str | None = None
    """The digest of the current version; None if there never was one."""
    waiting: str | None = None
    """The digest of an import that waits for a review."""
    deleted: bool = False
    versions: tuple[str, ...] = ()
    """Every version that was live, in order: a rollback goes to one of these."""


def state_of(history: Sequence[TemplateHistoryEntry]) -> NameState:
    """The state after a history. An import changes nothing until it is accepted."""
    live, waiting, deleted = None, None, False
    versions: dict[str, None] = {}
    for entry in history:
        if entry.action == "imported":
            waiting, deleted = entry.digest, False
        elif entry.action == "rejected":
            waiting = None
        elif entry.action in ("deleted", "restored"):
            deleted = entry.action == "deleted"
        else:
            live, deleted = entry.digest, False
            versions[live] = None
            if entry.action == "accepted":
                waiting = None
    return NameState(live, waiting, deleted, tuple(versions))
