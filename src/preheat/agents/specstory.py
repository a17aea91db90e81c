"""Reads SpecStory's histories: one Markdown file for each session of another agent.

A call is a section whose text holds both what was asked and what came back, in a form that differs from agent to agent, and
nothing says how it ended. Output of tools stands there unescaped, so a tool's section goes to its own end tag. Knows nothing
of where the file comes from.
"""

import os
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from preheat.agents.parsing import Draft, epoch_seconds, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.tool_names import kind_by_name
from preheat.model.outcome import Dialect
from preheat.model.session import (
    AssistantMessage,
    Other,
    Problem,
    Reasoning,
    Session,
    Spawn,
    ToolCall,
    ToolKind,
    ToolResult,
    UserMessage,
)

# How the agents whose sessions SpecStory writes down word refusals, inside its fences.
_FENCED = r"(?:[\s\S]{0,20000}?\n)?```(?:text)?\n"

DIALECT = Dialect(
    denied=(_FENCED + r"The user doesn't want to (?:proceed with this tool use|take this action)",),
    empty=(_FENCED + r"No (?:files|matches) found",),
    interrupted=(_FENCED + r"(?:Exit code \d+\n)?\[Request interrupted by user",),
    failed=(_FENCED + r"(?:<tool_use_error>|Error: |Exit code [1-9])",),
)


# Splitting the Markdown into sections.
SectionKind: TypeAlias = Literal["role", "text", "thought", "tool"]

_TOOL = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)"><details>\s*$')
_TOOL_END = "</details></tool-use>"
_THOUGHT = "<think><details><summary>Thought Process</summary>"
_THOUGHT_END = "</details></think>"
_SUMMARY = re.compile(r"<summary>(.*)</summary>\s*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_COMMAND = re.compile(r"`([^`].*)`\s*$")
_ARGUMENT = re.compile(r"- (\w{1,60}): `(.*)`\s*$")
_MESSAGE_ID = re.compile(r"<!-- message-id: \S+ -->\s*$")


class Section(NamedTuple):
    """Consecutive lines of one kind."""

    kind: SectionKind
    text: str
    line: int
    tool: str = ""
    tool_type: str = ""
    tool_input: dict[str, Any] | None = None
    """The arguments of a call, as far as the text shows them."""


def split_sections(lines: list[str], first: int, role: re.Pattern[str]) -> Iterator[Section]:
    """Split lines into sections; lines that match `role` name a speaker."""
    pending: list[str] = []
    begin, index = 0, 0
    thought_ends = {at for at, line in enumerate(lines) if line.rstrip().endswith(_THOUGHT_END)}
    last_end = max(thought_ends, default=-1)
    while index < len(lines):
        line = lines[index]
        tool = _TOOL.match(line)
        is_thought = line.startswith(_THOUGHT)
        if not (tool or is_thought or role.match(line)):
            if not pending:
                begin = index
            pending.append(line)
            index += 1
            continue
        yield from _text_section(pending, first + begin)
        pending = []
        if tool:
            end = _tool_end(lines, index + 1)
            yield _tool_section(lines[index + 1 : end], first + index, tool[2], tool[1])
            index = end + 1
        elif is_thought:
            end = next((at for at in range(index, last_end + 1) if at in thought_ends), index)
            thought = "\n".join(lines[index : end + 1]).removeprefix(_THOUGHT).rstrip().removesuffix(_THOUGHT_END)
            yield Section("thought", thought.strip("\n"), first + index)
            index = end + 1
        else:
            yield Section("role", line, first + index)
            index += 1
    yield from _text_section(pending, first + begin)


def _text_section(lines: list[str], line: int) -> Iterator[Section]:
    """A section of text, without empty lines and rules around it."""
    while lines and lines[-1].strip() in ("", "---"):
        lines.pop()
    while lines and (not lines[0].strip() or _MESSAGE_ID.match(lines[0])):
        lines, line = lines[1:], line + 1
    if lines:
        yield Section("text", "\n".join(lines), line)


def _tool_end(lines: list[str], begin: int) -> int:
    """Where a tool's section ends: at its tag outside of code blocks, else at the first such tag, else with the file."""
    fence = ""
    nearest = -1
    for index in range(begin, len(lines)):
        line = lines[index]
        if line.rstrip() == _TOOL_END:
            if not fence:
                return index
            nearest = index if nearest < 0 else nearest
        elif found := _FENCE.match(line):
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif _TOOL.match(line) and nearest >= 0:
            return nearest  # a code block that was never closed: the next section has begun
    return nearest if nearest >= 0 else len(lines)


def _tool_section(lines: list[str], line: int, tool: str, tool_type: str) -> Section:
    tool_input: dict[str, Any] = {}
    if lines and (summary := _SUMMARY.match(lines[0])):
        if summary[1] != f"Tool use: **{tool}**":
            tool_input["summary"] = summary[1]
        lines = lines[1:]
    for text in lines:
        if _FENCE.match(text):
            break  # a result or the content of a file follows
        if argument := _ARGUMENT.match(text):
            tool_input[argument[1]] = argument[2]
        elif tool_type == "shell" and "command" not in tool_input and (command := _COMMAND.match(text)):
            tool_input["command"] = command[1]
    return Section("tool", "\n".join(lines).strip("\n"), line, tool, tool_type, tool_input)


# Reading histories.
AGENT = "specstory"
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*<!-- Generated by SpecStory")
_MADE_BY = re.compile(r"<!-- Generated by SpecStory(?:, Markdown v([\d.]+))?")
_SESSION = re.compile(r"<!-- (.{1,60}?) Session ([\w.-]{1,100}) \(([^)]{1,60})\) -->")
_ROLE = re.compile(r"_\*\*(User|Agent|Assistant)( - sidechain)?(?: \((.{1,200})\))?\*\*_\s*$")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*$")
_SIDECHAIN = "sidechain"
_INJECTED = (
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<system-reminder>",
    "Caveat: The messages below",
)
_KIND_BY_TYPE: dict[str, ToolKind] = {
    "shell": "shell",
    "read": "read",
    "search": "search",
    "task": "plan",
    "write": "write",
}


class Turn(NamedTuple):
    """Who speaks in the following lines, by the line above them."""

    is_person: bool
    is_sidechain: bool
    """Whether the lines belong to a subagent's conversation."""
    model: str
    at: float | None
    line: int


class HistoryParser:
    """Folds one file into one session, and the lines of its subagents into a second one."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._main = Draft(Heading())
        self._sidechain: Draft | None = None

    def feed(self, block: bytes, line: int) -> None:
        text = block.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
        stem = os.path.basename(self._path.replace("\\", "/")).removesuffix(".md")
        self._main.heading.id = stem or AGENT
        turn: Turn | None = None
        count = 0
        for section in split_sections(text.split("\n"), line, _ROLE):
            if section.kind == "role":
                turn, count = _parse_turn(section), count + 1
            elif turn is None:
                self._take_top(section)
            else:
                self._add_event(section, turn)
        if not count:
            self._main.problems.append(Problem("nobody says anything in it", self._path, line))

    def take(self) -> list[Session]:
        return [draft.take(AGENT) for draft in (self._main, self._sidechain) if draft is not None and draft.heading.id]

    def save(self) -> bytes | None:
        return None

    def load(self, state: bytes) -> None:
        """A document is always read whole."""

    def _take_top(self, section: Section) -> None:
        """Take the heading from the comments at the top."""
        heading = self._main.heading
        if generator := _MADE_BY.search(section.text):
            heading.version = generator[1] or ""
        if found := _SESSION.search(section.text):
            heading.id = found[2]
            heading.include_time(epoch_seconds(found[3]))
        if section.text.strip():
            self._main.events.append(Other(line=section.line, name="top", raw=section.text))

    def _draft(self, turn: Turn) -> Draft:
        if not turn.is_sidechain:
            return self._main
        if self._sidechain is None:
            main_heading = self._main.heading
            self._sidechain = Draft(Heading(id=f"{main_heading.id}-{_SIDECHAIN}", version=main_heading.version))
            self._sidechain.heading.parent, self._sidechain.heading.relation = main_heading.id, "subagent"
            self._main.events.append(Spawn(line=turn.line, at=turn.at, session=self._sidechain.heading.id))
        return self._sidechain

    def _add_event(self, section: Section, turn: Turn) -> None:
        draft, line, response = self._draft(turn), section.line, f"line {turn.line}"
        draft.heading.include_time(turn.at)
        draft.heading.model = draft.heading.model or turn.model
        if section.kind == "tool":
            _add_call(draft, section, turn)
        elif section.kind == "thought" and not turn.is_person:
            draft.events.append(Reasoning(line=line, at=turn.at, text=section.text, response=response))
        elif turn.is_person:
            injected = turn.is_sidechain or section.text.startswith(_INJECTED)
            origin = origin_of(section.text, injected)
            draft.events.append(UserMessage(line=line, at=turn.at, text=section.text, origin=origin))
        else:
            draft.events.append(
                AssistantMessage(line=line, at=turn.at, text=section.text, response=response, model=turn.model)
            )


def _parse_turn(section: Section) -> Turn:
    found = _ROLE.match(section.text)
    speaker = (found[3] or "") if found else ""
    when = _TIME.search(speaker)
    model = speaker[: when.start()].strip() if when else speaker
    is_person = bool(found and found[1] == "User")
    return Turn(is_person, bool(found and found[2]), model, epoch_seconds(when[0]) if when else None, section.line)


def _add_call(draft: Draft, section: Section, turn: Turn) -> None:
    call_id = f"line {section.line}"
    kind = _KIND_BY_TYPE.get(section.tool_type) or (
        "plan" if section.tool.startswith("Task") else kind_by_name(section.tool)
    )
    if section.tool == "Task":
        kind = "delegate"
    elif section.tool_type == "write" and kind_by_name(section.tool) == "edit":
        kind = "edit"
    draft.events.append(
        ToolCall(
            line=section.line,
            at=turn.at,
            call_id=call_id,
            tool=section.tool,
            kind=kind,
            input=section.tool_input or {},
            response=f"line {turn.line}",
        )
    )
    draft.events.append(ToolResult(line=section.line, at=turn.at, call_id=call_id, text=section.text))


class HistoryReader:
    """Reads SpecStory's Markdown."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        return bool(_BEGINNING.match(head))

    def parser(self, path: str, part: str = "") -> Parser:
        return HistoryParser(path)


READER = HistoryReader()
