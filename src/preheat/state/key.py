"""The secret key of all assignments, made once, after the person was told. Knows nothing of how arms are assigned."""

import os
import sqlite3

from preheat.state.schema import SECRET_BYTES


def find_secret(connection: sqlite3.Connection) -> bytes | None:
    """The secret key, if there is one: without it nothing is assigned."""
    row = connection.execute("SELECT secret FROM key").fetchone()
    return bytes(row[0]) if row is not None and len(row[0]) == SECRET_BYTES else None


def make_secret(connection: sqlite3.Connection) -> bool:
    """Make the secret key unless there is one; whether it is new. Replacing one would change all arms."""
    return keep_secret(connection, os.urandom(SECRET_BYTES))


def keep_secret(connection: sqlite3.Connection, found: bytes) -> bool:
    """Store this key unless there is one; whether it was stored."""
    return connection.execute("INSERT OR IGNORE INTO key (only, secret) VALUES (1, ?)", (found,)).rowcount > 0
