"""Which files of the project a call of a session touched, and how. The rules are `preheat.calls.touched`."""

from functools import lru_cache

from preheat.calls.seen import Seen, SeenCall
from preheat.calls.touched import Touch, is_file, project_path, says_missing
from preheat.calls.touched import touches as touched_by
from preheat.model.session import ToolCall
from preheat.safe_text.reasons import orders

__all__ = ["Touch", "is_file", "missing", "project_path", "touches"]


def touches(seen: Seen, each: SeenCall) -> list[Touch]:
    """The files that a call named, as it named them, whether or not it worked."""
    known: dict[int, list[Touch]] = seen.memory.setdefault("fit touches", {})
    found = known.get(each.record.seq)
    if found is None:
        found = [touch for touch in touches_of(seen, each.record.seq, each.call) if not _gives_orders(touch.path)]
        known[each.record.seq] = found
    return found


def touches_of(seen: Seen, seq: int, call: ToolCall) -> list[Touch]:
    """The files that a call named, also those whose names read like orders to a model."""
    known: dict[int, list[Touch]] = seen.memory.setdefault("touches", {})
    if seq not in known:
        known[seq] = touched_by(call, seen.relative)
    return known[seq]


@lru_cache(maxsize=8192)
def _gives_orders(path: str) -> bool:
    """Whether a path reads like an order to a model."""
    return bool(orders(path))


def missing(each: SeenCall) -> bool:
    """Whether a failed call says that its file is not there."""
    return each.failed and says_missing(each.record.signature)
