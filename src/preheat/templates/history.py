"""What a name stands for, told from its history. Knows no file.

Nothing is ever taken out of a history: a deletion, a return to an earlier version, an answer to an import are lines of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from preheat.model.template import Entry


class State(NamedTuple):
    """What a name stands for now."""

    live: str | None = None
    """The digest of the version that is handed out; None where there never was one."""
    waiting: str | None = None
    """An import that nobody has reviewed yet."""
    deleted: bool = False
    versions: tuple[str, ...] = ()
    """Every version that was live once, in their order: one can go back to these and to no others."""


def state_of(history: Sequence[Entry]) -> State:
    """Folds a history. An import changes nothing until it is accepted."""
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
    return State(live, waiting, deleted, tuple(versions))
