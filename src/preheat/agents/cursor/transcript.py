"""Folds a transcript of Cursor's agent, one message a line.

The transcript is a thin copy of what happened: no times, no tokens, no model, calls without ids and nearly always without
results. What is not there is left absent. Knows nothing of the editor's database, which may hold the same session with more.
"""

import re
from typing import Any

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, images_in, mapping, string, text_of
from preheat.agents.cursor.places import TRANSCRIPTS
from preheat.agents.cursor.tools import kind_of
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, origin_of
from preheat.model.session import AssistantMessage, Reasoning, ToolCall, ToolResult, UserMessage

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_THOUGHTS = ("thinking", "reasoning")


class TranscriptLine(msgspec.Struct):
    """One line, as far as it is read."""

    role: Any = None
    message: Any = None
    type: Any = None


class TranscriptState(ParserState):
    joiner: CallMatcher = msgspec.field(default_factory=CallMatcher)


class TranscriptParser(LinesParser[TranscriptState, TranscriptLine]):
    """Folds one transcript, whose session, project and parent are known by its path only."""

    agent = "cursor"
    record_type = TranscriptLine
    state_type = TranscriptState

    def record(self, record: TranscriptLine, line: int) -> None:
        heading = self.draft().heading
        if not heading.id:
            self._name()
        message = mapping(record.message)
        if record.role == "assistant" and "content" in message:
            self._answer(message["content"], line)
        elif record.role in ("user", "tool") and "content" in message:
            self._user(message["content"], line)
        else:
            if record.type == "turn_ended":
                self.state.joiner.drop_open_calls()  # the turn has ended, so no more results come
            self.keep_record(string(record.type) or string(record.role) or "record", line)

    def _name(self) -> None:
        heading = self.draft().heading
        folders = self.path.replace("\\", "/").split("/")
        heading.id = folders[-1].removesuffix(".jsonl") or "transcript"
        if TRANSCRIPTS in folders[1:]:
            # The folder is named by the project's path, with all but letters and digits replaced.
            heading.project = folders[folders.index(TRANSCRIPTS, 1) - 1]
        if len(folders) > 2 and folders[-2] == "subagents":
            heading.parent, heading.relation = folders[-3], "subagent"

    def _blocks(self, content: object) -> list[dict[str, Any]]:
        if isinstance(content, list):
            return [{"type": "text", "text": block} if isinstance(block, str) else mapping(block) for block in content]
        return [{"type": "text", "text": string(content)}]

    # Messages.
    def _user(self, content: object, line: int) -> None:
        blocks = self._blocks(content)
        for block in blocks:
            if block.get("type") == "tool_result":
                self._result(block, line)
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

    def _answer(self, content: object, line: int) -> None:
        response = f"message {line}"
        blocks = self._blocks(content)
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
                self._call(block, f"{line}.{number}", response, line)
            elif block.get("type") == "tool_result":
                self._result(block, line)

    def _call(self, block: dict[str, Any], place: str, response: str, line: int) -> None:
        requested = RequestedCall(string(block.get("id")), string(block.get("name")), arguments_of(block.get("input")))
        call_id = self.state.joiner.open_call(requested, place)
        kind = kind_of(requested.tool)
        self.draft().events.append(
            ToolCall(
                line=line, call_id=call_id, tool=requested.tool, kind=kind, input=requested.input, response=response
            )
        )

    def _result(self, block: dict[str, Any], line: int) -> None:
        call_id = self.state.joiner.close_call(string(block.get("tool_use_id")), string(block.get("name")))
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
