"""The fields of a session's events, as far as they are read.

Knows nothing of what they mean. Everything is optional and of any type: there are about a hundred kinds, and fields come
and go. Fields not named here (telemetry, quotas, copies of what hooks were given) are skipped at native speed.
"""

from typing import Any

import msgspec


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
