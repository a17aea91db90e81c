"""Copilot CLI's token counts, each token counted once.

New versions write a record for each response and, at the end, totals for the whole session, which include what the session
used before it was resumed. Older ones only wrote the output of each response, and the rest in the totals. Knows nothing
of other events.
"""

from typing import Any

import msgspec

from preheat.agents.chat import count, mapping
from preheat.agents.copilot.records import Data
from preheat.model.session import Usage


class TokenTally(msgspec.Struct):
    """The usage of one session (or subagent) so far, by response."""

    stated: dict[str, Usage] = msgspec.field(default_factory=dict)
    closed: Usage = msgspec.field(default_factory=Usage)
    """The usage when totals were last read."""

    def add(self, response: str, used: Usage) -> Usage | None:
        """Add the usage of a response; None if it is not new."""
        before = self.stated.get(response)
        if before is not None and before.total >= used.total:
            return None
        self.stated[response] = used
        return used

    @property
    def total(self) -> Usage:
        return sum(self.stated.values(), Usage())

    def take_totals(self, totals: Usage, others: Usage) -> Usage | None:
        """Read the totals at the end: the usage beyond that of the single responses, or None if the totals are too small.

        `others` is the usage of subagents, where the totals are for all agents together. Versions that count from zero
        after a resume are recognised by totals smaller than the sum of the responses.
        """
        for before in (Usage(), self.closed):
            rest = _minus(totals + before, self.total + others)
            if rest is not None:
                self.closed = self.total + rest
                return rest
        return None


def usage_of(fields: dict[str, Any]) -> Usage | None:
    """As Preheat counts: tokens read from or written to the cache are not part of the input."""
    if "inputTokens" not in fields and "outputTokens" not in fields:
        return None
    read, written = count(fields.get("cacheReadTokens")), count(fields.get("cacheWriteTokens"))
    read = read or count(fields.get("cachedInputTokens"))
    return Usage(
        input=max(0, count(fields.get("inputTokens")) - read - written),
        output=count(fields.get("outputTokens")),
        cache_read=read,
        cache_write=written,
        reasoning=count(fields.get("reasoningTokens")),
    )


def usage_of_event(data: Data) -> Usage | None:
    """The usage in an `assistant.usage` event, whose fields are not nested."""
    return usage_of(
        {name: value for name in _EVENT_FIELDS if (value := getattr(data, name)) is not None},
    )


def totals_of(metrics: object) -> Usage | None:
    """The sum over models; None if there are no counts."""
    found = [usage_of(mapping(mapping(model).get("usage"))) for model in mapping(metrics).values()]
    stated = [used for used in found if used is not None]
    return sum(stated, Usage()) if stated else None


_EVENT_FIELDS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")


def _minus(one: Usage, other: Usage) -> Usage | None:
    rest = Usage(
        one.input - other.input,
        one.output - other.output,
        one.cache_read - other.cache_read,
        one.cache_write - other.cache_write,
        one.reasoning - other.reasoning,
    )
    return rest if min(rest.input, rest.output, rest.cache_read, rest.cache_write, rest.reasoning) >= 0 else None
