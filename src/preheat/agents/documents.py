"""What the parsers of whole files share: a file is one document or lines, and may hold several sessions.

Knows no format.
"""

import os
from typing import Any, ClassVar

from preheat.agents.parsing import MOST_PROBLEMS, Draft, loose, whole_lines
from preheat.agents.reader import Heading
from preheat.model.session import Problem, Session


class DocumentParser:
    """Reads a file whole and gives all its sessions; problems that belong to none go to the first."""

    agent: ClassVar[str]

    def __init__(self, path: str) -> None:
        self.path = path
        self.drafts: list[Draft] = []
        self._names: set[str] = set()
        self._problems: list[Problem] = []

    # What a parser of a format writes.
    def read(self, block: bytes, line: int) -> None:
        """Add a draft for each session in the file."""
        raise NotImplementedError

    # What every parser has.
    def feed(self, block: bytes, line: int) -> None:
        self.read(block, line)
        if not self.drafts:
            self.add(Draft(Heading(id=self.stem)))
        self.drafts[0].problems += self._problems
        self._problems = []

    def add(self, draft: Draft) -> None:
        """A session of the file; two of one name are two sessions."""
        heading = draft.heading
        if heading.id in self._names:
            heading.id = f"{heading.id}-{len(self.drafts) + 1}"
        self._names.add(heading.id)
        self.drafts.append(draft)

    def problem(self, message: str, line: int) -> None:
        self._problems.append(Problem(message, self.path, line))

    def problems(self, found: list[tuple[str, int]], line: int) -> None:
        """Problems with their lines, counted from the file's first."""
        for message, at in found:
            self.problem(message, line + at - 1)

    @property
    def stem(self) -> str:
        """The file's name without its endings."""
        return os.path.basename(self.path.replace("\\", "/")).lstrip(".").partition(".")[0] or self.agent

    def take(self) -> list[Session]:
        return [draft.take(self.agent) for draft in self.drafts if draft.heading.id]

    def save(self) -> bytes | None:
        return None

    def load(self, state: bytes) -> None:
        """A document is always read whole."""


def values_in(block: bytes) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
    """The JSON values of a file with their lines (one a line, or a list in one document), and what could not be read."""
    try:
        document = loose(block)
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
            found.append((loose(text), line))
        except (ValueError, RecursionError) as error:
            if len(problems) < MOST_PROBLEMS:
                problems.append((f"not a JSON record ({str(error)[:120]}); passed over", line))
    return found, problems
