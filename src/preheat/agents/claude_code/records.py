"""The records of a Claude Code transcript, as far as they are read. Every field may be missing: the format is not promised.

Knows nothing of what the records mean.
"""

from datetime import datetime
from typing import Any

import msgspec


class Block(msgspec.Struct, gc=False):
    """A block of a message's content."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: "str | list[Block] | None" = None
    is_error: bool | None = None


class Tokens(msgspec.Struct, gc=False):
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0


class Message(msgspec.Struct, gc=False):
    id: str = ""
    model: str = ""
    content: str | list[Block] | None = None
    usage: Tokens | None = None


class ToolOutcome(msgspec.Struct, gc=False):
    """What the program itself recorded of a result, beside the text that the model saw."""

    interrupted: bool | None = None
    returnCodeInterpretation: str | None = None  # noqa: N815 - the transcript's own names
    backgroundTaskId: str | None = None  # noqa: N815
    timedOutAfterMs: float | None = None  # noqa: N815
    persistedOutputPath: str | None = None  # noqa: N815
    exitCode: int | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    agentType: str | None = None  # noqa: N815
    status: Any = None
    success: bool | None = None
    userModified: bool | None = None  # noqa: N815
    durationMs: float | None = None  # noqa: N815
    totalDurationMs: float | None = None  # noqa: N815
    noOutputExpected: bool | None = None  # noqa: N815


class Attachment(msgspec.Struct, gc=False):
    type: str = ""
    prompt: str | list[Block] | None = None
    commandMode: str | None = None  # noqa: N815


class Progress(msgspec.Struct, gc=False):
    type: str = ""
    agentId: str | None = None  # noqa: N815


class CompactMetadata(msgspec.Struct, gc=False):
    trigger: str = ""
    preTokens: int | None = None  # noqa: N815


class Forked(msgspec.Struct, gc=False):
    sessionId: str = ""  # noqa: N815


class Source(msgspec.Struct, gc=False):
    kind: str = ""


class Record(msgspec.Struct, gc=False):
    """One line."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    isSidechain: bool = False  # noqa: N815
    isMeta: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    isApiErrorMessage: bool | None = None  # noqa: N815
    timestamp: datetime | None = None
    cwd: str | None = None
    version: str | None = None
    gitBranch: str | None = None  # noqa: N815
    entrypoint: str | None = None
    origin: Source | str | None = None
    message: Message | str | None = None
    toolUseResult: ToolOutcome | str | list[msgspec.Raw] | None = None  # noqa: N815
    toolDenialKind: str | None = None  # noqa: N815
    parentToolUseID: str | None = None  # noqa: N815
    attachment: Attachment | None = None
    data: Progress | None = None
    compactMetadata: CompactMetadata | None = None  # noqa: N815
    forkedFrom: Forked | None = None  # noqa: N815
    summary: str | None = None
    customTitle: str | None = None  # noqa: N815
    aiTitle: str | None = None  # noqa: N815
