"""Which documents have a term, and how often: written in segments, so that a change adds a little and rewrites nothing.

A document is one version of one file and has a number; a posting is that number and a count in 32 bits. Knows no files.
"""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import count, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_DOCUMENTS = 1 << 24
_MOST_COUNT = 255
_MOST_POSTINGS, _MOST_TERMS = 1_000_000, 120_000
"""What is kept in memory before it is written, about 40 MB."""
_MOST_SEGMENTS = 16
_MERGE = 9
"""How many segments, the smallest, are merged into one."""

Numbers = npt.NDArray[np.uint32]


class SegmentWriter:
    """Collects the terms of documents and writes them as one segment."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._terms: defaultdict[str, int] = defaultdict(count().__next__)
        self._numbers = array("I")
        self._counts = array("I")
        self._documents = array("I")
        self._lengths = array("I")

    @property
    def is_full(self) -> bool:
        return len(self._numbers) >= _MOST_POSTINGS or len(self._terms) >= _MOST_TERMS

    def add(self, document: int, counts: Mapping[str, int]) -> None:
        """Add the terms of a document."""
        self._numbers.extend(map(self._terms.__getitem__, counts))
        self._counts.extend(counts.values())
        self._documents.append(document)
        self._lengths.append(len(counts))

    def write(self, connection: sqlite3.Connection) -> None:
        """Write what was collected, and begin anew."""
        if not self._numbers:
            return
        numbers = np.frombuffer(self._numbers, np.uint32)
        documents = np.repeat(np.frombuffer(self._documents, np.uint32) << 8, np.frombuffer(self._lengths, np.uint32))
        order = np.argsort(numbers, kind="stable")
        counts = np.minimum(np.frombuffer(self._counts, np.uint32), _MOST_COUNT)
        postings = (documents | counts)[order].tobytes()
        ends = np.cumsum(np.bincount(numbers, minlength=len(self._terms))) * 4
        starts = [0, *ends.tolist()]
        numbers_of = self._terms
        rows = ((term, postings[starts[at := numbers_of[term]] : starts[at + 1]]) for term in sorted(numbers_of))
        _write_segment(connection, rows, len(self._numbers))
        self._clear()


def _write_segment(connection: sqlite3.Connection, rows: Iterable[tuple[str, bytes]], postings: int) -> int:
    number: int = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM segment").fetchone()[0]
    connection.execute("INSERT INTO segment VALUES (?, ?)", (number, postings))
    connection.executemany(f"INSERT INTO posting VALUES ({number:d}, ?, ?)", rows)  # noqa: S608 - our own number
    return number


def merge_segments(connection: sqlite3.Connection, is_alive: npt.NDArray[np.bool_], whole: bool = False) -> None:
    """Merge the smallest segments if there are too many, or all of them; documents that are no more are dropped."""
    sizes = connection.execute("SELECT number FROM segment ORDER BY postings, number").fetchall()
    if not whole and len(sizes) <= _MOST_SEGMENTS:
        return
    merged = [number for (number,) in (sizes if whole else sizes[:_MERGE])]
    written = 0

    def rows() -> Iterator[tuple[str, bytes]]:
        nonlocal written
        streams = [_stream(connection, number) for number in merged]
        for term, group in groupby(merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
            postings = np.frombuffer(b"".join(each[1] for each in group), np.uint32)
            kept = postings[is_alive[postings >> 8]]
            if len(kept):
                written += len(kept)
                yield term, kept.tobytes()

    number = _write_segment(connection, rows(), 0)
    connection.execute("UPDATE segment SET postings = ? WHERE number = ?", (written, number))
    for old in merged:
        connection.execute("DELETE FROM posting WHERE segment = ?", (old,))
        connection.execute("DELETE FROM segment WHERE number = ?", (old,))


def _stream(connection: sqlite3.Connection, segment: int) -> Iterator[tuple[str, bytes]]:
    return connection.execute("SELECT term, documents FROM posting WHERE segment = ? ORDER BY term", (segment,))


class Reader:
    """Reads the postings of one state of the database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._segments = [number for (number,) in connection.execute("SELECT number FROM segment")]

    def count_documents(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many documents each of these terms is, those that are no more included; terms that are nowhere are left out."""
        found: dict[str, int] = {}
        for term in terms:
            for (size,) in self._look_up("length(documents)", term):
                found[term] = found.get(term, 0) + size // 4
        return found

    def load(self, term: str) -> Numbers:
        """The postings of a term, in no order; a document has at most one."""
        return np.frombuffer(b"".join(row[0] for row in self._look_up("documents", term)), np.uint32)

    def _look_up(self, column: str, term: str) -> Iterator[tuple[Any, ...]]:
        # One by one: as a join, SQLite reads the whole table.
        for segment in self._segments:
            yield from self._connection.execute(
                f"SELECT {column} FROM posting WHERE segment = ? AND term = ?",  # noqa: S608 - our own words
                (segment, term),
            )
