"""The conversations in Cursor's `state.vscdb`, read-only: listed, written out as lines, and these lines folded into events.

One table of keys and JSON values holds everything: `composerData:<id>` is a conversation, whose headers give the order, and
`bubbleId:<id>:<bubble>` is one message, one thought or one call with its result. Bubbles that no header names were taken back
and are skipped. A line is `{"table": name, "row": members}`: first the composer, then its bubbles. The editor changes this
form without notice, so members may be objects or JSON text. Knows nothing of the transcripts.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, count, mapping, sequence, string
from preheat.agents.cursor.tools import SPAWN_TOOLS, arguments_of_call, kind_of, result_of
from preheat.agents.databases import decode_text, digest_of, line_of, open_read_only, rows
from preheat.agents.parsing import LinesParser, ParserState, decode_json, epoch_seconds, origin_of
from preheat.agents.reader import DatabasePart
from preheat.errors import SourceUnreadable
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

TABLE = "cursorDiskKV"
_COMPOSER = "composerData:"
_BUBBLE = "bubbleId:"
_INLINE = '"conversation":[{'
"""Found in records of the first versions, which hold the messages themselves."""
_FACTS = 3
_LEFT_OUT = frozenset(
    [
        # Dumped one by one, or not sent yet.
        "conversation", "conversationMap", "fullConversationHeadersOnly", "capabilities", "richText",
        # Copies of files, of the screen and of the context: large, and no messages.
        "originalFileStates", "codeBlockData", "context", "conversationState", "attachedCodeChunks", "codebaseContextChunks",
        "attachedFileCodeChunksMetadataOnly", "recentlyViewedFiles", "currentFileLocationData", "projectLayouts",
        "ideEditorsState", "suggestedCodeBlocks", "assistantSuggestedDiffs", "gitDiffs", "diffHistories", "fileDiffTrajectories",
        "intermediateChunks", "approximateLintErrors", "lints", "allThinkingBlocks", "supportedTools",
    ]
)  # fmt: skip


def is_cursor_database(path: str) -> bool:
    """Whether a database has Cursor's table. Raises SourceUnreadable."""
    with open_read_only(path) as database:
        return _has_table(database)


def parts(path: str) -> list[DatabasePart]:
    """The conversations, each with a stamp of its row numbers: every write of a row gives it a new number."""
    with open_read_only(path) as database:
        _require_table(database)
        known: dict[str, list[Any]] = {}
        query = (
            f"SELECT key, rowid, length(value), instr(value, '{_INLINE}') > 0"  # noqa: S608
            f" FROM {TABLE} WHERE key >= ? AND key < ?"
        )
        for row in rows(database, query, *_key_range(_COMPOSER)):
            known[decode_text(row[0])[len(_COMPOSER) :]] = [*row[1:]]
        # Answered from the index alone: the values are what makes these databases large.
        query = f"SELECT key, rowid FROM {TABLE} WHERE key >= ? AND key < ? ORDER BY key"  # noqa: S608
        for row in rows(database, query, *_key_range(_BUBBLE)):
            facts = known.get(decode_text(row[0])[len(_BUBBLE) :].partition(":")[0])
            if facts is not None:
                facts.append(row[1])
    # The editor creates an empty conversation whenever somebody opens the panel: these are left out.
    return [DatabasePart(name, digest_of(facts)) for name, facts in known.items() if len(facts) > _FACTS or facts[2]]


def dump(path: str, part: str) -> Iterator[bytes]:
    """One conversation's rows as lines, all from the same point in time."""
    with open_read_only(path) as database:
        _require_table(database)
        composer = _read_value(database, f"{_COMPOSER}{part}")
        composer_fields = mapping(composer)
        row = {"composerId": part, **_without_empty(composer_fields)}
        row.pop("text", None)  # typed but not sent
        if not isinstance(composer, dict):
            row["unreadable"] = composer
        yield line_of("composer", row)
        older = _older_tools(composer_fields)
        inline = [mapping(bubble) for bubble in sequence(composer_fields.get("conversation"))]
        headers = [mapping(header) for header in sequence(composer_fields.get("fullConversationHeadersOnly"))]
        stored = (_read_bubble(database, part, string(header.get("bubbleId"))) for header in headers)
        for bubble in inline or stored:
            name = string(bubble.get("bubbleId"))
            if "toolFormerData" not in bubble and name in older:
                bubble = {**bubble, "toolFormerData": older[name]}
            yield line_of("bubble", _without_empty(bubble))


def _read_bubble(database: sqlite3.Connection, part: str, name: str) -> dict[str, Any]:
    value = _read_value(database, f"{_BUBBLE}{part}:{name}")
    if isinstance(value, dict):
        return {"bubbleId": name, **value}
    return {"bubbleId": name, "unreadable": value} if value is not None else {"bubbleId": name, "missing": True}


def _read_value(database: sqlite3.Connection, key: str) -> Any:
    row = rows(database, f"SELECT value FROM {TABLE} WHERE key = ?", key).fetchone()  # noqa: S608
    if row is None or row[0] is None:
        return None
    value = decode_text(row[0])
    try:
        return decode_json(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return value


def _without_empty(row: dict[str, Any]) -> dict[str, Any]:
    """The members of a row that hold something; most of a bubble's are empty or refer to other rows."""
    return {
        name: value
        for name, value in row.items()
        if name not in _LEFT_OUT and not name.endswith("EncryptionKey") and value not in (None, "", [], {})
    }


def _older_tools(composer: dict[str, Any]) -> dict[str, Any]:
    """Tool calls by bubble, which the first version kept beside the bubbles."""
    found: dict[str, Any] = {}
    for capability in sequence(composer.get("capabilities")):
        bubbles = mapping(mapping(capability).get("data")).get("bubbleDataMap")
        if isinstance(bubbles, str):
            try:
                bubbles = decode_json(bubbles.encode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
        found.update(mapping(bubbles))
    return found


def _key_range(prefix: str) -> tuple[str, str]:
    """The range of keys that begin with a prefix, which the database finds by its index."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _has_table(database: sqlite3.Connection) -> bool:
    return {"key", "value"} <= {row[1] for row in rows(database, f"PRAGMA table_info({TABLE})")}


def _require_table(database: sqlite3.Connection) -> None:
    if not _has_table(database):
        raise SourceUnreadable(f"it is no Cursor database that Preheat can read: it has no table `{TABLE}`")


# The lines of one conversation, as `dump` wrote them, folded into events.
_USER, _ASSISTANT = 1, 2


class ComposerLine(msgspec.Struct):
    """One line of a dumped conversation."""

    table: str = ""
    row: dict[str, Any] = {}


class ComposerState(ParserState):
    matcher: CallMatcher = msgspec.field(default_factory=CallMatcher, name="joiner")  # the name in stored states
    seen: set[str] = msgspec.field(default_factory=set)


class ComposerParser(LinesParser[ComposerState, ComposerLine]):
    """Folds one conversation."""

    agent = "cursor"
    record_type = ComposerLine
    state_type = ComposerState

    def record(self, record: ComposerLine, line: int) -> None:
        if record.table == "composer":
            self._take_composer(record.row, line)
        elif record.table == "bubble":
            self._take_bubble(record.row, line)
        else:
            self.keep_record(record.table or "unknown", line)

    def _take_composer(self, row: dict[str, Any], line: int) -> None:
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
    def _take_bubble(self, row: dict[str, Any], line: int) -> None:
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
            self._take_user(row, line, at)
        elif row.get("type") == _ASSISTANT:
            self._take_assistant(row, name, line, at)
        else:
            self.keep_record("bubble", line, at)

    def _take_user(self, row: dict[str, Any], line: int, at: float | None) -> None:
        text = string(row.get("text"))
        injected = self.draft().heading.relation == "subagent"
        images = len(sequence(row.get("images")))
        self.draft().events.append(
            UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected), images=images)
        )

    def _take_assistant(self, row: dict[str, Any], name: str, line: int, at: float | None) -> None:
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
            self._add_call(former, name, line, at)
        if len(draft.events) == before:
            self.keep_record("bubble", line, at)

    def _add_call(self, former: dict[str, Any], name: str, line: int, at: float | None) -> None:
        tool = string(former.get("name")) or f"tool {former.get('tool')}"
        requested = RequestedCall(string(former.get("toolCallId")) or name, tool, arguments_of_call(former))
        call_id = self.state.matcher.open_call(requested, name)
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
