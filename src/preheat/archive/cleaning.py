"""Takes out of a database what a function finds in its bytes and texts, for good: packs, rows, the search index and free pages.

For the archive and for the state beside it. Which columns are identities, which must stay as they are, is said here; what is to
be taken out is said by the function. Knows nothing of secrets.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from preheat.archive.analyses import drop_analysis, drop_unused_texts
from preheat.archive.packing import FRAME_START, compress, decompress, pack_passages, unpack_passages
from preheat.archive.raw import repack
from preheat.archive.writer import write_transaction

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
    connection: sqlite3.Connection,
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
        with write_transaction(connection):
            on_done(_clean_pack(connection, pack, clean, keep, found))
    with write_transaction(connection):
        if not keep:
            _drop_analyses(connection, found)
        _clean_passages(connection, clean, keep, found)
    clean_rows(connection, clean, keep, found)
    return found


def overwrite_free_pages(connection: sqlite3.Connection) -> None:
    """Write the file anew, so that nothing of what was deleted is left in it or in its log."""
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _clean_pack(connection: sqlite3.Connection, pack: int, clean: Clean, keep: bool, found: Found) -> int:
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


def _drop_analyses(connection: sqlite3.Connection, found: Found) -> None:
    """Delete what was made of the sessions that changed: it is made again from what is stored now."""
    for key in found:
        for (session,) in connection.execute(
            "SELECT sessions.id FROM contents a JOIN contents b ON b.source_id = a.source_id "
            "JOIN sessions ON sessions.key = b.key WHERE a.key = ?",
            (key,),
        ).fetchall():
            drop_analysis(connection, session)
    drop_unused_texts(connection)


def _note_source(connection: sqlite3.Connection, source: int, counts: dict[str, int], keep: bool, found: Found) -> None:
    keys = [row[0] for row in connection.execute("SELECT key FROM contents WHERE source_id = ?", (source,))]
    for key in keys[:1] or ["sources"]:  # a source with several sessions is counted once
        found.setdefault(key, Counter()).update(counts)
    if not keep:
        connection.executemany(
            "INSERT INTO redactions (source_id, kind, count) VALUES (?, ?, ?) "
            "ON CONFLICT (source_id, kind) DO UPDATE SET count = redactions.count + excluded.count",
            [(source, kind, count) for kind, count in counts.items()],
        )


def _clean_passages(connection: sqlite3.Connection, clean: Clean, keep: bool, found: Found) -> None:
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
                connection.execute(
                    "INSERT INTO passages_index (passages_index, rowid, text) VALUES ('delete', ?, ?)",
                    (first + index, passage.text),
                )
                connection.execute("INSERT INTO passages_index (rowid, text) VALUES (?, ?)", (first + index, text))
                passages[index] = passage._replace(text=text)
        if is_changed and not keep:
            connection.execute("UPDATE passages SET data = ? WHERE id = ?", (pack_passages(passages), first))
    if "passages" in found and not keep:
        connection.execute("INSERT INTO passages_index (passages_index) VALUES ('optimize')")


def clean_rows(connection: sqlite3.Connection, clean: Clean, keep: bool, found: Found) -> None:
    """Clean every text and every packed value of the other tables."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in names:
        if table in _OTHERWISE or table.startswith(("passages_index", "sqlite_")):
            continue
        with write_transaction(connection):
            _clean_table(connection, table, clean, keep, found)


def _clean_table(connection: sqlite3.Connection, table: str, clean: Clean, keep: bool, found: Found) -> None:
    described = connection.execute(f"PRAGMA table_info({table})").fetchall()
    keys = [row[1] for row in described if row[5]] or ["rowid"]
    columns = [row[1] for row in described if row[2] in ("TEXT", "BLOB") and row[1] not in _IDENTITIES and not row[5]]
    if not columns:
        return
    names = ", ".join(f'"{name}"' for name in (*keys, *columns))
    where = " AND ".join(f'"{name}" IS ?' for name in keys)
    for row in connection.execute(f"SELECT {names} FROM {table}").fetchall():  # noqa: S608 - names of our tables
        for column, value in zip(columns, row[len(keys) :], strict=True):
            if not value:
                continue
            cleaned, counts = clean_text(value, clean) if isinstance(value, str) else _clean_packed(value, clean)
            if not counts:
                continue
            found.setdefault(table, Counter()).update(counts)
            if not keep:
                statement = f'UPDATE OR REPLACE {table} SET "{column}" = ? WHERE {where}'  # noqa: S608
                connection.execute(statement, (cleaned, *row[: len(keys)]))


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
