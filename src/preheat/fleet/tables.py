"""The tables of a fleet: sessions, calls, outcomes, episodes, notes and responses, partitioned by project and day.

The columns are those of one machine's archive. A partition is written whole, under a name made of the readings that it holds.
Knows nothing of how sessions are assigned to projects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
import pyarrow
from pyarrow import parquet

from preheat.archive.packing import Decompressor, decode_stored
from preheat.archive.rows import ResponseRow, SessionRows
from preheat.fleet.manifest import TableFile
from preheat.fleet.readings import load_rows, write_table
from preheat.fleet.storage import Location, Storage
from preheat.model.analysis import Episode
from preheat.model.outcome import CAUSES, RUNGS, STATUSES
from preheat.model.session import Usage
from preheat.prices import price_usage

TABLE_VERSION = 1
"""Raised when the columns change: every partition is then written again."""
NO_DAY = "unknown"
_ROW_GROUP = 65_536
_COUNTED = ("calls", "errors")

_TEXT, _WHOLE, _NUMBER, _BYTES = pyarrow.string(), pyarrow.int64(), pyarrow.float64(), pyarrow.binary()
_FLAG = pyarrow.bool_()
_WORDS = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
SCHEMAS: dict[str, pyarrow.Schema] = {
    "sessions": pyarrow.schema(
        [
            ("session", _TEXT), ("agent", _TEXT), ("object", _TEXT), ("version", _TEXT), ("model", _TEXT), ("folder", _TEXT),
            ("branch", _TEXT), ("parent", _TEXT), ("relation", _TEXT), ("started_at", _NUMBER), ("ended_at", _NUMBER),
            ("starter", _TEXT), ("title", _TEXT), ("opening", _TEXT), ("events", _WHOLE), ("prompts", _WHOLE),
            ("messages", _WHOLE), ("calls", _WHOLE), ("errors", _WHOLE), ("compactions", _WHOLE), ("input_tokens", _WHOLE),
            ("output_tokens", _WHOLE), ("cache_read_tokens", _WHOLE), ("cache_write_tokens", _WHOLE), ("profile", _BYTES),
        ]
    ),
    "calls": pyarrow.schema(
        [
            ("session", _WORDS), ("seq", _WHOLE), ("call_id", _TEXT), ("line", _WHOLE), ("response", _WHOLE), ("tool", _WORDS),
            ("kind", _WORDS), ("summary", _TEXT), ("at", _NUMBER), ("ended_at", _NUMBER), ("is_error", _FLAG),
            ("exit_code", _WHOLE), ("output_size", _WHOLE), ("copied", _FLAG),
        ]
    ),
    "outcomes": pyarrow.schema(
        [
            ("session", _WORDS), ("seq", _WHOLE), ("message", _WHOLE), ("era", _WHOLE), ("tool", _WORDS), ("kind", _WORDS),
            ("activity", _WORDS), ("bookkeeping", _FLAG), ("status", _WORDS), ("rung", _WORDS), ("cause", _WORDS),
            ("exit_code", _WHOLE), ("signature", _TEXT), ("confidence", _NUMBER), ("repeated", _FLAG), ("reread", _FLAG),
            ("seconds", _NUMBER), ("lost_seconds", _NUMBER), ("lost_tokens", _WHOLE), ("recovered_in", _WHOLE),
        ]
    ),
    "episodes": pyarrow.schema(
        [
            ("session", _WORDS), ("number", _WHOLE), ("line", _WHOLE), ("prompt", _TEXT), ("started_at", _NUMBER),
            ("ended_at", _NUMBER), ("files", pyarrow.list_(_TEXT)), ("changed", pyarrow.list_(_TEXT)), ("checks", _WHOLE),
            ("failed_checks", _WHOLE), ("closing", _TEXT), ("first_seq", _WHOLE), ("calls", _WHOLE),
        ]
    ),
    "notes": pyarrow.schema(
        [
            ("session", _WORDS), ("agent", _WORDS), ("started_at", _NUMBER), ("ended_at", _NUMBER), ("learner", _WORDS),
            ("version", _WHOLE), ("stamp", _WHOLE), ("data", _BYTES),
        ]
    ),
    "responses": pyarrow.schema(
        [
            ("session", _WORDS), ("response", _WHOLE), ("model", _WORDS), ("at", _NUMBER), ("input_tokens", _WHOLE),
            ("output_tokens", _WHOLE), ("cache_read_tokens", _WHOLE), ("cache_write_tokens", _WHOLE),
            ("reasoning_tokens", _WHOLE), ("money", _NUMBER), ("copied", _FLAG),
        ]
    ),
}  # fmt: skip
_EPISODES = msgspec.msgpack.Decoder(tuple[Episode, ...])


class PlacedReading(NamedTuple):
    """A session of a partition: which reading it is, and what of it counts elsewhere."""

    key: str
    file: str
    group: int
    reading: str
    copied_calls: tuple[int, ...]
    copied_responses: tuple[int, ...]
    is_analysed: bool
    """False where the object was gone before its copied calls could be left out: then only what it says itself is kept."""


class Partition(NamedTuple):
    """The sessions of one project and one day."""

    project: str
    day: str
    readings: tuple[PlacedReading, ...]

    @property
    def digest(self) -> str:
        parts = [(each.key, each.reading, *each[4:]) for each in self.readings]
        return blake2b(msgspec.msgpack.encode((TABLE_VERSION, parts)), digest_size=12).hexdigest()


class PartitionGroup(NamedTuple):
    """Partitions that one task writes."""

    destination: Location
    partitions: tuple[Partition, ...]


class WrittenTables(msgspec.Struct, frozen=True):
    """The files that a task wrote."""

    files: tuple[TableFile, ...]
    requests: dict[str, int]


def day_of(started_at: float | None) -> str:
    """The day of a session, in UTC: machines of a fleet have many zones."""
    try:
        return NO_DAY if started_at is None else datetime.fromtimestamp(started_at, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return NO_DAY


def write_partitions(group: PartitionGroup) -> WrittenTables:
    """Write the tables of some partitions."""
    storage = Storage(group.destination)
    wanted = [(each.file, each.group, each.reading) for one in group.partitions for each in one.readings]
    rows = {reading: (path, found) for reading, path, found in load_rows(storage, wanted)}
    files: list[TableFile] = []
    for partition in group.partitions:
        columns: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
        for each in partition.readings:
            path, found = rows[each.reading]
            found = found if each.is_analysed else found._replace(analysis=None)
            for table, some in _make_rows(each, path, found).items():
                columns[table] += some
        for table, some in columns.items():
            if some:
                data = write_table(pyarrow.Table.from_pylist(some, schema=SCHEMAS[table]), _ROW_GROUP)
                counts = {name: sum(row[name] for row in some) for name in _COUNTED} if table == "sessions" else {}
                place = (partition.project, partition.day, partition.digest)
                file = TableFile(table, *place, len(some), len(data), counts)
                storage.write(file.path, data)
                files.append(file)
    return WrittenTables(tuple(files), dict(storage.requests))


# Rows of one session.
def _make_rows(each: PlacedReading, path: str, rows: SessionRows) -> dict[str, list[dict[str, Any]]]:
    analysis = rows.analysis
    calls, responses = set(each.copied_calls), set(each.copied_responses)
    return {
        "sessions": [_session_row(each, path, rows, calls, responses)],
        "calls": [
            {"session": each.key, "seq": seq, "copied": seq in calls, **call._asdict()} for seq, call in enumerate(rows.calls)
        ],
        "outcomes": list(_outcome_rows(each.key, rows)),
        "episodes": list(_episode_rows(each.key, rows)),
        "notes": [
            {
                "session": each.key, "agent": each.key.partition(":")[0], "started_at": rows.heading["started_at"],
                "ended_at": rows.heading["ended_at"], **note._asdict(),
            }
            for note in sorted(analysis.notes if analysis is not None else ())
            if note.data is not None
        ],
        "responses": [_response_row(each.key, one, rows, one.response in responses) for one in rows.responses],
    }  # fmt: skip


def _session_row(
    each: PlacedReading, path: str, rows: SessionRows, calls: set[int], responses: set[int]
) -> dict[str, Any]:
    own = [one for one in rows.responses if one.response not in responses]
    analysis = rows.analysis
    counts = {**rows.counts, "calls": len(rows.calls) - len(calls)}
    if analysis is not None:
        counts["errors"] = analysis.errors
    heading = {name: value for name, value in rows.heading.items() if name != "project"}
    return {
        "session": each.key,
        "agent": each.key.partition(":")[0],
        "object": path,
        "folder": rows.heading["project"],
        "opening": rows.opening,
        "profile": analysis.profile if analysis is not None else None,
        **heading,
        **counts,
        **{
            name: sum(getattr(one, name) for one in own)
            for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        },
    }


def _outcome_rows(key: str, rows: SessionRows) -> Iterator[dict[str, Any]]:
    analysis = rows.analysis
    if analysis is None:
        return
    for each in analysis.outcomes:
        tool, kind, activity, bookkeeping = analysis.purposes[each.purpose]
        yield {
            **each._asdict(),
            "session": key,
            "tool": tool,
            "kind": kind,
            "activity": activity,
            "bookkeeping": bookkeeping,
            "status": STATUSES[each.status],
            "rung": RUNGS[each.rung],
            "cause": None if each.cause is None else CAUSES[each.cause],
            "signature": None if each.signature is None else analysis.signatures[each.signature],
        }


def _episode_rows(key: str, rows: SessionRows) -> Iterator[dict[str, Any]]:
    if rows.analysis is None or not rows.analysis.episodes:
        return
    for each in decode_stored(_EPISODES, Decompressor().decompress(rows.analysis.episodes)):
        yield {
            "session": key,
            "number": each.number,
            "line": each.line,
            "prompt": each.prompt,
            "started_at": each.started_at,
            "ended_at": each.ended_at,
            "files": list(dict.fromkeys(one.path for one in each.files)),
            "changed": list(each.paths("changed", "made", "removed")),
            "checks": len(each.checks),
            "failed_checks": sum(one.ending == "failed" for one in each.checks),
            "closing": each.closing,
            "first_seq": each.first_seq,
            "calls": each.calls,
        }


def _response_row(key: str, each: ResponseRow, rows: SessionRows, is_copied: bool) -> dict[str, Any]:
    model, at = each.model or rows.heading["model"], each.at or rows.heading["started_at"]
    usage = Usage(
        each.input_tokens, each.output_tokens, each.cache_read_tokens, each.cache_write_tokens, each.reasoning_tokens,
        each.cache_write_hour_tokens,
    )  # fmt: skip
    money = None if is_copied or not usage.total else price_usage(model, usage, at)
    return {**each._asdict(), "session": key, "model": model, "at": at, "money": money, "copied": is_copied}


# Reading them again.
def load_table(
    storage: Storage,
    files: Iterable[TableFile],
    columns: Sequence[str],
    wanted: Mapping[str, frozenset[str]] | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows of some files of one table; `wanted` has by column the values that are wanted."""
    for file in files:
        storage.requests["get"] += 2
        found = parquet.ParquetFile(storage.filesystem.open_input_file(storage.full_path(file.path)))
        for batch in found.iter_batches(columns=list(columns)):
            for row in batch.to_pylist():
                if all(row[name] in values for name, values in (wanted or {}).items()):
                    yield {**row, "project": file.project}
