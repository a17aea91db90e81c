"""Brings readings together as the archive of one machine does: which reading of a session counts, and which of its records are
copies of another session's.

The records of all sessions are compared by DuckDB, which keeps on disk what does not fit in memory. Knows nothing of projects and
lessons.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import duckdb
import pyarrow
from pyarrow import dataset

from preheat.archive.writer import rank_original
from preheat.fleet.readings import IndexRow
from preheat.fleet.storage import Storage

_MEMORY = "1GB"


class Copies(NamedTuple):
    """By key of a session: what it copied from another one, where it counts."""

    calls: dict[str, tuple[int, ...]]
    """Numbers of calls."""
    responses: dict[str, tuple[int, ...]]
    """Numbers of responses."""


def choose_readings(index: Iterable[IndexRow], records: "RecordNames") -> dict[str, list[IndexRow]]:
    """By key of a session: the reading that counts, with those of the same object and content that left out copied calls.

    Of one object the later reading counts, unless it has less and nothing new; of several objects the one with most events."""
    by_key: defaultdict[str, defaultdict[tuple[str, str], dict[str, list[IndexRow]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for each in index:
        versions = by_key[each.key][each.object, each.part]
        versions.setdefault(each.content, []).append(each)
    chosen: dict[str, list[IndexRow]] = {}
    for key, objects in by_key.items():
        best: tuple[int, str, str] | None = None
        for (path, part), versions in sorted(objects.items()):
            latest = _choose_version(list(versions.values()), records)
            rank = (-latest[0].events, path, part)
            if best is None or rank < best:
                best, chosen[key] = rank, latest
    return chosen


def _choose_version(versions: list[list[IndexRow]], records: "RecordNames") -> list[IndexRow]:
    """Of the contents that one object had, in the order of their reading: the one that counts."""
    ordered = sorted(versions, key=lambda some: (min(each.generation for each in some), some[0].content))
    kept = ordered[0]
    for some in ordered[1:]:
        if some[0].events >= kept[0].events or records.has_news(some[0], kept[0]):
            kept = some
    return kept


class RecordNames:
    """Looks up the calls and responses of single readings; asked only where an object has shrunk."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def has_news(self, shorter: IndexRow, longer: IndexRow) -> bool:
        """Whether a shorter reading has a call or response that the longer one has not: the person went back and continued."""
        return bool(self._names(shorter) - self._names(longer))

    def _names(self, reading: IndexRow) -> set[object]:
        path = self._storage.full_path(reading.file)
        found = dataset.dataset([path], filesystem=self._storage.filesystem, format="parquet").to_table(
            columns=["calls", "responses"], filter=dataset.field("reading") == reading.reading
        )
        rows = found.to_pylist()[:1]
        return {each["call_id"] for row in rows for each in row["calls"]} | {
            each["response"] for row in rows for each in row["responses"]
        }


class _Records(NamedTuple):
    """A list of records of which copies are looked for."""

    column: str
    number: str
    same: tuple[str, ...]
    """The fields in which copies agree."""


_CALLS = _Records("calls", "seq", ("call_id", "at", "tool"))
_RESPONSES = _Records("responses", "response", ("response", "at"))


def find_copies(storage: Storage, chosen: Mapping[str, Sequence[IndexRow]], threads: int, scratch: str) -> Copies:
    """What the chosen sessions copied from each other."""
    if not chosen:
        return Copies({}, {})
    first = {key: some[0] for key, some in chosen.items()}
    files = sorted({each.file for each in first.values()})
    readings = dataset.dataset(
        [storage.full_path(file) for file in files], filesystem=storage.filesystem, format="parquet"
    )
    storage.requests["get"] += 2 * len(files)
    wanted = pyarrow.table({"reading": sorted(each.reading for each in first.values())})
    with duckdb.connect(":memory:") as database:
        database.execute(f"SET memory_limit = '{_MEMORY}'")
        database.execute(f"SET threads = {threads}")
        database.execute("SET temp_directory = ?", [scratch])
        database.register("readings", readings)
        database.register("wanted", wanted)
        calls = _find_copied(database, _CALLS, first)
        return Copies(calls, _find_copied(database, _RESPONSES, first))


def _find_copied(
    database: duckdb.DuckDBPyConnection, records: _Records, sessions: Mapping[str, IndexRow]
) -> dict[str, tuple[int, ...]]:
    """Records that count in another session: of those that are the same, all but the ones of the original (`rank_original`)."""
    same = ", ".join(f'each."{name}" AS "{name}"' for name in records.same)
    database.execute(
        # A reading that is in two batches is the same twice.
        f"CREATE OR REPLACE TEMP TABLE records AS SELECT DISTINCT key, each.{records.number} AS number, {same} "  # noqa: S608
        f"FROM (SELECT key, unnest({records.column}) AS each FROM readings SEMI JOIN wanted USING (reading)) "
        'WHERE each."at" IS NOT NULL'
    )
    columns = ", ".join(f'"{name}"' for name in records.same)
    rows = database.execute(
        f"SELECT key, number, {columns} FROM records SEMI JOIN (SELECT {columns} FROM records GROUP BY {columns} "  # noqa: S608
        f"HAVING min(key) <> max(key)) USING ({columns})"
    )
    holders: defaultdict[tuple[object, ...], list[tuple[str, int]]] = defaultdict(list)
    while some := rows.fetchmany(10_000):
        for key, number, *record in some:
            holders[tuple(record)].append((key, number))
    found: defaultdict[str, set[int]] = defaultdict(set)
    for held in holders.values():
        owner = min({key for key, _ in held}, key=lambda key: _rank(sessions[key]))
        for key, number in held:
            if key != owner:
                found[key].add(number)
    return {key: tuple(sorted(numbers)) for key, numbers in found.items()}


def _rank(session: IndexRow) -> tuple[bool, float, float, str]:
    return rank_original(session.has_parent, session.started_at, session.ended_at, session.key)
