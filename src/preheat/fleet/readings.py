"""Readings: what a batch of objects gave, a row for each session, in one Parquet file; what tasks on other machines hand over.

A reading has what the archive of one machine would be given (`archive.rows`), as one value, beside the columns that are needed to
bring all readings together. Knows nothing of how they are brought together.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from io import BytesIO
from typing import Any, NamedTuple

import msgspec
import pyarrow
from pyarrow import parquet

from preheat.archive.rows import Delta, SessionRows
from preheat.fleet.storage import Storage

ROW_GROUP = 16
"""Sessions that are read together: a partition takes only the groups that its sessions are in."""

_ROWS = msgspec.msgpack.Decoder(SessionRows)
_CALL = pyarrow.struct(
    [("seq", pyarrow.int32()), ("call_id", pyarrow.string()), ("at", pyarrow.float64()), ("tool", pyarrow.string())]
)
_RESPONSE = pyarrow.struct([("response", pyarrow.int64()), ("at", pyarrow.float64())])
SCHEMA = pyarrow.schema(
    [
        ("reading", pyarrow.string()),
        ("key", pyarrow.string()),
        ("agent", pyarrow.string()),
        ("object", pyarrow.string()),
        ("part", pyarrow.string()),
        ("content", pyarrow.string()),
        ("events", pyarrow.int64()),
        ("has_parent", pyarrow.bool_()),
        ("started_at", pyarrow.float64()),
        ("ended_at", pyarrow.float64()),
        ("folder", pyarrow.string()),
        ("statement", pyarrow.binary()),
        ("tree", pyarrow.binary()),
        ("copied", pyarrow.list_(pyarrow.int32())),
        ("calls", pyarrow.list_(_CALL)),
        ("responses", pyarrow.list_(_RESPONSE)),
        ("rows", pyarrow.binary()),
    ]
)
INDEX_COLUMNS = (
    "reading", "key", "object", "part", "content", "events", "has_parent", "started_at", "ended_at", "folder", "statement",
    "tree", "copied",
)  # fmt: skip


class IndexRow(NamedTuple):
    """A reading without its rows, and where these are."""

    reading: str
    """Names the reading: the same object, content, session and copied calls have the same name."""
    key: str
    object: str
    part: str
    content: str
    events: int
    has_parent: bool
    started_at: float | None
    ended_at: float | None
    folder: str
    statement: bytes | None
    """None where the session could not be analysed."""
    tree: bytes | None
    copied: tuple[int, ...]
    """Numbers of the calls that were left out because they count in another session."""
    file: str
    group: int
    """The row group in the file."""
    generation: int


def make_rows(delta: Delta, path: str, content: str, copied: Iterable[int] = ()) -> list[dict[str, Any]]:
    """The readings of one source, as rows of the file."""
    numbers = sorted(copied)
    return [_make_row(delta, rows, path, content, numbers) for rows in delta.sessions]


def _make_row(delta: Delta, rows: SessionRows, path: str, content: str, copied: list[int]) -> dict[str, Any]:
    key = f"{delta.agent}:{rows.session}"
    name = msgspec.msgpack.encode((path, delta.part, content, key, copied))
    analysis = rows.analysis
    return {
        "reading": blake2b(name, digest_size=12).hexdigest(),
        "key": key,
        "agent": delta.agent,
        "object": path,
        "part": delta.part,
        "content": content,
        "events": rows.counts["events"],
        "has_parent": rows.heading["parent"] is not None,
        "started_at": rows.heading["started_at"],
        "ended_at": rows.heading["ended_at"],
        "folder": rows.heading["project"],
        "statement": analysis.statement if analysis is not None else None,
        "tree": analysis.tree if analysis is not None else None,
        "copied": copied,
        "calls": [
            {"seq": seq, "call_id": call.call_id, "at": call.at, "tool": call.tool}
            for seq, call in enumerate(rows.calls)
        ],
        "responses": [{"response": each.response, "at": each.at} for each in rows.responses],
        "rows": msgspec.msgpack.encode(rows),
    }


def write_table(table: pyarrow.Table, row_group: int) -> bytes:
    """A table as the bytes of a Parquet file."""
    buffer = BytesIO()
    parquet.write_table(table, buffer, compression="zstd", row_group_size=row_group, write_statistics=False)
    return buffer.getvalue()


def encode_readings(rows: Sequence[dict[str, Any]]) -> bytes:
    """The file of readings."""
    return write_table(pyarrow.Table.from_pylist(list(rows), schema=SCHEMA), ROW_GROUP)


def load_index(storage: Storage, file: str, generation: int) -> list[IndexRow]:
    """The readings of a file, without their rows."""
    storage.requests["get"] += 2
    found = parquet.ParquetFile(storage.filesystem.open_input_file(storage.full_path(file)))
    rows: list[IndexRow] = []
    for batch in found.iter_batches(batch_size=1024, columns=list(INDEX_COLUMNS)):
        for values in batch.to_pylist():
            values["copied"] = tuple(values["copied"] or ())
            rows.append(IndexRow(**values, file=file, group=len(rows) // ROW_GROUP, generation=generation))
    return rows


def load_rows(storage: Storage, wanted: Iterable[tuple[str, int, str]]) -> Iterator[tuple[str, str, SessionRows]]:
    """Name, object and rows of these readings, given by file, row group and name."""
    by_file: dict[str, dict[int, set[str]]] = {}
    for file, group, reading in wanted:
        by_file.setdefault(file, {}).setdefault(group, set()).add(reading)
    for file, groups in sorted(by_file.items()):
        found = parquet.ParquetFile(storage.filesystem.open_input_file(storage.full_path(file)))
        storage.requests["get"] += 1 + len(groups)
        for group, readings in sorted(groups.items()):
            table = found.read_row_group(group, columns=["reading", "object", "rows"])
            for each in table.to_pylist():
                if each["reading"] in readings:
                    readings.discard(each["reading"])  # a batch that was read twice holds it twice
                    yield each["reading"], each["object"], _ROWS.decode(each["rows"])
