"""The interfaces of a reader of an agent's sessions and of its parser.

A parser (see `parsing.py`) is a fold: it is fed the records of one source in order, returns the events they mean, and can save
its state to continue later. It never opens a file, so the same parser reads a file, a growing file and an archived copy. Knows
nothing of the archive.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from preheat.model.session import Relation, Session, Starter, Usage

Framing: TypeAlias = Literal["lines", "document", "database"]
"""How a source is divided into records: one a line, one a file, or rows that the reader writes out as lines."""


class DatabasePart(NamedTuple):
    """One session in a database; a new stamp means that it has changed."""

    id: str
    stamp: str


class Heading(msgspec.Struct):
    """What is known so far of a session, apart from its events."""

    id: str = ""
    version: str = ""
    model: str = ""
    project: str = ""
    branch: str = ""
    repository: str = ""
    commit: str = ""
    parent: str | None = None
    relation: Relation | None = None
    started_at: float | None = None
    ended_at: float | None = None
    starter: Starter = "unknown"
    title: str = ""
    reported: Usage | None = None

    def include_time(self, at: float | None) -> None:
        """Widen the session's time span to include a time; clocks may run backwards."""
        if at is None:
            return
        if self.started_at is None or at < self.started_at:
            self.started_at = at
        if self.ended_at is None or at > self.ended_at:
            self.ended_at = at


class Parser(Protocol):
    """Folds the records of one source into sessions."""

    def feed(self, block: bytes, line: int) -> None:
        """Read complete records, the first of which is at `line` (1-based). Never raises because of their content."""

    def take(self) -> list[Session]:
        """The sessions so far, each with the events and problems since the last `take`."""

    def save(self) -> bytes | None:
        """The state to continue from, or None if a changed source has to be read whole."""

    def load(self, state: bytes) -> None:
        """Continue from a saved state."""


class Reader(Protocol):
    """How to read what one agent keeps."""

    agent: str

    def framing(self, path: str) -> Framing:
        """How this file is divided into records; some agents have changed that over time."""

    def detect(self, head: bytes, path: str) -> bool:
        """Whether a file that begins with these bytes (its first 64 KB, decompressed) is this agent's."""

    def parser(self, path: str, part: str = "") -> Parser:
        """A parser for one source; the path is only a name to it."""


class DatabaseReader(Reader, Protocol):
    """A reader whose sources are databases of a program that may be running."""

    def parts(self, path: str) -> list[DatabasePart]:
        """The sessions in a database. Raises SourceUnreadable."""

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        """One session's rows, one JSON object a line, without the line end. Raises SourceUnreadable."""
