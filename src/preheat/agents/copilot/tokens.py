"""Copilot CLI's token statements, each token counted once.

New versions write a record for each response and, at the end, totals for the whole session, which include what the session
used before it was resumed. Older ones only said the output of each response and gave the rest in the totals. Knows nothing
of other events.
"""

from typing import Any

import msgspec

from preheat.agents.chat import count, mapping
from preheat.agents.copilot.records import Data
from preheat.model.session import Usage


class Tally(msgspec.Struct):
    """What one session (or subagent) has stated so far, by response."""

    stated: dict[str, Usage] = msgspec.field(default_factory=dict)
    closed: Usage = msgspec.field(default_factory=Usage)
    """How much there was when totals were last given."""

    def take(self, response: str, used: Usage) -> Usage | None:
        """Take what a response used; None if that is nothing new."""
        before = self.stated.get(response)
        if before is not None and before.total >= used.total:
            return None
        self.stated[response] = used
        return used

    @property
    def total(self) -> Usage:
        return sum(self.stated.values(), Usage())

    def close(self, totals: Usage, others: Usage) -> Usage | None:
        """Take the totals at the end; what they hold beyond what was stated, or None if they do not fit.

        `others` is what subagents stated, where the totals are not told apart by agent. Versions that began from nought
        at a resume are known by totals smaller than what was stated.
        """
        for before in (Usage(), self.closed):
            rest = _minus(totals + before, self.total + others)
            if rest is not None:
                self.closed = self.total + rest
                return rest
        return None


def usage_of(fields: dict[str, Any]) -> Usage | None:
    """A block of tokens in Preheat's terms: what touched the cache stands outside the input."""
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
    """Of `assistant.usage`, whose fields stand bare."""
    return usage_of(
        {name: value for name in _BARE if (value := getattr(data, name)) is not None},
    )


def totals_of(metrics: object) -> Usage | None:
    """The sum over models; None if nothing is stated."""
    found = [usage_of(mapping(mapping(model).get("usage"))) for model in mapping(metrics).values()]
    stated = [used for used in found if used is not None]
    return sum(stated, Usage()) if stated else None


_BARE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")


def _minus(one: Usage, other: Usage) -> Usage | None:
    rest = Usage(
        one.input - other.input,
        one.output - other.output,
        one.cache_read - other.cache_read,
        one.cache_write - other.cache_write,
        one.reasoning - other.reasoning,
    )
    return rest if min(rest.input, rest.output, rest.cache_read, rest.cache_write, rest.reasoning) >= 0 else None
