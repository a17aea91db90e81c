"""The secret that arms are drawn with: made once, when the person was told of that. Knows nothing of how one is drawn."""

import os
import sqlite3

SIZE = 32
"""Bytes."""


def secret(connection: sqlite3.Connection) -> bytes | None:
    """The secret, if there is one: without it nothing is left to chance."""
    row = connection.execute("SELECT secret FROM key").fetchone()
    return bytes(row[0]) if row is not None and len(row[0]) == SIZE else None


def make_secret(connection: sqlite3.Connection) -> bool:
    """Make the secret unless there is one; whether it is new. Never over another one: arms would be drawn anew."""
    return keep_secret(connection, os.urandom(SIZE))


def keep_secret(connection: sqlite3.Connection, found: bytes) -> bool:
    """Keep this one unless there is one; whether it is kept."""
    return connection.execute("INSERT OR IGNORE INTO key (only, secret) VALUES (1, ?)", (found,)).rowcount > 0
