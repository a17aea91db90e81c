"""Reads OpenCode's sessions: recognises database, tree of files and export, and folds the rows of a session into its events.

A line holds one row: the session, then each message followed by its parts, then `end`. An export is taken apart into the rows
that the database would give. Knows nothing of how rows are stored: that is `storage.py`.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.databases import MAGIC
from preheat.agents.opencode import DATABASES, in_tree, storage
from preheat.agents.opencode.tools import kind_of, result_of
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, epoch_seconds, origin_of
from preheat.agents.reader import DatabasePart, Framing, Heading, Parser
from preheat.errors import SourceUnreadable
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Reasoning,
    Rewind,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)


# The state of the parser of OpenCode's rows, kept between two rows.
class Record(msgspec.Struct):
    """One line."""

    table: str = ""
    row: dict[str, Any] = {}


class OpenMessage(msgspec.Struct):
    """The message whose parts are being read."""

    line: int
    role: str = ""
    response: str = ""
    model: str = ""
    at: float | None = None
    last: int = 0
    """The line of its newest part so far."""
    steps: int = 0
    """The number of the model's responses in it so far: one in current versions, several in older ones."""
    is_summary: bool = False
    """It is a compaction's summary."""
    error: Any = None
    texts: list[str] = msgspec.field(default_factory=list, name="said")  # the name in stored states
    """The texts that the person wrote, or of the summary."""
    added_texts: list[str] = msgspec.field(default_factory=list, name="added")
    """The texts that the program added."""
    images: int = 0


class OpenCodeState(ParserState):
    message: OpenMessage | None = None
    created: float | None = None
    """When the session was created."""
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    """How many calls had each id: some models start counting again in each response."""
    responses: dict[str, int] = msgspec.field(default_factory=dict)
    trigger: str = ""
    """What started a compaction, until its summary is read."""
    context: int = 0
    """Tokens of the newest response, as the size of the context."""
    by_person: bool = False
    """The next call is a command that the person ran."""
    reverted: tuple[str, str] = ("", "")
    """The message and part from which on everything was reverted."""
    rewind: int | None = None


# The row of a session.
_UNTITLED = ("New session - ", "Child session - ")
_JSON = ("revert", "permission", "model", "metadata")


def info_of(row: dict[str, Any]) -> dict[str, Any]:
    """The session as an object, whether it was a row or an object already."""
    if "time" in row:
        return row
    info = {name: _decode(row.get(name)) if name in _JSON else value for name, value in row.items()}
    info["parentID"] = row.get("parent_id")
    info["time"] = {"created": row.get("time_created"), "updated": row.get("time_updated")}
    names = ("input", "output", "reasoning")
    cache = {name: row.get(f"tokens_cache_{name}") for name in ("read", "write")}
    info["tokens"] = {**{name: row.get(f"tokens_{name}") for name in names}, "cache": cache}
    return info


def fill_heading(heading: Heading, info: dict[str, Any]) -> None:
    """Fill a heading from a session's object."""
    time = mapping(info.get("time"))
    title = string(info.get("title"))
    heading.id = string(info.get("id"))
    heading.version = string(info.get("version"))
    heading.model = string(mapping(info.get("model")).get("id")) or heading.model
    heading.project = string(info.get("directory"))
    heading.title = "" if title.startswith(_UNTITLED) else title
    heading.parent = string(info.get("parentID")) or None
    heading.relation = "subagent" if heading.parent else None
    if heading.parent is None:
        heading.starter = "headless" if _denies_questions(info.get("permission")) else "human"
    used = usage_of(info.get("tokens"))
    heading.reported = used if used is not None and used.total else None
    heading.include_time(epoch_seconds(time.get("created")))
    heading.include_time(epoch_seconds(time.get("updated")))


def usage_of(value: object) -> Usage | None:
    """Tokens of a step or of a session. `output` is written without the reasoning, unless the total shows otherwise."""
    tokens = mapping(value)
    if not tokens:
        return None
    cache = mapping(tokens.get("cache"))
    reasoning, output = count(tokens.get("reasoning")), count(tokens.get("output"))
    used = Usage(
        count(tokens.get("input")), output, count(cache.get("read")), count(cache.get("write")), reasoning=reasoning
    )
    if reasoning and tokens.get("total") != used.total:
        used += Usage(output=reasoning)
    return used


def _denies_questions(permission: object) -> bool:
    # `opencode run` denies itself questions, because nobody is there to answer.
    return any(
        (mapping(rule).get("permission"), mapping(rule).get("action")) == ("question", "deny")
        for rule in sequence(permission)
    )


def _decode(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode_json(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return value


# The rows of one session, whether from the database, the tree of files or an export.
_RUN_BY_PERSON = "The following tool was executed by the user"
_FINISHED_STATES = ("completed", "error")
_OPEN_STATES = ("pending", "running")


class RowsParser(LinesParser[OpenCodeState, Record]):
    """Folds the lines of one session."""

    agent = "opencode"
    record_type = Record
    state_type = OpenCodeState

    def record(self, record: Record, line: int) -> None:
        if record.table == "session":
            self._take_session(record.row, line)
        elif record.table == "message":
            self._take_message(self._value_of(record, line), line)
        elif record.table == "part":
            self._take_part(self._value_of(record, line), line)
        elif record.table == "problem":
            self.add_problem(string(record.row.get("message")), line)
        elif record.table == "end":
            self._take_end(line)
        else:
            self.keep_record(record.table or "unknown", line)

    def _value_of(self, record: Record, line: int) -> dict[str, Any]:
        """The object in a row; in the database all of it but the ids is JSON in one column."""
        if "data" not in record.row:
            return record.row
        if not isinstance(record.row["data"], dict):
            self.add_problem(f"a {record.table} that is no JSON object; kept as it is", line)
        return {**mapping(record.row["data"]), "id": record.row.get("id")}

    def _add(self, event: Event) -> None:
        self.draft().events.append(event)

    # The session itself.
    def _take_session(self, row: dict[str, Any], line: int) -> None:
        info = info_of(row)
        fill_heading(self.draft().heading, info)
        self.state.created = epoch_seconds(mapping(info.get("time")).get("created"))
        revert = mapping(info.get("revert"))
        self.state.reverted = (string(revert.get("messageID")), string(revert.get("partID")))
        self.keep_record("session", line)

    def _take_end(self, line: int) -> None:
        self._close_message()
        if self.state.rewind is not None:
            self._add(Rewind(line=line, after=self.state.rewind))
            self.state.rewind = None

    # Messages.
    def _take_message(self, value: dict[str, Any], line: int) -> None:
        self._close_message()
        heading, time = self.draft().heading, mapping(value.get("time"))
        at, role = epoch_seconds(time.get("created")), string(value.get("role"))
        if at is not None and self.state.created is not None and at < self.state.created and not heading.parent:
            # The session begins with copies of another's messages; which one, and who made it, is not recorded.
            heading.relation, heading.starter = "fork", "unknown"
        else:
            heading.include_time(at)
            heading.include_time(epoch_seconds(time.get("completed")))
        message = OpenMessage(line, role if role in ("user", "assistant") else "", at=at, last=line)
        self.state.message = message
        if self.state.reverted == (value.get("id"), ""):
            self.state.rewind = line - 1
        if role == "assistant":
            # Not by the message's id, which is new in a fork: a copied response must keep its name.
            message.response = self._unique_name(
                self.state.responses, str(time.get("created") or value.get("id") or line)
            )
            message.model = string(value.get("modelID"))
            message.is_summary = bool(value.get("summary")) and "finish" in value and "error" not in value
            message.error = value.get("error")
            heading.model = heading.model or message.model
        elif role != "user":
            self.keep_record(f"message.{role}", line, at)

    def _unique_name(self, known: dict[str, int], name: str) -> str:
        known[name] = known.get(name, 0) + 1
        return name if known[name] == 1 else f"{name} {known[name]}"

    def _close_message(self) -> None:
        """Add the events that need a whole message: prompt, compaction, error."""
        message, self.state.message = self.state.message, None
        if message is None:
            return
        if message.role == "user":
            self._add_prompt(message)
        if message.is_summary:
            # The context before the compaction, without the summary's own response.
            before, text = self.state.context, "\n".join(message.texts)
            trigger, self.state.trigger = self.state.trigger, ""
            self._add(
                Compaction(
                    line=message.last, at=message.at, trigger=trigger, summary=text, tokens_before=before or None
                )
            )
        if message.error is not None:
            self._add(Other(line=message.last, at=message.at, name="error", raw=message.error))

    def _add_prompt(self, message: OpenMessage) -> None:
        # A subagent's prompt was written by the model that started it.
        by_program = self.draft().heading.relation == "subagent"
        text = "\n".join(message.texts)
        if text or message.images:
            origin = origin_of(text, by_program)
            self._add(UserMessage(line=message.line, at=message.at, text=text, origin=origin, images=message.images))
        for added in message.added_texts:
            self._add(UserMessage(line=message.line, at=message.at, text=added, origin=origin_of(added, injected=True)))

    # Parts of a message.
    def _take_part(self, value: dict[str, Any], line: int) -> None:
        message, kind = self.state.message, string(value.get("type"))
        if message is None or not message.role:
            self.keep_record(f"part.{kind}", line)
            return
        message.last = line
        if self.state.reverted[1] and self.state.reverted[1] == value.get("id"):
            self.state.rewind = line - 1
        if kind == "text":
            self._take_text(value, message, line)
        elif kind == "reasoning":
            at = epoch_seconds(mapping(value.get("time")).get("start")) or message.at
            self._add(Reasoning(line=line, at=at, text=string(value.get("text")), response=_response_name(message)))
        elif kind == "tool":
            self._take_tool(value, message, line)
        elif kind == "step-start":
            message.steps += 1  # the rest of it only names a snapshot of the files
        elif kind == "step-finish":
            self._take_step_finish(value, message, line)
        elif kind == "compaction":
            self.state.trigger = "auto" if value.get("auto") is True else "manual"
        elif kind == "file" and message.role == "user" and string(value.get("mime")).startswith("image/"):
            message.images += 1
        else:
            self.keep_record(kind or "part", line, message.at)

    def _take_text(self, value: dict[str, Any], message: OpenMessage, line: int) -> None:
        text = string(value.get("text"))
        if message.role != "user":
            if message.is_summary:
                message.texts.append(text)
            elif text:
                at = epoch_seconds(mapping(value.get("time")).get("start")) or message.at
                self._add(
                    AssistantMessage(line=line, at=at, text=text, response=_response_name(message), model=message.model)
                )
        elif value.get("ignored") is True:
            self.keep_record("ignored", line, message.at)  # shown to the person, never sent
        elif value.get("synthetic") is True:
            message.added_texts.append(text)
            self.state.by_person = text == _RUN_BY_PERSON
        else:
            message.texts.append(text)

    def _take_step_finish(self, value: dict[str, Any], message: OpenMessage, line: int) -> None:
        used = usage_of(value.get("tokens"))
        if used is None:
            self.keep_record("step-finish", line, message.at)
            return
        if not message.is_summary:
            self.state.context = used.total
        self._add(
            AssistantMessage(
                line=line, at=message.at, text="", response=_response_name(message), model=message.model, usage=used
            )
        )

    def _take_tool(self, value: dict[str, Any], message: OpenMessage, line: int) -> None:
        state, tool = mapping(value.get("state")), string(value.get("tool"))
        time, status = mapping(state.get("time")), state.get("status")
        started, ended = epoch_seconds(time.get("start")), epoch_seconds(time.get("end"))
        call_id = self._unique_name(
            self.state.calls, string(value.get("callID")) or string(value.get("id")) or f"line {line}"
        )
        call_input = state.get("input") or state.get("raw")  # incomplete while it is still being written
        self._add(
            ToolCall(
                line=line, at=started or message.at, call_id=call_id, tool=tool, kind=kind_of(tool),
                input=arguments_of(call_input), response=_response_name(message),
            )
        )  # fmt: skip
        metadata = mapping(state.get("metadata"))
        child = string(metadata.get("sessionId")) or string(metadata.get("sessionID"))
        if child and kind_of(tool) == "delegate":
            self._add(Spawn(line=line, at=started, session=child, call_id=call_id))
        if status in _FINISHED_STATES:
            duration = (
                round(ended - started, 3) if ended is not None and started is not None and ended >= started else None
            )
            self._add_result(tool, state, call_id, line, ended or started or message.at, duration)
            self.draft().heading.include_time(ended if self.draft().heading.relation != "fork" else None)
        elif status not in _OPEN_STATES:
            self.keep_record("tool", line, message.at)

    def _add_result(
        self, tool: str, state: dict[str, Any], call_id: str, line: int, at: float | None, duration: float | None
    ) -> None:
        facts = result_of(tool, state)
        if self.state.by_person:
            facts.detail["by_person"] = True
            self.state.by_person = False
        self._add(
            ToolResult(
                line=line, at=at, call_id=call_id, text=facts.text, is_error=facts.is_error, exit_code=facts.exit_code,
                seconds=duration, detail=facts.detail,
            )
        )  # fmt: skip
        if facts.added:
            self._add(UserMessage(line=line, at=at, text=facts.added, origin=origin_of(facts.added, injected=True)))


def _response_name(message: OpenMessage) -> str:
    return message.response if message.steps < 2 else f"{message.response}.{message.steps}"


# The documents that `opencode export` writes, as the rows that the database would give.
class DocumentParser(RowsParser):
    """Reads one document as one session; each message and part counts as a line."""

    def feed(self, block: bytes, line: int) -> None:
        try:
            document = decode_json(block)
        except (ValueError, RecursionError) as error:
            self.add_problem(f"not a whole JSON document ({str(error)[:120]})", line)
            return
        if not isinstance(mapping(document).get("info"), dict) or not isinstance(document.get("messages"), list):
            self.add_problem("an exported session without `info` and `messages`", line)
            return
        for number, (table, row) in enumerate(_rows(document), line):
            self._value = {"table": table, "row": row}
            if isinstance(row, dict):
                self._fold_safely(Record(table, row), number)
            else:
                self.add_problem(f"a {table} that is no object; kept as it is", number)
                self.keep_record(table, number)
        self._value = None

    def save(self) -> bytes | None:
        return None


def _rows(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "session", document["info"]
    for message in document["messages"]:
        yield "message", mapping(message).get("info")
        for part in sequence(mapping(message).get("parts")):
            yield "part", part
    yield "end", {}


_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')
_SESSION = re.compile(rb'\s*\{[^{}]{0,400}?"id"\s*:\s*"ses_')


class OpenCodeReader:
    """Reads `opencode.db`, the older tree and exported sessions."""

    agent = "opencode"

    def framing(self, path: str) -> Framing:
        # Exports come under any name, also as `.jsonl`; a session of the tree is spread over many files.
        return "database" if path.endswith(DATABASES) or in_tree(path) else "document"

    def detect(self, head: bytes, path: str) -> bool:
        if path.endswith(DATABASES):
            try:
                # The tables may still be in the log beside the file, so its first bytes are not enough.
                return head.startswith(MAGIC) and storage.is_opencode_database(path)
            except SourceUnreadable:
                return os.path.basename(path).startswith("opencode")
        return bool((_SESSION if in_tree(path) else _EXPORT).match(head))

    def parser(self, path: str, part: str = "") -> Parser:
        return DocumentParser(path) if self.framing(path) == "document" else RowsParser(path)

    def parts(self, path: str) -> list[DatabasePart]:
        return storage.list_tree(path) if in_tree(path) else storage.list_database(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return storage.dump_tree(path, part) if in_tree(path) else storage.dump_database(path, part)


READER = OpenCodeReader()
