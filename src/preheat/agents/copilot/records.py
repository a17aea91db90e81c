"""The fields of Copilot CLI's events, and its token counts with each token counted once.

Knows nothing of the order of events. Every field is optional and of any type: there are about a hundred kinds, and fields come
and go. Fields not named here (telemetry, quotas, copies of what hooks were given) are skipped at native speed.
"""

from typing import Any

import msgspec

from preheat.agents.chat import count, mapping
from preheat.model.session import Usage


class Data(msgspec.Struct):
    """The content of an event; one class for all kinds."""

    # The session.
    sessionId: Any = None  # noqa: N815 - as the program writes it
    copilotVersion: Any = None  # noqa: N815
    startTime: Any = None  # noqa: N815
    selectedModel: Any = None  # noqa: N815
    newModel: Any = None  # noqa: N815
    context: Any = None
    branch: Any = None
    title: Any = None
    detachedFromSpawningParentSessionId: Any = None  # noqa: N815
    # Messages.
    content: Any = None
    role: Any = None
    source: Any = None
    attachments: Any = None
    isAutopilotContinuation: Any = None  # noqa: N815
    kind: Any = None
    messageId: Any = None  # noqa: N815
    apiCallId: Any = None  # noqa: N815
    model: Any = None
    toolRequests: Any = None  # noqa: N815
    reasoningText: Any = None  # noqa: N815
    reasoningOpaque: Any = None  # noqa: N815
    encryptedContent: Any = None  # noqa: N815
    outputTokens: Any = None  # noqa: N815
    parentToolCallId: Any = None  # noqa: N815
    # Calls.
    toolCallId: Any = None  # noqa: N815
    toolName: Any = None  # noqa: N815
    arguments: Any = None
    success: Any = None
    result: Any = None
    error: Any = None
    permissionRequest: Any = None  # noqa: N815
    shellExecution: Any = None  # noqa: N815
    toolTelemetry: Any = None  # noqa: N815
    hookType: Any = None  # noqa: N815
    output: Any = None
    # Tokens.
    usage: Any = None
    inputTokens: Any = None  # noqa: N815
    cacheReadTokens: Any = None  # noqa: N815
    cacheWriteTokens: Any = None  # noqa: N815
    reasoningTokens: Any = None  # noqa: N815
    compactionTokensUsed: Any = None  # noqa: N815
    modelMetrics: Any = None  # noqa: N815
    agentMetrics: Any = None  # noqa: N815
    # Compactions and rewinds.
    summaryContent: Any = None  # noqa: N815
    preCompactionTokens: Any = None  # noqa: N815
    preTruncationTokensInMessages: Any = None  # noqa: N815
    trigger: Any = None
    upToEventId: Any = None  # noqa: N815
    eventsRemoved: Any = None  # noqa: N815
    # Subagents.
    agentDisplayName: Any = None  # noqa: N815
    agentName: Any = None  # noqa: N815
    parentId: Any = None  # noqa: N815


class Line(msgspec.Struct):
    """One event."""

    type: str = ""
    data: Data | None = None
    id: Any = None
    timestamp: Any = None
    agentId: Any = None  # noqa: N815
    ephemeral: Any = None


# Copilot CLI's token counts, each token counted once.
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
