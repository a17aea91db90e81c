"""Reads Pi's session files of all three versions: recognises them, and folds their entries into events.

Since version 2 entries form a tree: `parentId` names the entry before, and going back in the conversation is a new child of
an older entry. A forked session begins with the entries of the other, with their ids and times. Knows nothing of where the
lines come from, nor of the session that was forked.
"""

import os
import re
from typing import Any

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, count, images_in, mapping, sequence, string, text_of
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, epoch_seconds, origin_of
from preheat.agents.pi.tools import BASH, kind_of
from preheat.agents.reader import Framing, Parser
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

_EXIT = re.compile(r"Command exited with code (-?\d{1,10})\s*\Z")
_TIMEOUT = re.compile(r"Command timed out after [\d.]{1,20} seconds\s*\Z")
_ABORTED = re.compile(r"Command aborted\s*\Z")
_BROKEN_OFF = ("error", "aborted")


class Entry(msgspec.Struct, rename="camel"):
    """One line, as far as it is read; nearly everything is optional and of any type."""

    type: str = ""
    id: Any = None
    parent_id: Any = None
    timestamp: Any = None
    message: Any = None
    # The header.
    version: Any = None
    cwd: Any = None
    parent_session: Any = None
    branched_from: Any = None
    """What `parentSession` was called at first."""
    model_id: Any = None
    # Entries that are no messages.
    summary: Any = None
    tokens_before: Any = None
    from_hook: Any = None
    content: Any = None
    name: Any = None


class PiState(ParserState):
    places: dict[str, int] = msgspec.field(default_factory=dict)
    """For each entry the line of its nearest ancestor (or itself) that is in the current branch of the conversation."""
    leaf: str = ""
    last: int = 0
    """The line of the newest event."""
    header: int = 0
    forked_at: float | None = None
    matcher: CallMatcher = msgspec.field(default_factory=CallMatcher, name="joiner")  # the name in stored states


class PiParser(LinesParser[PiState, Entry]):
    """Folds one session file."""

    agent = "pi"
    record_type = Entry
    state_type = PiState

    def record(self, record: Entry, line: int) -> None:
        if record.type == "session":
            self._take_header(record, line)
            return
        message = mapping(record.message)
        # Versions 1 and 2 wrote some entries late, so the message's own time may be earlier.
        moments = [
            at for at in (epoch_seconds(message.get("timestamp")), epoch_seconds(record.timestamp)) if at is not None
        ]
        at = min(moments, default=None)
        copied = self.state.forked_at is not None and at is not None and at < self.state.forked_at
        if not self._take_into_tree(record, line, at, copied):
            return
        self._update_heading(record)
        if copied:
            return
        self.draft().heading.include_time(at)
        before = len(self.draft().events)
        if record.type == "message":
            self._take_message(record, message, line, at)
        else:
            self._take_entry(record, line, at)
        if len(self.draft().events) > before:
            self.state.last = line

    # The session, and the tree of entries.
    def _take_header(self, record: Entry, line: int) -> None:
        heading = self.draft().heading
        if heading.id:
            if record.id != heading.id:  # one release wrote the header twice
                self.keep_record("session", line)
            return
        heading.id = string(record.id) or os.path.basename(self.path.replace("\\", "/")).partition(".")[0]
        heading.version = str(record.version) if count(record.version) else ""
        heading.project = string(record.cwd)
        heading.model = string(record.model_id)
        at = epoch_seconds(record.timestamp)
        heading.include_time(at)
        self.state.header = line
        origin = string(record.parent_session) or string(record.branched_from)
        if origin:
            name = os.path.basename(origin.replace("\\", "/")).removesuffix(".jsonl")
            heading.parent, heading.relation = name.rpartition("_")[2], "fork"
            self.state.forked_at = at

    def _take_into_tree(self, record: Entry, line: int, at: float | None, copied: bool) -> bool:
        """Take an entry into the tree; False if it was there already."""
        name = string(record.id)
        if not name:
            return True  # version 1 has no tree
        state = self.state
        if name in state.places:
            return False
        if not copied:
            parent = string(record.parent_id)
            after = state.places.get(parent, state.header if record.parent_id is None else state.last)
            if parent != state.leaf and after < state.last:
                self._add_rewind(after, line, at)
        state.places[name] = state.header if copied else line
        state.leaf = name
        return True

    def _add_rewind(self, after: int, line: int, at: float | None) -> None:
        self.draft().events.append(Rewind(line=line, at=at, after=after))
        for name, place in self.state.places.items():
            if place > after:
                self.state.places[name] = after

    # Messages.
    def _take_message(self, record: Entry, message: dict[str, Any], line: int, at: float | None) -> None:
        role, content = message.get("role"), message.get("content")
        if role == "assistant":
            self._add_answer(message, string(record.id) or f"line {line}", line, at)
        elif role == "toolResult":
            self._add_result(message, line, at)
        elif role == "user":
            self._add_user_message(content, line, at, injected=False)
        elif role in ("custom", "hookMessage"):
            self._add_user_message(content, line, at, injected=True)
        else:
            # Also `bashExecution`: a command that the person ran is no call of the model's.
            self.keep_record(string(role) or "message", line, at)

    def _add_user_message(self, content: object, line: int, at: float | None, injected: bool) -> None:
        text = text_of(content)
        self.draft().events.append(
            UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected), images=images_in(content))
        )

    def _add_answer(self, message: dict[str, Any], response: str, line: int, at: float | None) -> None:
        draft = self.draft()
        model = string(message.get("model"))
        if model:
            draft.heading.model = model
        content = message.get("content")
        blocks = [mapping(block) for block in sequence(content)]
        for block in blocks:
            if block.get("type") == "thinking":
                thought = string(block.get("thinking"))
                draft.events.append(Reasoning(line=line, at=at, text=thought, response=response))
        text = text_of([block for block in blocks if block.get("type") == "text"] or string(content))
        usage = _usage(message.get("usage"))
        if text or usage.total:
            draft.events.append(
                AssistantMessage(line=line, at=at, text=text, response=response, model=model, usage=usage)
            )
        for number, block in enumerate(blocks, 1):
            if block.get("type") == "toolCall":
                self._add_call(block, f"{line}.{number}", response, line, at)
        if message.get("stopReason") in _BROKEN_OFF:
            raw = {name: message.get(name) for name in ("stopReason", "errorMessage")}
            draft.events.append(Other(line=line, at=at, name=f"response_{message['stopReason']}", raw=raw))

    def _add_call(self, block: dict[str, Any], place: str, response: str, line: int, at: float | None) -> None:
        requested = RequestedCall(
            string(block.get("id")), string(block.get("name")), arguments_of(block.get("arguments"))
        )
        call_id = self.state.matcher.open_call(requested, place)
        self.draft().events.append(
            ToolCall(
                line=line,
                at=at,
                call_id=call_id,
                tool=requested.tool,
                kind=kind_of(requested.tool),
                input=requested.input,
                response=response,
            )
        )

    def _add_result(self, message: dict[str, Any], line: int, at: float | None) -> None:
        tool = string(message.get("toolName"))
        call_id = self.state.matcher.close_call(string(message.get("toolCallId")), tool)
        if not call_id:
            self.keep_record("result without a call", line, at)
            return
        text = text_of(message.get("content"))
        flag = message.get("isError")
        failed = flag if isinstance(flag, bool) else None
        code, detail = _read_ending(text) if failed and tool == BASH else (None, {})
        if mapping(mapping(message.get("details")).get("truncation")).get("truncated") is True:
            detail["truncated"] = True
        self.draft().events.append(
            ToolResult(line=line, at=at, call_id=call_id, text=text, is_error=failed, exit_code=code, detail=detail)
        )

    # Entries that are no messages.
    def _take_entry(self, record: Entry, line: int, at: float | None) -> None:
        draft = self.draft()
        if record.type == "compaction":
            trigger = "extension" if record.from_hook is True else ""
            before = count(record.tokens_before) or None
            summary = string(record.summary)
            draft.events.append(Compaction(line=line, at=at, trigger=trigger, summary=summary, tokens_before=before))
        elif record.type == "branch_summary":
            # A summary of the branch that was left; the model reads it as a message.
            text = string(record.summary)
            draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected=True)))
        elif record.type == "custom_message":
            self._add_user_message(record.content, line, at, injected=True)
        else:
            self.keep_record(record.type or "entry", line, at)

    def _update_heading(self, record: Entry) -> None:
        """Take title and model from an entry; a fork inherits them with the copied entries."""
        heading = self.draft().heading
        if record.type == "session_info":
            heading.title = string(record.name) or heading.title
        elif record.type == "model_change":
            heading.model = string(record.model_id) or heading.model


def _usage(value: object) -> Usage:
    stated = mapping(value)
    names = ("input", "output", "cacheRead", "cacheWrite")
    input_tokens, output_tokens, read, written = (count(stated.get(name)) for name in names)
    return Usage(input=input_tokens, output=output_tokens, cache_read=read, cache_write=written)


def _read_ending(text: str) -> tuple[int | None, dict[str, Any]]:
    """How a command ended, by the line that the program puts after its output."""
    if found := _EXIT.search(text[-200:]):
        return int(found[1]), {}
    if _TIMEOUT.search(text[-200:]):
        return None, {"timeout": True}
    return None, {"aborted": True} if _ABORTED.search(text[-200:]) else {}


class PiReader:
    """Reads session files of all three versions."""

    agent = "pi"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        try:
            first = mapping(decode_json(head.lstrip().partition(b"\n")[0]))
        except (ValueError, RecursionError):
            return False
        return first.get("type") == "session" and all(
            isinstance(first.get(name), str) for name in ("id", "timestamp", "cwd")
        )

    def parser(self, path: str, part: str = "") -> Parser:
        return PiParser(path)


READER = PiReader()
