"""Reads Aider's chat history (`.aider.chat.history.md`): Markdown that every chat in a repository is appended to.

It holds prompts, answers and what the program printed; no calls, no outcomes, and no times but when a chat began. Knows
nothing of where the file comes from.
"""

import os
import re
from hashlib import sha256
from typing import NamedTuple

from preheat.agents.documents import DocumentParser
from preheat.agents.parsing import Draft, epoch_seconds, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.model.session import AssistantMessage, Other, UserMessage

AGENT = "aider"
_START = "# aider chat started at "
_BEGINNING = re.compile(rb"\s*# aider chat started at \d{4}-\d\d-\d\d")
_PROMPT, _OUTPUT = "####", ">"
_FENCE = re.compile(r" {0,3}(`{3,})")
_END_OF_ANSWER = re.compile(r"> (?:Tokens: |Applied edit to |Commit |[\d,]+ prompt tokens)")
_VERSION = re.compile(r"^Aider v(\S+)", re.MULTILINE)
_MODEL = re.compile(r"^(?:Main model|Models?): (\S+)", re.MULTILINE)


class HistoryPart(NamedTuple):
    """Consecutive lines of one kind: prompt, answer or output."""

    kind: str
    text: str
    line: int


class HistoryParser(DocumentParser):
    """All chats of one file."""

    agent = AGENT

    def read(self, block: bytes, line: int) -> None:
        lines = block.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        starts = [index for index, text in enumerate(lines) if text.startswith(_START)]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
            self.add(self._draft_of_chat(lines[start:end], line + start))
        if not starts:
            self.add_problem("no chat begins in it", line)

    def _draft_of_chat(self, lines: list[str], first: int) -> Draft:
        when = lines[0].removeprefix(_START).strip()
        parts = list(_split_parts(lines[1:], first + 1))
        opening = parts[0].text if parts and parts[0].kind == "output" else ""
        mark = sha256(f"{when}\n{opening}".encode("utf-8", "replace")).hexdigest()[:12]
        safe_time = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in when)
        draft = Draft(Heading(id=f"{safe_time[:40]}-{mark}"))
        heading, at = draft.heading, epoch_seconds(when)
        heading.include_time(at)
        heading.version = found[1] if (found := _VERSION.search(opening)) else ""
        heading.model = found[1] if (found := _MODEL.search(opening)) else ""
        if os.path.isabs(self.path) and os.path.basename(self.path) == ".aider.chat.history.md":
            heading.project = os.path.dirname(self.path)
        draft.events.append(Other(line=first, at=at, name="start", raw=when))
        for part in parts:
            self._add_event(draft, part)
        return draft

    def _add_event(self, draft: Draft, part: HistoryPart) -> None:
        if part.kind == "prompt":
            origin = origin_of(part.text, injected=False)
            draft.events.append(UserMessage(line=part.line, text=part.text, origin=origin))
        elif part.kind == "output":
            draft.events.append(Other(line=part.line, name="output", raw=part.text))
        else:
            draft.events.append(
                AssistantMessage(
                    line=part.line, text=part.text, response=f"line {part.line}", model=draft.heading.model
                )
            )


def _split_parts(lines: list[str], first: int) -> list[HistoryPart]:
    """Prompts, answers and the program's output, as far as the first characters of the lines tell them apart."""
    found: list[tuple[str, list[str], int]] = []
    index = 0
    fences = _Fences(lines)
    while index < len(lines):
        end = fences.end(index)
        for offset in range(index, end):
            kind, text = ("answer", lines[offset]) if end > index + 1 else _classify_line(lines[offset])
            if found and found[-1][0] == kind:
                found[-1][1].append(text)
            elif text.strip():
                found.append((kind, [text], first + offset))
        index = end
    parts = [HistoryPart(kind, "\n".join(texts).strip("\n"), line) for kind, texts, line in found]
    return [part for part in parts if part.text.strip()]


def _classify_line(line: str) -> tuple[str, str]:
    if line.startswith(f"{_PROMPT} ") or line == _PROMPT:
        return "prompt", line[len(_PROMPT) + 1 :].removesuffix("  ")
    if line.startswith(f"{_OUTPUT} ") or line == _OUTPUT:
        return "output", line[len(_OUTPUT) + 1 :].removesuffix("  ")
    return "answer", line


class _Fences:
    """Finds the ends of code blocks, in linear time also for blocks that do not end."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._unclosed = (0, 0)
        """Backticks and line: blocks of at least so many backticks that begin before this line have no end."""

    def end(self, begin: int) -> int:
        """The line after the code block that begins at a line, or the next line if none begins there."""
        opening = _FENCE.match(self._lines[begin])
        if opening is None:
            return begin + 1
        length = len(opening[1])
        if begin < self._unclosed[1] and length >= self._unclosed[0]:
            return begin + 1
        index = begin + 1
        for index in range(begin + 1, len(self._lines)):
            line = self._lines[index]
            closing = _FENCE.match(line)
            if closing and len(closing[1]) >= length and not line.strip().strip("`"):
                return index + 1
            if _END_OF_ANSWER.match(line):
                break
        self._unclosed = (length, index)
        return begin + 1


class HistoryReader:
    """Reads chat histories."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        return bool(_BEGINNING.match(head))

    def parser(self, path: str, part: str = "") -> Parser:
        return HistoryParser(path)


READER = HistoryReader()
