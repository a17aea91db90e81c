"""Turns a session into the rows that the archive stores of it.

Knows nothing of files or of the database. The rows are an index; the session itself stays in the archive as it was.
"""

from functools import cache
from typing import Any

from preheat.archive.packing import pack_passages
from preheat.archive.rows import CallRow, Passage, ResponseRow, ResultRow, SessionRows
from preheat.calls.summary import LONGEST_SUMMARY, flatten, summarise
from preheat.model.ids import number_of_id
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

LONGEST_PASSAGE = 32 * 1024
"""Characters of a text that are searchable; the archive keeps all of it."""


def make_session_rows(session: Session) -> SessionRows:
    """The rows of a session, or of its growth."""
    calls: list[CallRow] = []
    index_by_call: dict[str, int] = {}
    late: list[ResultRow] = []
    responses: dict[str, ResponseRow] = {}
    passages: list[Passage] = []
    opening = ""
    numbered = cache(number_of_id)  # the calls of a response come together
    counts = dict.fromkeys(("events", "prompts", "messages", "calls", "errors", "compactions"), 0)
    counts["events"] = len(session.events)
    for event in session.events:
        if isinstance(event, AssistantMessage):
            if event.text:
                counts["messages"] += 1
                passages.append(Passage(event.line, "assistant", event.text[:LONGEST_PASSAGE]))
            if event.usage is not None:
                responses[event.response or f"line {event.line}"] = _response(event, event.usage)
        elif isinstance(event, ToolCall):
            counts["messages"] += 1
            summary = summarise(event.input)
            if event.kind == "shell":
                passages.append(Passage(event.line, "command", whole_command(event.input)[:LONGEST_PASSAGE]))
            index_by_call.setdefault(event.call_id, len(calls))
            calls.append(
                CallRow(
                    event.call_id, event.line, numbered(event.response), event.tool, event.kind,
                    summary[:LONGEST_SUMMARY], event.at,
                )
            )  # fmt: skip
        elif isinstance(event, ToolResult):
            counts["messages"] += 1
            counts["errors"] += event.is_error is True or bool(event.exit_code)
            _add_result(event, calls, index_by_call, late)
        elif isinstance(event, UserMessage):
            if event.origin == "human":
                counts["prompts"] += 1
                counts["messages"] += 1
                opening = opening or event.text[:LONGEST_SUMMARY]
                passages.append(Passage(event.line, "human", event.text[:LONGEST_PASSAGE]))
        elif isinstance(event, Compaction):
            counts["compactions"] += 1
    counts["calls"] = len(calls)
    heading = {
        name: getattr(session, name)
        for name in (
            "version", "model", "project", "branch", "parent", "relation", "started_at", "ended_at", "starter", "title",
        )
    }  # fmt: skip
    return SessionRows(
        session.id, heading, opening, counts, calls, late, list(responses.values()), passages, pack_passages(passages)
    )


def _response(event: AssistantMessage, usage: Usage) -> ResponseRow:
    return ResponseRow(
        number_of_id(event.response or f"line {event.line}"), event.model, event.at, usage.input, usage.output, usage.cache_read,
        usage.cache_write, usage.reasoning,
    )  # fmt: skip


def _add_result(result: ToolResult, calls: list[CallRow], index_by_call: dict[str, int], late: list[ResultRow]) -> None:
    size = len(result.text)
    index = index_by_call.get(result.call_id)
    if index is None:
        late.append(ResultRow(result.at, result.is_error, result.exit_code, size, result.call_id))
    elif calls[index].output_size is None:
        calls[index] = calls[index]._replace(
            ended_at=result.at, is_error=result.is_error, exit_code=result.exit_code, output_size=size
        )


def whole_command(arguments: dict[str, Any]) -> str:
    """The command of a shell call, as it was typed."""
    for name in ("command", "cmd", "commands", "script"):
        value = arguments.get(name)
        if value:
            return value if isinstance(value, str) else flatten(value)
    return summarise(arguments)
