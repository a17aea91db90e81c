"""Reads Gemini CLI's sessions: the journal, and the single document that older versions rewrote whole.

A journal holds metadata, messages that may come again in a newer version, `$set` and `$rewindTo`. Events are only ever added:
of a newer version of a message only the new part becomes events. Knows nothing of where the records come from.
"""

import os
import re
from typing import Any
from zlib import crc32

import msgspec

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.gemini.records import (
    CONTEXT,
    SNAPSHOT,
    folder_in,
    parts_of_kind,
    split_user_text,
    texts_of,
    thought_text,
    thoughts_in,
    usage_of,
)
from preheat.agents.gemini.tools import ENDED_STATUSES, RecordedResult, kind_of, result_of
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, epoch_seconds, origin_of
from preheat.agents.reader import Framing, Parser
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

_KNOWN_METADATA = frozenset(
    ("sessionId", "projectHash", "startTime", "lastUpdated", "kind", "directories", "summary", "messages")
)
_WORKING_FOLDER = re.compile(r"\[current working directory ([^\]\n]{1,1000})\]")
_HASH = re.compile(r"[0-9a-f]{64}")


class SeenMessage(msgspec.Struct):
    """What of a message has become events so far."""

    line: int
    length: int = 0
    mark: int = 0
    """Checksum of the text so far: of a newer version only the text beyond it is new."""
    thoughts: int = 0
    usage: Usage | None = None


class SeenCall(msgspec.Struct):
    """A call that has become an event, and its message."""

    own: str
    message: str
    tool: str
    ended: bool = False


class JournalState(ParserState):
    messages: dict[str, SeenMessage] = msgspec.field(default_factory=dict)
    """Every message so far that was not rewound, oldest first. A `$set` that leaves some out removes none: the program writes
    such when it resumes, and the next record has all of them again."""
    calls: dict[str, SeenCall] = msgspec.field(default_factory=dict)
    """Calls by the program's id; the newest one where an id was used twice."""
    used: set[str] = msgspec.field(default_factory=set)
    subagent: bool = False


class JournalParser(LinesParser[JournalState, dict[str, Any]]):
    """Folds one session's records."""

    agent = "gemini"
    record_type = dict[str, Any]
    state_type = JournalState

    def __init__(self, path: str) -> None:
        super().__init__(path)
        folder, name = os.path.split(path.replace("\\", "/"))
        self._stem = name.partition(".")[0]
        above, inside = os.path.split(folder)
        self._parent = inside if os.path.basename(above) == "chats" else ""
        chats = above if self._parent else folder
        project = os.path.basename(os.path.dirname(chats)) if os.path.basename(chats) == "chats" else ""
        self._project = "" if _HASH.fullmatch(project) else project

    def record(self, record: dict[str, Any], line: int) -> None:
        if isinstance(record.get("$rewindTo"), str):
            self._add_rewind(record, line)
        elif isinstance(record.get("id"), str) and record["id"]:
            self.read_message(record, line)
        elif isinstance(record.get("$set"), dict):
            self._take_metadata(record["$set"], record, line)
        elif isinstance(record.get("sessionId"), str):
            self._take_metadata(record, record, line)
        else:
            self._keep("record", record, line)

    # The heading.
    def _take_metadata(self, fields: dict[str, Any], record: dict[str, Any], line: int) -> None:
        self.read_metadata(fields)
        if not _KNOWN_METADATA.issuperset(fields):
            rest = {name: value for name, value in record.items() if name != "messages"}
            self._keep("metadata", rest, line)
        messages = [message for message in sequence(fields.get("messages")) if string(mapping(message).get("id"))]
        fresh = {message["id"] for message in messages} - self.state.messages.keys()
        summaries = {message["id"] for message in messages if message["id"] in fresh and _is_summary(message)}
        for message in messages:
            if summaries and message["id"] in fresh - summaries:
                # After a compaction the kept messages come again under new ids, with a reply that no model wrote.
                self.state.messages[message["id"]] = self._measure(message, line)
            else:
                self.read_message(message, line)

    def read_metadata(self, fields: dict[str, Any]) -> None:
        """Take the fields of the heading."""
        state, heading = self.state, self.draft().heading
        heading.id = heading.id or string(fields.get("sessionId"))
        for name in ("startTime", "lastUpdated"):
            heading.include_time(epoch_seconds(fields.get(name)))
        folders = sequence(fields.get("directories"))
        if folders and self._is_project_unknown():
            heading.project = string(folders[0])
        heading.project = heading.project or self._project
        state.subagent = state.subagent or fields.get("kind") == "subagent"
        if not state.subagent:  # a subagent's summary is its answer, which its parent holds too
            heading.title = string(fields.get("summary")) or heading.title
        if state.subagent and self._parent and heading.parent is None:
            heading.parent, heading.relation = self._parent, "subagent"

    def _is_project_unknown(self) -> bool:
        return self.draft().heading.project in ("", self._project)

    def _add_rewind(self, record: dict[str, Any], line: int) -> None:
        state, target = self.state, record["$rewindTo"]
        if target not in state.messages:
            self.add_problem("a way back to a message that is not there; kept as it is", line)
            self._keep("$rewindTo", record, line)
            return
        names = list(state.messages)
        dropped = set(names[names.index(target) :])
        first = state.messages[target].line
        is_whole_record = not any(seen.line == first for name, seen in state.messages.items() if name not in dropped)
        state.messages = {name: seen for name, seen in state.messages.items() if name not in dropped}
        state.calls = {name: call for name, call in state.calls.items() if call.message not in dropped}
        # Where a record holds several messages, rather too few events are taken back than too many.
        self.draft().events.append(Rewind(line=line, after=first - 1 if is_whole_record else first))

    # Messages.
    def read_message_safely(self, message: dict[str, Any], line: int) -> None:
        """Read one message of a document; a message that makes no sense becomes a problem."""
        self._fold_safely(message, line)

    def read_message(self, message: dict[str, Any], line: int) -> None:
        """Read one version of a message."""
        heading = self.draft().heading
        heading.id = heading.id or self._stem
        heading.project = heading.project or self._project
        at = epoch_seconds(message.get("timestamp"))
        heading.include_time(at)
        seen = self.state.messages.get(message["id"])
        if message.get("type") == "gemini":
            self._take_answer(message, seen or self._start_message(message, line), line, at)
        elif message.get("type") == "user":
            self._take_user(message, seen, line, at)
        elif seen is None or seen.mark != crc32(msgspec.json.encode(message)):
            self.state.messages[message["id"]] = SeenMessage(line, mark=crc32(msgspec.json.encode(message)))
            self._keep(string(message.get("type")) or "message", message, line, at)

    def _start_message(self, message: dict[str, Any], line: int) -> SeenMessage:
        seen = self.state.messages[message["id"]] = SeenMessage(line)
        return seen

    def _measure(self, message: dict[str, Any], line: int) -> SeenMessage:
        text = "\n".join(texts_of(message.get("content")))
        return SeenMessage(line, len(text), _checksum(text), len(thoughts_in(message.get("content"))))

    def _take_user(self, message: dict[str, Any], seen: SeenMessage | None, line: int, at: float | None) -> None:
        responses = parts_of_kind(message.get("content"), "functionResponse")
        for response in responses:
            self._take_response(response, line, at)
        words = split_user_text(message)
        now = self._measure(message, line)
        if seen is not None and (seen.length, seen.mark) == (now.length, now.mark):
            return
        self.state.messages[message["id"]] = now if seen is None else SeenMessage(seen.line, now.length, now.mark)
        if seen is not None and words.human:
            self._keep("changed message", message, line, at)
            return
        if _is_summary(message):
            self.draft().events.append(Compaction(line=line, at=at, summary=words.human))
            return
        if CONTEXT in words.injected and self._is_project_unknown():
            self.draft().heading.project = folder_in(words.injected) or self.draft().heading.project
        if words.human or words.images:
            origin = origin_of(words.human, injected=self.state.subagent or bool(responses))
            self.draft().events.append(
                UserMessage(line=line, at=at, text=words.human, origin=origin, images=words.images)
            )
        self._add_injected(words.injected, line, at)

    def _add_injected(self, text: str, line: int, at: float | None) -> None:
        """Add a text that the program or a hook put beside a message; brackets in a hook's text are escaped as entities."""
        if text:
            plain = text.replace("&lt;", "<").replace("&gt;", ">")
            self.draft().events.append(UserMessage(line=line, at=at, text=text, origin=origin_of(plain, injected=True)))

    def _take_answer(self, message: dict[str, Any], seen: SeenMessage, line: int, at: float | None) -> None:
        draft, name = self.draft(), message["id"]
        model = string(message.get("model"))
        draft.heading.model = model or draft.heading.model
        thoughts = [thought_text(thought) for thought in sequence(message.get("thoughts"))]
        # A later version may have the same thoughts among its parts.
        thoughts = thoughts or thoughts_in(message.get("content"))
        for thought in thoughts[seen.thoughts :]:
            draft.events.append(Reasoning(line=line, at=at, text=thought, response=name))
        seen.thoughts = max(seen.thoughts, len(thoughts))
        text, usage = self._new_text(message, seen, line, at), usage_of(message.get("tokens"))
        if text or (usage is not None and usage != seen.usage):
            seen.usage = usage or seen.usage
            draft.events.append(
                AssistantMessage(line=line, at=at, text=text, response=name, model=model, usage=seen.usage)
            )
        for number, call in enumerate(sequence(message.get("toolCalls")), 1):
            self._take_call(mapping(call), name, number, line, at)
        for number, call_part in enumerate(parts_of_kind(message.get("content"), "functionCall"), 1):
            known = string(call_part.get("id")) or f"{name}/{number}"
            if known not in self.state.calls:
                self._add_call(call_part, known, name, line, at)

    def _new_text(self, message: dict[str, Any], seen: SeenMessage, line: int, at: float | None) -> str:
        text = "\n".join(texts_of(message.get("content")))
        if len(text) < seen.length or _checksum(text[: seen.length]) != seen.mark:
            if text and (len(text), _checksum(text)) != (seen.length, seen.mark):
                seen.length, seen.mark = len(text), _checksum(text)
                self._keep("changed message", message, line, at)
            return ""
        new = text[seen.length :]
        seen.length, seen.mark = len(text), _checksum(text)
        return new

    # Calls.
    def _add_call(self, call: dict[str, Any], known: str, message: str, line: int, at: float | None) -> SeenCall:
        state = self.state
        call_id = known if known not in state.used else f"{known} {line}"
        state.used.add(call_id)
        tool = string(call.get("name"))
        seen_call = state.calls[known] = SeenCall(call_id, message, tool)
        tool_input = arguments_of(call.get("args"))
        self.draft().events.append(
            ToolCall(
                line=line, at=at, call_id=call_id, tool=tool, kind=kind_of(tool), input=tool_input, response=message
            )
        )
        return seen_call

    def _take_call(self, call: dict[str, Any], message: str, number: int, line: int, at: float | None) -> None:
        known = string(call.get("id")) or f"{message}/{number}"
        seen_call = self.state.calls.get(known)
        if seen_call is None or seen_call.message != message:
            seen_call = self._add_call(call, known, message, line, at)
        if self._is_project_unknown() and (found := _WORKING_FOLDER.search(string(call.get("description"))[-2_000:])):
            self.draft().heading.project = found[1]
        ended_at = epoch_seconds(call.get("timestamp")) or at
        if child := string(call.get("agentId")):
            self._add_spawn(child, seen_call, line, ended_at)
        if not seen_call.ended and (call.get("status") in ENDED_STATUSES or call.get("result")):
            self._add_result(seen_call, result_of(call, known), line, ended_at)

    def _add_spawn(self, child: str, seen_call: SeenCall, line: int, at: float | None) -> None:
        mark = f"subagent {child}"
        if mark not in self.state.used:
            self.state.used.add(mark)
            self.draft().events.append(Spawn(line=line, at=at, session=child, call_id=seen_call.own))

    def _take_response(self, response: dict[str, Any], line: int, at: float | None) -> None:
        """A result as sent to the model, used only if the call's own record, which comes first and holds more, had none."""
        known = string(response.get("id"))
        seen_call = self.state.calls.get(known)
        if seen_call is None:
            self._keep("result without a call", {"functionResponse": response}, line, at)
        elif not seen_call.ended:
            call = {"name": seen_call.tool, "result": {"functionResponse": response}}
            self._add_result(seen_call, result_of(call, known), line, at)

    def _add_result(self, seen_call: SeenCall, result: RecordedResult, line: int, at: float | None) -> None:
        seen_call.ended = True
        self.draft().heading.include_time(at)
        self.draft().events.append(
            ToolResult(
                line=line, at=at, call_id=seen_call.own, text=result.text, is_error=result.is_error,
                exit_code=result.exit_code, detail=result.detail, frame=result.frame,
            )
        )  # fmt: skip
        self._add_injected(result.hook_text, line, at)

    def _keep(self, name: str, raw: Any, line: int, at: float | None = None) -> None:
        self.draft().events.append(Other(line=line, at=at, name=name, raw=raw))


def _is_summary(message: dict[str, Any]) -> bool:
    text = "".join(texts_of(message.get("content")))
    return message.get("type") == "user" and f"<{SNAPSHOT}>" in text and f"</{SNAPSHOT}>" in text


def _checksum(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))


# Files: the journal, and documents of older versions.
AGENT = "gemini"
_BEGINNING = re.compile(rb'\s*\{\s*"sessionId"\s*:\s*"[^"]{1,200}"\s*,\s*"projectHash"\s*:')
_ENOUGH = 2_000


class JournalDocumentParser:
    """Reads a file whole: a document, or a journal under another name than the program's."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._journal = JournalParser(path)

    def feed(self, block: bytes, line: int) -> None:
        first, _, rest = block.strip().partition(b"\n")
        try:
            document = decode_json(block)
        except (ValueError, RecursionError) as error:
            if rest and _is_record(first):
                self._journal.feed(block, line)
            else:
                self._journal.add_problem(f"not a whole JSON document ({str(error)[:120]})", None)
            return
        if isinstance(document, dict) and "messages" in document:
            self._take_document(document)
        else:
            self._journal.feed(block, line)

    def _take_document(self, document: dict[str, object]) -> None:
        journal, messages = self._journal, document["messages"]
        journal.record({name: value for name, value in document.items() if name != "messages"}, 0)
        if not isinstance(messages, list):
            journal.add_problem("`messages` is no list; kept as it is", None)
            journal.draft().events.append(Other(line=0, name="messages", raw=messages))
        for number, message in enumerate(sequence(messages), 1):
            if string(mapping(message).get("id")):
                journal.read_message_safely(message, number)
            else:
                journal.add_problem("a message without an id; kept as it is", number)
                journal.draft().events.append(Other(line=number, name="unreadable", raw=message))

    def take(self) -> list[Session]:
        heading = self._journal.draft().heading
        heading.id = heading.id or os.path.basename(self._path.replace("\\", "/")).partition(".")[0] or AGENT
        return self._journal.take()

    def save(self) -> bytes | None:
        return None

    def load(self, state: bytes) -> None:
        """A document is always read whole."""


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(decode_json(line), dict)
    except (ValueError, RecursionError):
        return False


class GeminiReader:
    """Gemini CLI's sessions."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        folder, name = os.path.split(path.replace("\\", "/"))
        # A copy under another name may be a document in spite of its suffix.
        if name.endswith(".jsonl") and (name.startswith("session-") or "chats" in folder.split("/")[-2:]):
            return "lines"
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        return bool(_BEGINNING.match(head.removeprefix(b"\xef\xbb\xbf")[:_ENOUGH]))

    def parser(self, path: str, part: str = "") -> Parser:
        return JournalParser(path) if self.framing(path) == "lines" else JournalDocumentParser(path)


READER = GeminiReader()
