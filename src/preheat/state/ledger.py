"""The ledger: what was tried and what came of it. Only ever longer; each line has the digest of the one before.

A line is kept byte for byte, and the digest of the last one besides, so that none can be changed or taken out unseen.
"""

import sqlite3
from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from preheat.model.experiment import LedgerEntry

_ENTRY = msgspec.json.Decoder(LedgerEntry)


def entries(connection: sqlite3.Connection) -> list[LedgerEntry]:
    """Every line that can be read, the oldest first."""
    return [entry for line in lines(connection) if (entry := decoded(line)) is not None]


def enter(connection: sqlite3.Connection, entry: LedgerEntry) -> LedgerEntry:
    """One more line; as it stands there."""
    entry = msgspec.structs.replace(entry, before=_head(connection))
    line = msgspec.json.encode(entry)
    keep_lines(connection, [line], digest_of(line))
    return entry


def damage(connection: sqlite3.Connection) -> list[int]:
    """The lines (from 1) that do not fit the one before them, or cannot be read: somebody changed the ledger."""
    wrong = []
    before, every = "", lines(connection)
    for number, line in enumerate(every, 1):
        entry = decoded(line)
        if entry is None or entry.before != before:
            wrong.append(number)
        before = digest_of(line)
    if _head(connection) != before and len(every) not in wrong:
        wrong.append(max(1, len(every)))
    return wrong


def lines(connection: sqlite3.Connection) -> list[bytes]:
    """The lines as they stand there."""
    return [bytes(row[0]) for row in connection.execute("SELECT line FROM ledger ORDER BY number")]


def keep_lines(connection: sqlite3.Connection, more: Iterable[bytes], head: str) -> None:
    """More lines as they are, and the digest of the last one."""
    connection.executemany("INSERT INTO ledger (line) VALUES (?)", [(line,) for line in more])
    connection.execute("INSERT OR REPLACE INTO ledger_head (only, digest) VALUES (1, ?)", (head,))


def _head(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT digest FROM ledger_head").fetchone()
    return str(row[0]) if row is not None else ""


def digest_of(line: bytes) -> str:
    return blake2b(line, digest_size=12).hexdigest()


def decoded(line: bytes) -> LedgerEntry | None:
    """An entry; None where that cannot be read."""
    try:
        return _ENTRY.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
