"""The records of a Claude Code transcript as far as they are read, and values in them: ids, texts, tokens, details.

Every field may be missing: the format is not promised. Knows nothing of the order of a conversation.
"""

from datetime import datetime
from typing import Any

import msgspec

from preheat.model.session import Usage, number_of_id


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


class CacheCreation(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: int | None = 0


class Tokens(msgspec.Struct, gc=False):
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation: CacheCreation | None = None


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


# Values in records.
def short_id(name: str) -> int:
    """An id as a number made of both halves of a uuid, because either half may be the same for many records."""
    try:
        return int(name[:8] + name[9:13] + name[14:18], 16) ^ int(name[19:23] + name[24:], 16)
    except ValueError:
        return number_of_id(name) & 0x7FFFFFFFFFFFFFFF


def child_id(session: str, agent: str) -> str:
    """The id of a subagent's session: parent and name, because the name is unique only within the parent."""
    return f"{session.partition(':')[0]}:agent-{agent}"


def usage_of(message: Message) -> Usage | None:
    tokens = message.usage
    if tokens is None or message.model.startswith("<"):
        return None
    return Usage(
        tokens.input_tokens or 0,
        tokens.output_tokens or 0,
        tokens.cache_read_input_tokens or 0,
        tokens.cache_creation_input_tokens or 0,
        cache_write_hour=tokens.cache_creation.ephemeral_1h_input_tokens or 0 if tokens.cache_creation else 0,
    )


def text_of(content: str | list[Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content or () if block.text)


def detail_of(record: Record, outcome: object) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if record.toolDenialKind:
        detail["denial"] = record.toolDenialKind
    if isinstance(outcome, ToolOutcome):
        for name in (
            "interrupted", "returnCodeInterpretation", "backgroundTaskId", "timedOutAfterMs", "persistedOutputPath",
            "agentId", "agentType", "status", "success", "userModified",
        ):  # fmt: skip
            value = getattr(outcome, name)
            if value is not None and value is not False:
                detail[name] = value
        if outcome.success is False:
            detail["success"] = False
    elif isinstance(outcome, str) and outcome.startswith("Error"):
        detail["error"] = True
    return detail
