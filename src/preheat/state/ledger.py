"""The ledger: the results of all experiments. Lines are only added; each has the digest of the one before. Knows no experiment.

A line is stored byte for byte, and so is the digest of the last one: a line that is changed or removed shows.
"""

import sqlite3
from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from preheat.model.experiment import LedgerEntry

_ENTRY = msgspec.json.Decoder(LedgerEntry)


def load_entries(connection: sqlite3.Connection) -> list[LedgerEntry]:
    """Every line that can be read, the oldest first."""
    return [entry for line in load_lines(connection) if (entry := decode_line(line)) is not None]


def add_entry(connection: sqlite3.Connection, entry: LedgerEntry) -> LedgerEntry:
    """Add an entry; the entry as it is stored."""
    entry = msgspec.structs.replace(entry, before=_head(connection))
    line = msgspec.json.encode(entry)
    keep_lines(connection, [line], digest_of(line))
    return entry


def changed_lines(connection: sqlite3.Connection) -> list[int]:
    """The numbers, from 1, of lines that were changed: they do not fit the line before, or cannot be read."""
    changed = []
    before, all_lines = "", load_lines(connection)
    for number, line in enumerate(all_lines, 1):
        entry = decode_line(line)
        if entry is None or entry.before != before:
            changed.append(number)
        before = digest_of(line)
    if _head(connection) != before and len(all_lines) not in changed:
        changed.append(max(1, len(all_lines)))
    return changed


def load_lines(connection: sqlite3.Connection) -> list[bytes]:
    """All lines as they are stored."""
    return [bytes(row[0]) for row in connection.execute("SELECT line FROM ledger ORDER BY number")]


def keep_lines(connection: sqlite3.Connection, more: Iterable[bytes], head: str) -> None:
    """Store lines as they are, and the digest of the last one."""
    connection.executemany("INSERT INTO ledger (line) VALUES (?)", [(line,) for line in more])
    connection.execute("INSERT OR REPLACE INTO ledger_head (only, digest) VALUES (1, ?)", (head,))


def _head(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT digest FROM ledger_head").fetchone()
    return str(row[0]) if row is not None else ""


def digest_of(line: bytes) -> str:
    return blake2b(line, digest_size=12).hexdigest()


def decode_line(line: bytes) -> LedgerEntry | None:
    """The entry in a line; None if it cannot be read."""
    try:
        return _ENTRY.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
