"""Codex's token counts, each token counted once.

Codex repeats running totals: after every response, at every change of a rate limit, at a resume. A response used
what the total grew by. A fork's total starts with its parent's, which does not count here. Knows nothing of other records.
"""

from typing import Any

import msgspec

from preheat.agents.chat import mapping
from preheat.agents.codex.records import whole_number
from preheat.model.session import Usage

_NOTHING = (0, 0, 0, 0, 0)
Counts = tuple[int, int, int, int, int]
"""Input (with what came from the cache), from the cache, into the cache, output, reasoning."""


class TokenTally(msgspec.Struct):
    """The totals read so far."""

    total: Counts | None = None
    """The last running total."""
    base: Counts = _NOTHING
    """The part of the total that is not this session's own."""
    carried: Counts = _NOTHING
    """This session's own part of totals that were later reset."""
    by_record: bool = False
    """There are records of single responses, so running totals are ignored."""
    context: int | None = None
    """How full the context was at the last response."""

    def inherit(self, total: object) -> None:
        """Start from a total that belongs to the parent."""
        if (counts := counts_of(total)) is not None:
            self.total = self.base = counts

    def take_record(self, total: object, response: object) -> Usage | None:
        """What one response used by its record; None if nothing is new."""
        self.by_record = True
        return self._advance(total, response)

    def take_total(self, total: object, response: object) -> Usage | None:
        """What was used since the last running total; None if nothing is new."""
        return None if self.by_record else self._advance(total, response)

    def _advance(self, total: object, response: object) -> Usage | None:
        counts, used = counts_of(total), counts_of(response)
        if counts is None or counts == self.total:
            return None
        if self.total is not None and all(new >= old for new, old in zip(counts, self.total, strict=True)):
            used = _minus(counts, self.total)
        else:
            # The first total, or one that was reset: only the response itself is this session's.
            if self.total is not None:
                self.carried = _plus(self.carried, _minus(self.total, self.base))
            used = counts if used is None else _minimum(used, counts)
            self.base = _minus(counts, used)
        self.total = counts
        if used == _NOTHING:
            return None
        self.context = whole_number(mapping(response).get("total_tokens")) or self.context
        return usage_of(used)

    def own_total(self) -> Usage | None:
        """The program's total without the parent's part; None before there is one."""
        if self.total is None:
            return None
        return usage_of(_plus(self.carried, _minus(self.total, self.base)))


def counts_of(value: object) -> Counts | None:
    """A token block as numbers; None for anything else."""
    fields = mapping(value)
    if "input_tokens" not in fields and "output_tokens" not in fields:
        return None
    return (
        _count(fields, "input_tokens"),
        _count(fields, "cached_input_tokens"),
        _count(fields, "cache_write_input_tokens"),
        _count(fields, "output_tokens"),
        _count(fields, "reasoning_output_tokens"),
    )


def usage_of(counts: Counts) -> Usage:
    """As Preheat counts: tokens read from or written to the cache are not part of the input."""
    all_input, read, cache_written, output, reasoning = counts
    fresh = all_input - read - cache_written
    if fresh < 0:  # a version that does not count cache writes inside the input
        fresh = max(0, all_input - read)
    return Usage(input=fresh, output=output, cache_read=read, cache_write=cache_written, reasoning=reasoning)


def _count(fields: dict[str, Any], name: str) -> int:
    return max(0, whole_number(fields.get(name)) or 0)


def _minus(one: Counts, other: Counts) -> Counts:
    return (one[0] - other[0], one[1] - other[1], one[2] - other[2], one[3] - other[3], one[4] - other[4])


def _plus(one: Counts, other: Counts) -> Counts:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3], one[4] + other[4])


def _minimum(one: Counts, other: Counts) -> Counts:
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
        min(one[4], other[4]),
    )
