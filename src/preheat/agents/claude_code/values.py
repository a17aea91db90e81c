"""Small things that Claude Code's records say: ids, texts, tokens, and what the program noted of a result."""

from typing import Any

from preheat.agents.claude_code.records import Block, Message, Record, ToolOutcome
from preheat.model.ids import number_of_id
from preheat.model.session import Usage


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
