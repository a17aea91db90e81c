"""Shared by the parsers of files that are read whole: a file is one document or lines, and may hold several sessions.

Knows no format.
"""

import os
from typing import Any, ClassVar

from preheat.agents.parsing import MAX_PROBLEMS, Draft, decode_json, whole_lines
from preheat.agents.reader import Heading
from preheat.model.session import Problem, Session


class DocumentParser:
    """Reads a file whole and returns all its sessions; problems of the file itself are given to the first session."""

    agent: ClassVar[str]

    def __init__(self, path: str) -> None:
        self.path = path
        self.drafts: list[Draft] = []
        self._names: set[str] = set()
        self._problems: list[Problem] = []

    # Each format's parser implements this.
    def read(self, block: bytes, line: int) -> None:
        """Add a draft for each session in the file."""
        raise NotImplementedError

    # Shared by all of them.
    def feed(self, block: bytes, line: int) -> None:
        self.read(block, line)
        if not self.drafts:
            self.add(Draft(Heading(id=self.stem)))
        self.drafts[0].problems += self._problems
        self._problems = []

    def add(self, draft: Draft) -> None:
        """Add a session of the file; a second one with the same id gets a number."""
        heading = draft.heading
        if heading.id in self._names:
            heading.id = f"{heading.id}-{len(self.drafts) + 1}"
        self._names.add(heading.id)
        self.drafts.append(draft)

    def add_problem(self, message: str, line: int) -> None:
        self._problems.append(Problem(message, self.path, line))

    def add_problems(self, found: list[tuple[str, int]], line: int) -> None:
        """Add problems whose lines are counted from the first line of the block."""
        for message, at in found:
            self.add_problem(message, line + at - 1)

    @property
    def stem(self) -> str:
        """The file's name without its suffixes."""
        return os.path.basename(self.path.replace("\\", "/")).lstrip(".").partition(".")[0] or self.agent

    def take(self) -> list[Session]:
        return [draft.take(self.agent) for draft in self.drafts if draft.heading.id]

    def save(self) -> bytes | None:
        return None

    def load(self, state: bytes) -> None:
        """A document is always read whole."""


def read_values(block: bytes) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
    """The JSON values of a file (one a line, or a list in one document) with their lines, and the problems with the rest."""
    try:
        document = decode_json(block)
    except (ValueError, RecursionError):
        return _values_of_lines(block)
    return [(value, 1) for value in (document if isinstance(document, list) else [document])], []


def _values_of_lines(block: bytes) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
    found: list[tuple[Any, int]] = []
    problems: list[tuple[str, int]] = []
    for line, text in enumerate(whole_lines(block), 1):
        if not text.strip():
            continue
        try:
            found.append((decode_json(text), line))
        except (ValueError, RecursionError) as error:
            if len(problems) < MAX_PROBLEMS:
                problems.append((f"not a JSON record ({str(error)[:120]}); passed over", line))
    return found, problems
