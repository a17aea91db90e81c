"""Reads ShareGPT conversations: a JSON object with `conversations` a line, or a list of them in one document.

Thoughts, calls and results stand as tags in the text (`<think>`, `<tool_call>`, `<tool_response>`). Knows nothing of which
agent made them.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from preheat.agents.chat import Asked, Joiner, mapping, string
from preheat.agents.outline import outline
from preheat.agents.parsing import Draft, arguments, loose, origin_of, whole_lines
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.simulations import digest, moment
from preheat.agents.tool_names import kind_of
from preheat.model.session import (
    AssistantMessage,
    Other,
    Problem,
    Reasoning,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
)

_TAG = re.compile(r"<(think|tool_call|tool_response)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_PEOPLE = ("human", "user")
_MODELS = ("gpt", "assistant", "model", "chatgpt")
_TOOLS = ("tool", "observation", "function_response")


class ShareGPTParser:
    """One file of conversations; each becomes a session."""

    agent = "sharegpt"

    def __init__(self, path: str) -> None:
        self._path = path
        self._drafts: list[Draft] = []
        self._problems: list[Problem] = []
        self._names: set[str] = set()

    def feed(self, block: bytes, line: int) -> None:
        for place, value in self._values(block, line):
            conversation = mapping(value)
            turns = conversation.get("conversations")
            if isinstance(turns, list):
                self._conversation(conversation, turns, place)
            else:
                self._problems.append(Problem("a value without `conversations`; passed over", self._path, place))

    def _values(self, block: bytes, line: int) -> Iterator[tuple[int, Any]]:
        """The conversations with the lines they begin at."""
        try:
            document = loose(block)
        except (ValueError, RecursionError):
            for place, text in enumerate(whole_lines(block), line):
                if text.strip():
                    try:
                        yield place, loose(text)
                    except (ValueError, RecursionError) as error:
                        message = f"not a JSON record ({str(error)[:120]}); passed over"
                        self._problems.append(Problem(message, self._path, place))
            return
        for value in document if isinstance(document, list) else [document]:
            yield line, value

    def _conversation(self, about: dict[str, Any], turns: list[Any], line: int) -> None:
        name = string(about.get("id")) or f"conversation-{digest(turns)}"
        own = name if name not in self._names else f"{name}-{len(self._drafts)}"
        self._names.add(own)
        heading = Heading(id=own, model=string(about.get("model")))
        heading.seen(moment(about.get("timestamp")))
        draft = Draft(heading)
        self._drafts.append(draft)
        joiner = Joiner()
        for number, turn in enumerate(turns, 1):
            _turn(draft, joiner, turn, number)
        rest = {key: value for key, value in about.items() if key != "conversations"}
        if rest:
            draft.events.append(Other(line=len(turns) + 1, name="about", raw=rest))

    def take(self) -> list[Session]:
        if self._problems and not self._drafts:
            self._drafts.append(Draft(Heading(id=os.path.basename(self._path) or self.agent)))
        if self._problems:
            self._drafts[0].problems += self._problems
            self._problems = []
        return [draft.take(self.agent) for draft in self._drafts]

    def save(self) -> bytes | None:
        return None

    def load(self, state: bytes) -> None:
        """A document is always read whole."""


def _turn(draft: Draft, joiner: Joiner, turn: Any, line: int) -> None:
    who, text = string(mapping(turn).get("from")), string(mapping(turn).get("value"))
    if who in _PEOPLE:
        draft.events.append(UserMessage(line=line, text=text, origin=origin_of(text, injected=False)))
    elif who in _MODELS:
        _answer(draft, joiner, text, line)
    elif who in _TOOLS:
        for answer in [found[2] for found in _TAG.finditer(text) if found[1] == "tool_response"] or [text]:
            _result(draft, joiner, answer.strip(), line)
    else:
        draft.events.append(Other(line=line, name=who or "turn", raw=turn))


def _answer(draft: Draft, joiner: Joiner, text: str, line: int) -> None:
    response = f"turn {line}"
    tags = list(_TAG.finditer(text))
    for found in tags:
        if found[1] == "think":
            draft.events.append(Reasoning(line=line, text=found[2].strip(), response=response))
    said = _TAG.sub("", text).strip()
    draft.events.append(AssistantMessage(line=line, text=said, response=response, model=draft.heading.model))
    calls = [found[2] for found in tags if found[1] == "tool_call"]
    for number, body in enumerate(calls, 1):
        call = arguments(body.strip())
        tool = string(call.get("name"))
        given = arguments(call.get("arguments")) if tool else call
        own = joiner.opened(Asked(string(call.get("id")), tool, given), f"{line}.{number}")
        draft.events.append(
            ToolCall(line=line, call_id=own, tool=tool, kind=kind_of(tool), input=given, response=response)
        )


def _result(draft: Draft, joiner: Joiner, text: str, line: int) -> None:
    """Results say whose they are in JSON, or not at all: then they come in the order of the calls."""
    body = arguments(text)
    own = joiner.closed(string(body.get("tool_call_id")), string(body.get("name")))
    if own:
        draft.events.append(ToolResult(line=line, call_id=own, text=text))
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
