"""Which files of the project a call of a session touched, and how. The rules are `preheat.calls.touched`."""

from functools import lru_cache

from preheat.calls.seen import JudgedCall, JudgedSession
from preheat.calls.touched import Touch, is_file, project_path, says_missing
from preheat.calls.touched import find_touches as touched_by
from preheat.model.session import ToolCall
from preheat.safe_text.reasons import order_reason

__all__ = ["Touch", "is_file", "project_path", "safe_touches", "says_file_missing"]


def safe_touches(seen: JudgedSession, each: JudgedCall) -> list[Touch]:
    """The files that a call named, as it named them, whether or not it worked."""
    known: dict[int, list[Touch]] = seen.cache.setdefault("fit touches", {})
    found = known.get(each.record.seq)
    if found is None:
        found = [touch for touch in all_touches(seen, each.record.seq, each.call) if not _gives_orders(touch.path)]
        known[each.record.seq] = found
    return found


def all_touches(seen: JudgedSession, seq: int, call: ToolCall) -> list[Touch]:
    """The files that a call named, also those whose names read like orders to a model."""
    known: dict[int, list[Touch]] = seen.cache.setdefault("touches", {})
    if seq not in known:
        known[seq] = touched_by(call, seen.relative)
    return known[seq]


@lru_cache(maxsize=8192)
def _gives_orders(path: str) -> bool:
    """Whether a path reads like an order to a model."""
    return bool(order_reason(path))


def says_file_missing(each: JudgedCall) -> bool:
    """Whether a failed call says that its file is not there."""
    return each.failed and says_missing(each.record.signature)
