"""Takes out of a database what a function finds in its bytes and texts, for good: packs, rows, the search index and free pages.

For the archive and for the state beside it. Which columns are identities, which must stay as they are, is said here; what is to
be taken out is said by the function. Knows nothing of secrets.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import LargeBinary, Text

from preheat.archive.analyses import drop_analysis, drop_unused_texts
from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import FRAME_START, compress, decompress, pack_passages, unpack_passages
from preheat.archive.raw import repack
from preheat.archive.schema import METADATA
from preheat.archive.search_index import forget_words, index_passages, unindex_passages

Clean: TypeAlias = Callable[[bytes], tuple[bytes, dict[str, int]]]
"""The bytes without what is to be taken out, and how many of each kind that was."""
Found: TypeAlias = dict[str, Counter[str]]
"""How many of each kind were found, by where: the key of a session, or the name of a table."""

_OTHERWISE = frozenset(
    ["packs", "segments", "passages", "redactions", "forgotten", "alembic_version", "key", "ledger", "ledger_head"]
)
"""Tables without texts, or that are cleaned by their own rules."""
_IDENTITIES = frozenset(
    [
        "key",
        "id",
        "session",
        "session_id",
        "source_id",
        "call_id",
        "path",
        "part",
        "stamp",
        "digest",
        "sha256",
        "tail",
        "agent",
        "version",
        "learner",
        "kind",
        "lesson",
        "number",
    ]
)
"""Columns by which rows are found again: the next sync must know what it has."""


def clean_archive(
    connection: ArchiveConnection,
    look: Callable[[bytes], object],
    clean: Clean,
    keep: bool,
    on_done: Callable[[int], None] = lambda length: None,
) -> Found:
    """Clean packs, passages and every other row; with `keep` only look. Before, every pack is shown to `look`, because what is
    found in one can stand in another. `on_done` is called with the length of each pack, once for each of the two."""
    found: Found = {}
    packs = [row[0] for row in connection.execute("SELECT id FROM packs ORDER BY id")]
    for pack in packs:
        data = decompress(connection.execute("SELECT data FROM packs WHERE id = ?", (pack,)).fetchone()[0])
        look(data)
        on_done(len(data))
    for pack in packs:
        with connection.transaction():
            on_done(_clean_pack(connection, pack, clean, keep, found))
    with connection.transaction():
        if not keep:
            _drop_analyses(connection, found)
        _clean_passages(connection, clean, keep, found)
    clean_rows(connection, clean, keep, found)
    return found


def _clean_pack(connection: ArchiveConnection, pack: int, clean: Clean, keep: bool, found: Found) -> int:
    """Clean the segments of a pack and write it anew; returns its length."""
    data = decompress(connection.execute("SELECT data FROM packs WHERE id = ?", (pack,)).fetchone()[0])
    cleaned: dict[bytes, bytes] = {}
    for source, start, length, digest in connection.execute(
        "SELECT source_id, start, length, sha256 FROM segments WHERE pack_id = ? ORDER BY start", (pack,)
    ).fetchall():
        piece, counts = clean(data[start : start + length])
        if counts:
            cleaned[digest] = piece
            _note_source(connection, source, counts, keep, found)
    if cleaned and not keep:
        repack(connection, pack, lambda label, before: cleaned.get(label.sha256, before))
    return len(data)


def _drop_analyses(connection: ArchiveConnection, found: Found) -> None:
    """Delete what was made of the sessions that changed: it is made again from what is stored now."""
    for key in found:
        for (session,) in connection.execute(
            "SELECT sessions.id FROM contents a JOIN contents b ON b.source_id = a.source_id "
            "JOIN sessions ON sessions.key = b.key WHERE a.key = ?",
            (key,),
        ).fetchall():
            drop_analysis(connection, session)
    drop_unused_texts(connection)


def _note_source(connection: ArchiveConnection, source: int, counts: dict[str, int], keep: bool, found: Found) -> None:
    keys = [row[0] for row in connection.execute("SELECT key FROM contents WHERE source_id = ?", (source,))]
    for key in keys[:1] or ["sources"]:  # a source with several sessions is counted once
        found.setdefault(key, Counter()).update(counts)
    if not keep:
        connection.executemany(
            "INSERT INTO redactions (source_id, kind, count) VALUES (?, ?, ?) "
            "ON CONFLICT (source_id, kind) DO UPDATE SET count = redactions.count + excluded.count",
            [(source, kind, count) for kind, count in counts.items()],
        )


def _clean_passages(connection: ArchiveConnection, clean: Clean, keep: bool, found: Found) -> None:
    """Clean the searchable texts, and their words in the search index."""
    for first, packed in connection.execute("SELECT id, data FROM passages").fetchall():
        passages = unpack_passages(packed)
        is_changed = False
        for index, passage in enumerate(passages):
            text, counts = clean_text(passage.text, clean)
            if not counts:
                continue
            is_changed = True
            found.setdefault("passages", Counter()).update(counts)
            if not keep:
                unindex_passages(connection, first + index, [passage])
                passages[index] = passage._replace(text=text)
                index_passages(connection, first, [passages[index]], first + index)
        if is_changed and not keep:
            connection.execute("UPDATE passages SET data = ? WHERE id = ?", (pack_passages(passages), first))
    if "passages" in found and not keep:
        forget_words(connection)


def clean_rows(connection: ArchiveConnection, clean: Clean, keep: bool, found: Found) -> None:
    """Clean every text and every packed value of the other tables."""
    for table in _list_sqlite_tables(connection) if connection.kind == "sqlite" else _list_schema_tables():
        if table.columns and table.name not in _OTHERWISE and not table.name.startswith(("passages_index", "sqlite_")):
            with connection.transaction():
                _clean_table(connection, table, clean, keep, found)


class _Table(NamedTuple):
    """A table with the columns that may hold what is to be taken out."""

    name: str
    keys: list[str]
    """The columns that name a row."""
    columns: list[str]
    unique: frozenset[str] = frozenset()
    """Those of which no two rows have the same value, where the database does not see to that itself."""


def _list_sqlite_tables(connection: ArchiveConnection) -> Iterator[_Table]:
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        described = connection.execute(f"PRAGMA table_info({name})").fetchall()
        contents = [row[1] for row in described if row[2] in ("TEXT", "BLOB") and row[1] not in _IDENTITIES]
        keys = [row[1] for row in described if row[5]]
        yield _Table(name, keys or ["rowid"], [each for each in contents if each not in keys])


def _list_schema_tables() -> Iterator[_Table]:
    for table in METADATA.sorted_tables:
        keys = [column.name for column in table.primary_key]
        columns = [
            column
            for column in table.columns
            if isinstance(column.type, Text | LargeBinary) and column.name not in (*_IDENTITIES, *keys)
        ]
        unique = frozenset(column.name for column in columns if column.unique)
        yield _Table(table.name, keys or ["ctid"], [column.name for column in columns], unique)


def _clean_table(connection: ArchiveConnection, described: _Table, clean: Clean, keep: bool, found: Found) -> None:
    table, keys, columns, _ = described
    names = ", ".join(f'"{name}"' for name in (*keys, *columns))
    for row in connection.execute(f"SELECT {names} FROM {table}").fetchall():  # noqa: S608 - names of our tables
        for column, value in zip(columns, row[len(keys) :], strict=True):
            if not value:
                continue
            cleaned, counts = clean_text(value, clean) if isinstance(value, str) else _clean_packed(value, clean)
            if not counts:
                continue
            found.setdefault(table, Counter()).update(counts)
            if not keep:
                _store_cleaned(connection, described, column, cleaned, row[: len(keys)])


def _store_cleaned(
    connection: ArchiveConnection, table: _Table, column: str, cleaned: object, keys: Sequence[object]
) -> None:
    """Put a cleaned value into its row. Where another row has that value already and only one may, the other one goes."""
    if connection.kind == "sqlite":
        where = " AND ".join(f'"{name}" IS ?' for name in table.keys)
        connection.execute(f'UPDATE OR REPLACE {table.name} SET "{column}" = ? WHERE {where}', (cleaned, *keys))  # noqa: S608
        return
    where = " AND ".join("ctid = CAST(? AS tid)" if name == "ctid" else f'"{name}" = ?' for name in table.keys)
    if column in table.unique:
        connection.execute(f'DELETE FROM {table.name} WHERE "{column}" = ? AND NOT ({where})', (cleaned, *keys))  # noqa: S608
    connection.execute(f'UPDATE {table.name} SET "{column}" = ? WHERE {where}', (cleaned, *keys))  # noqa: S608


def clean_text(text: str, clean: Clean) -> tuple[str, dict[str, int]]:
    """A text without what is to be taken out."""
    data, counts = clean(text.encode("utf-8", "surrogatepass"))
    return (data.decode("utf-8", "surrogatepass") if counts else text), counts


def _clean_packed(data: bytes, clean: Clean) -> tuple[bytes, dict[str, int]]:
    """A packed value, which is JSON or MessagePack and may be compressed, after a byte that says so (see `notes.py`)."""
    if data[:1] in (b"\0", b"\1"):
        cleaned, counts = _clean_packed(data[1:], clean)
        return data[:1] + cleaned, counts
    is_compressed = data.startswith(FRAME_START)
    plain = decompress(data) if is_compressed else data
    if plain[:1] in (b"{", b"[", b'"'):
        cleaned, counts = clean(plain)
    else:
        cleaned, counts = _clean_message(plain, clean)
    return (compress(cleaned) if is_compressed else cleaned), counts


def _clean_message(data: bytes, clean: Clean) -> tuple[bytes, dict[str, int]]:
    try:
        value = msgspec.msgpack.decode(data)
    except msgspec.DecodeError:
        return data, {}  # a hash or a number
    counts: Counter[str] = Counter()
    cleaned = _clean_value(value, clean, counts)
    return (msgspec.msgpack.encode(cleaned) if counts else data), dict(counts)


def _clean_value(value: Any, clean: Clean, counts: Counter[str]) -> Any:
    if isinstance(value, str):
        text, found = clean_text(value, clean)
        counts.update(found)
        return text
    if isinstance(value, list):
        return [_clean_value(each, clean, counts) for each in value]
    if isinstance(value, dict):
        return {key: _clean_value(each, clean, counts) for key, each in value.items()}
    return value
