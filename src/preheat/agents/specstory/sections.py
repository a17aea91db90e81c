"""Cuts SpecStory's Markdown into sections: who speaks, what was said, thought and called. Knows nothing of sessions.

What tools gave back stands in there as it was, and may look like any of it: a section of a tool goes to its own end.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

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
        yield from _text(pending, first + begin)
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
    yield from _text(pending, first + begin)


def _text(lines: list[str], line: int) -> Iterator[Section]:
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
