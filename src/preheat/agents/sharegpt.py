"""Reads ShareGPT conversations: a JSON object with `conversations` a line, or a list of them in one document.

Thoughts, calls and results are tags in the text (`<think>`, `<tool_call>`, `<tool_response>`). Knows nothing of which agent
made them.
"""

import re
from typing import Any

from preheat.agents.chat import CallMatcher, RequestedCall, mapping, string
from preheat.agents.documents import DocumentParser, outline, read_values
from preheat.agents.parsing import Draft, arguments_of, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.simulations import short_digest, utc_seconds
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    ToolCall,
    ToolResult,
    UserMessage,
)

_TAG = re.compile(r"<(think|tool_call|tool_response)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_USER_NAMES = ("human", "user")
_MODEL_NAMES = ("gpt", "assistant", "model", "chatgpt")
_TOOL_NAMES = ("tool", "observation", "function_response")


class ShareGPTParser(DocumentParser):
    """One file of conversations; each becomes a session."""

    agent = "sharegpt"

    def read(self, block: bytes, line: int) -> None:
        found, problems = read_values(block)
        for value, place in found:
            turns = mapping(value).get("conversations")
            if isinstance(turns, list):
                self.add(_draft_of(value, turns))
            else:
                problems.append(("a value without `conversations`; passed over", place))
        self.add_problems(sorted(problems, key=lambda problem: problem[1]), line)


def _draft_of(about: dict[str, Any], turns: list[Any]) -> Draft:
    name = string(about.get("id")) or f"conversation-{short_digest(turns)}"
    draft = Draft(Heading(id=name, model=string(about.get("model"))))
    draft.heading.include_time(utc_seconds(about.get("timestamp")))
    matcher = CallMatcher()
    for number, turn in enumerate(turns, 1):
        _fold_turn(draft, matcher, turn, number)
    rest = {key: value for key, value in about.items() if key != "conversations"}
    if rest:
        draft.events.append(Other(line=len(turns) + 1, name="about", raw=rest))
    return draft


def _fold_turn(draft: Draft, matcher: CallMatcher, turn: Any, line: int) -> None:
    who, text = string(mapping(turn).get("from")), string(mapping(turn).get("value"))
    if who in _USER_NAMES:
        draft.events.append(UserMessage(line=line, text=text, origin=origin_of(text, injected=False)))
    elif who in _MODEL_NAMES:
        _add_answer(draft, matcher, text, line)
    elif who in _TOOL_NAMES:
        for answer in [found[2] for found in _TAG.finditer(text) if found[1] == "tool_response"] or [text]:
            _add_result(draft, matcher, answer.strip(), line)
    else:
        draft.events.append(Other(line=line, name=who or "turn", raw=turn))


def _add_answer(draft: Draft, matcher: CallMatcher, text: str, line: int) -> None:
    response = f"turn {line}"
    tags = list(_TAG.finditer(text))
    for found in tags:
        if found[1] == "think":
            draft.events.append(Reasoning(line=line, text=found[2].strip(), response=response))
    message_text = _TAG.sub("", text).strip()
    draft.events.append(AssistantMessage(line=line, text=message_text, response=response, model=draft.heading.model))
    calls = [found[2] for found in tags if found[1] == "tool_call"]
    for number, body in enumerate(calls, 1):
        call = arguments_of(body.strip())
        tool = string(call.get("name"))
        tool_input = arguments_of(call.get("arguments")) if tool else call
        call_id = matcher.open_call(RequestedCall(string(call.get("id")), tool, tool_input), f"{line}.{number}")
        draft.events.append(
            ToolCall(
                line=line, call_id=call_id, tool=tool, kind=kind_by_name(tool), input=tool_input, response=response
            )
        )


def _add_result(draft: Draft, matcher: CallMatcher, text: str, line: int) -> None:
    """Add a result; one that names no call in its JSON belongs to the oldest open call."""
    body = arguments_of(text)
    call_id = matcher.close_call(string(body.get("tool_call_id")), string(body.get("name")))
    if call_id:
        draft.events.append(ToolResult(line=line, call_id=call_id, text=text))
    else:
        draft.events.append(Other(line=line, name="result without a call", raw=text))


class ShareGPTReader:
    """Reads files of conversations."""

    agent = "sharegpt"

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        return "conversations" in outline(head) and b'"from"' in head and b'"value"' in head

    def parser(self, path: str, part: str = "") -> Parser:
        return ShareGPTParser(path)


READER = ShareGPTReader()
