"""Folds the lines that `database.dump` wrote of one conversation in Cursor's editor into its events.

Best effort: the form is the editor's own affair and changes without notice. A bubble is one message, one thought or one call
together with its result; members that are JSON come as objects or as text. Knows nothing of the database.
"""

from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, count, mapping, sequence, string
from preheat.agents.cursor.results import arguments_of_call, result_of
from preheat.agents.cursor.tools import SPAWN_TOOLS, kind_of
from preheat.agents.parsing import LinesParser, ParserState, epoch_seconds, origin_of
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

_USER, _ASSISTANT = 1, 2


class ComposerLine(msgspec.Struct):
    """One line of a dumped conversation."""

    table: str = ""
    row: dict[str, Any] = {}


class ComposerState(ParserState):
    joiner: CallMatcher = msgspec.field(default_factory=CallMatcher)
    seen: set[str] = msgspec.field(default_factory=set)


class ComposerParser(LinesParser[ComposerState, ComposerLine]):
    """Folds one conversation."""

    agent = "cursor"
    record_type = ComposerLine
    state_type = ComposerState

    def record(self, record: ComposerLine, line: int) -> None:
        if record.table == "composer":
            self._composer(record.row, line)
        elif record.table == "bubble":
            self._bubble(record.row, line)
        else:
            self.keep_record(record.table or "unknown", line)

    def _composer(self, row: dict[str, Any], line: int) -> None:
        heading = self.draft().heading
        heading.id = string(row.get("composerId")) or heading.id
        heading.title = string(row.get("name"))
        model = string(mapping(row.get("modelConfig")).get("modelName"))
        heading.model = "" if model == "default" else model
        heading.branch = string(row.get("createdOnBranch"))
        heading.project = _path(mapping(mapping(row.get("workspaceIdentifier")).get("uri")))
        heading.include_time(epoch_seconds(row.get("createdAt")))
        heading.include_time(epoch_seconds(row.get("lastUpdatedAt")))
        heading.starter = "human"
        parent = string(mapping(row.get("subagentInfo")).get("parentComposerId"))
        if parent:
            heading.parent, heading.relation, heading.starter = parent, "subagent", "unknown"
        if "unreadable" in row:
            self.add_problem("the conversation's own record is no JSON object; kept as it is", line)
        self.draft().events.append(Other(line=line, name="composer", raw=row))

    # Bubbles.
    def _bubble(self, row: dict[str, Any], line: int) -> None:
        name = string(row.get("bubbleId")) or f"line {line}"
        if name in self.state.seen:
            return  # the headers name it twice
        self.state.seen.add(name)
        if "missing" in row or "unreadable" in row:
            what = "is not there" if "missing" in row else "is no JSON object; kept as it is"
            self.add_problem(f"message `{name}` {what}", line)
            self.keep_record("bubble", line)
            return
        heading = self.draft().heading
        at = epoch_seconds(row.get("createdAt"))
        heading.include_time(at)
        places = [string(uri) for uri in sequence(row.get("workspaceUris"))]
        heading.project = heading.project or next((_path({"external": uri}) for uri in places if uri), "")
        if row.get("type") == _USER:
            self._user(row, line, at)
        elif row.get("type") == _ASSISTANT:
            self._assistant(row, name, line, at)
        else:
            self.keep_record("bubble", line, at)

    def _user(self, row: dict[str, Any], line: int, at: float | None) -> None:
        text = string(row.get("text"))
        injected = self.draft().heading.relation == "subagent"
        images = len(sequence(row.get("images")))
        self.draft().events.append(
            UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected), images=images)
        )

    def _assistant(self, row: dict[str, Any], name: str, line: int, at: float | None) -> None:
        draft = self.draft()
        before = len(draft.events)
        thinking = row.get("thinking")
        if thinking:
            text = string(mapping(thinking).get("text")) or string(thinking)
            draft.events.append(Reasoning(line=line, at=at, text=text, response=name))
        model = string(mapping(row.get("modelInfo")).get("modelName"))
        model = "" if model == "default" else model
        draft.heading.model = model or draft.heading.model
        usage = _usage(row.get("tokenCount"))
        text = string(row.get("text"))
        if text or usage is not None:
            draft.events.append(AssistantMessage(line=line, at=at, text=text, response=name, model=model, usage=usage))
        former = row.get("toolFormerData")
        if isinstance(former, dict) and (former.get("name") or former.get("tool")):
            self._call(former, name, line, at)
        if len(draft.events) == before:
            self.keep_record("bubble", line, at)

    def _call(self, former: dict[str, Any], name: str, line: int, at: float | None) -> None:
        tool = string(former.get("name")) or f"tool {former.get('tool')}"
        requested = RequestedCall(string(former.get("toolCallId")) or name, tool, arguments_of_call(former))
        call_id = self.state.joiner.open_call(requested, name)
        draft = self.draft()
        draft.events.append(
            ToolCall(
                line=line, at=at, call_id=call_id, tool=tool, kind=kind_of(tool), input=requested.input, response=name
            )
        )
        ending = result_of(former)
        if ending is None:
            return  # still running, or its end was not recorded
        draft.events.append(
            ToolResult(
                line=line,
                at=at,
                call_id=call_id,
                text=ending.text,
                is_error=ending.is_error,
                exit_code=ending.exit_code,
                detail=ending.detail,
            )
        )
        if ending.spawned_session and tool in SPAWN_TOOLS:
            draft.events.append(Spawn(line=line, at=at, session=ending.spawned_session, call_id=call_id))


def _usage(value: object) -> Usage | None:
    stated = mapping(value)
    usage = Usage(input=count(stated.get("inputTokens")), output=count(stated.get("outputTokens")))
    return usage if usage.total else None


def _path(uri: dict[str, Any]) -> str:
    """The folder of a URI as the editor stores it."""
    if path := string(uri.get("fsPath")):
        return path
    external = string(uri.get("external"))
    try:
        parts = urlsplit(external)
    except ValueError:
        return ""
    return unquote(parts.path) if parts.scheme == "file" else external
