"""What the archive is asked through: one connection, whichever database keeps it. Light: standard library only.

The statements of the archive are in the common subset of SQLite and PostgreSQL, with SQLite's marks for parameters (`?`, `?1`,
`:name`) and its hints (`INDEXED BY`, `CROSS JOIN` for an order of joining), which `postgresql.py` translates. What has no common
form is a method here. Knows no table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

Parameters = Sequence[Any] | Mapping[str, Any]
DatabaseKind = Literal["sqlite", "postgresql"]


class Rows(Protocol):
    """The rows that a statement gives."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class ArchiveConnection(Protocol):
    """A connection to the archive. Outside of a transaction each statement is one of its own."""

    @property
    def kind(self) -> DatabaseKind: ...

    @property
    def path(self) -> str:
        """How the archive is named to a person: the path of its file, or its address without a password."""

    @property
    def folder(self) -> str:
        """Preheat's folder, with the state and everything else of this machine; empty for an archive in memory."""

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows: ...

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> Rows: ...

    def insert(self, statement: str, parameters: Parameters, /) -> int:
        """Run an INSERT of one row into a table with an `id`; the id of the row."""

    def insert_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows that are new, many at once."""

    def transaction(self) -> AbstractContextManager[None]:
        """One transaction that lets nobody else write from its start. After an error nothing of it is left."""

    def snapshot(self) -> AbstractContextManager[None]:
        """One transaction in which every statement reads the archive as it was at the first of them."""

    def storable_text(self, text: str) -> str:
        """A text as the database gives it back: not every database keeps every character."""

    def begin_secure_deletion(self) -> None:
        """From now on what is deleted is overwritten, where the database can do that at once."""

    def overwrite_free_pages(self) -> None:
        """Make that nothing of what was deleted is left in the files of the archive."""

    def find_damage(self) -> list[str]:
        """What is wrong with the pages of the archive; some of it, if it is much."""

    def size(self) -> int:
        """Bytes of the archive on its disk."""

    def close(self) -> None: ...
