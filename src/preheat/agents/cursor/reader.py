"""Reads Cursor: recognises its files, and folds a transcript of its agent, one message a line, into a session.

A transcript has no times, no tokens, no model, calls without ids and nearly always no results: what is missing is left empty.
The editor's database, which may hold the same session with more in it, is read in `database.py`.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, images_in, mapping, string, text_of
from preheat.agents.cursor import DATABASE, TRANSCRIPTS, database
from preheat.agents.cursor.database import ComposerParser
from preheat.agents.cursor.tools import kind_of
from preheat.agents.databases import MAGIC
from preheat.agents.documents import CUT, beginning_of, outline
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, origin_of
from preheat.agents.reader import DatabasePart, Framing, Parser
from preheat.errors import SourceUnreadable
from preheat.model.session import AssistantMessage, Reasoning, ToolCall, ToolResult, UserMessage

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_THOUGHTS = ("thinking", "reasoning")


class TranscriptLine(msgspec.Struct):
    """One line, as far as it is read."""

    role: Any = None
    message: Any = None
    type: Any = None


class TranscriptState(ParserState):
    matcher: CallMatcher = msgspec.field(default_factory=CallMatcher, name="joiner")  # the name in stored states


class TranscriptParser(LinesParser[TranscriptState, TranscriptLine]):
    """Folds one transcript, whose session, project and parent are known by its path only."""

    agent = "cursor"
    record_type = TranscriptLine
    state_type = TranscriptState

    def record(self, record: TranscriptLine, line: int) -> None:
        heading = self.draft().heading
        if not heading.id:
            self._fill_heading()
        message = mapping(record.message)
        if record.role == "assistant" and "content" in message:
            self._take_answer(message["content"], line)
        elif record.role in ("user", "tool") and "content" in message:
            self._take_user(message["content"], line)
        else:
            if record.type == "turn_ended":
                self.state.matcher.drop_open_calls()  # the turn has ended, so no more results come
            self.keep_record(string(record.type) or string(record.role) or "record", line)

    def _fill_heading(self) -> None:
        heading = self.draft().heading
        folders = self.path.replace("\\", "/").split("/")
        heading.id = folders[-1].removesuffix(".jsonl") or "transcript"
        if TRANSCRIPTS in folders[1:]:
            # The folder is named by the project's path, with all but letters and digits replaced.
            heading.project = folders[folders.index(TRANSCRIPTS, 1) - 1]
        if len(folders) > 2 and folders[-2] == "subagents":
            heading.parent, heading.relation = folders[-3], "subagent"

    def _blocks_of(self, content: object) -> list[dict[str, Any]]:
        if isinstance(content, list):
            return [{"type": "text", "text": block} if isinstance(block, str) else mapping(block) for block in content]
        return [{"type": "text", "text": string(content)}]

    # Messages.
    def _take_user(self, content: object, line: int) -> None:
        blocks = self._blocks_of(content)
        for block in blocks:
            if block.get("type") == "tool_result":
                self._add_result(block, line)
        text = text_of([block for block in blocks if block.get("type") == "text"])
        images = images_in(content)
        if not text and not images:
            return
        events = self.draft().events
        user_text = "\n".join(_QUERY.findall(text))
        rest = _QUERY.sub("", text).strip() if user_text else ""
        if rest:  # added by the program: the time, open files, rules
            events.append(UserMessage(line=line, text=rest, origin=origin_of(rest, injected=True)))
        user_text = user_text or text
        # The prompt of a subagent was written by an agent.
        origin = origin_of(user_text, injected=self.draft().heading.relation == "subagent")
        events.append(UserMessage(line=line, text=user_text, origin=origin, images=images))

    def _take_answer(self, content: object, line: int) -> None:
        response = f"message {line}"
        blocks = self._blocks_of(content)
        events = self.draft().events
        for block in blocks:
            if block.get("type") in _THOUGHTS:
                thought = string(block.get("thinking")) or string(block.get("text"))
                events.append(Reasoning(line=line, text=thought, response=response))
        text = text_of([block for block in blocks if block.get("type") == "text"])
        if text:
            events.append(AssistantMessage(line=line, text=text, response=response))
        for number, block in enumerate(blocks, 1):
            if block.get("type") == "tool_use":
                self._add_call(block, f"{line}.{number}", response, line)
            elif block.get("type") == "tool_result":
                self._add_result(block, line)

    def _add_call(self, block: dict[str, Any], place: str, response: str, line: int) -> None:
        requested = RequestedCall(string(block.get("id")), string(block.get("name")), arguments_of(block.get("input")))
        call_id = self.state.matcher.open_call(requested, place)
        kind = kind_of(requested.tool)
        self.draft().events.append(
            ToolCall(
                line=line, call_id=call_id, tool=requested.tool, kind=kind, input=requested.input, response=response
            )
        )

    def _add_result(self, block: dict[str, Any], line: int) -> None:
        call_id = self.state.matcher.close_call(string(block.get("tool_use_id")), string(block.get("name")))
        if not call_id:
            self.keep_record("result without a call", line)
            return
        flag = block.get("is_error")
        self.draft().events.append(
            ToolResult(
                line=line,
                call_id=call_id,
                text=text_of(block.get("content")),
                is_error=flag if isinstance(flag, bool) else None,
            )
        )


_KEYS = frozenset(("role", "message"))
_CONTENT = re.compile(r'\{\s*"content"\s*:\s*["\[]')


class CursorReader:
    """Reads transcripts and `state.vscdb`."""

    agent = "cursor"

    def framing(self, path: str) -> Framing:
        return "database" if path.endswith(".vscdb") else "lines"

    def detect(self, head: bytes, path: str) -> bool:
        if self.framing(path) == "database":
            try:
                # The table may still be in the log beside the file, so its first bytes do not tell.
                return head.startswith(MAGIC) and database.is_cursor_database(path)
            except SourceUnreadable:
                return os.path.basename(path) == DATABASE
        first = outline(head)
        # Exactly these two: other formats have the same with further members.
        if first.keys() != _KEYS or first["role"] not in ("user", "assistant") or head.lstrip()[:1] != b"{":
            return False
        if first["message"] is CUT:  # a first message longer than what is looked at
            return _CONTENT.match(beginning_of(head, "message")) is not None
        message = mapping(first["message"])
        return isinstance(message.get("content"), list | str) and "role" not in message

    def parser(self, path: str, part: str = "") -> Parser:
        return ComposerParser(path) if self.framing(path) == "database" else TranscriptParser(path)

    def parts(self, path: str) -> list[DatabasePart]:
        return database.parts(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return database.dump(path, part)


READER = CursorReader()
