"""Asks the archive for the calls of one session between two places: what was done from a failure to its recovery.

Knows nothing of failures or of what a repair is.
"""

import sqlite3

from preheat.model.mistake import Step

# Written out, not built: it is asked thousands of times, and building a statement takes longer than answering it.
_BETWEEN = """
    SELECT calls.tool, calls.kind, calls.summary
    FROM calls JOIN sessions ON calls.session_id = sessions.id
    WHERE sessions.key = ? AND calls.seq BETWEEN ? AND ?
    ORDER BY calls.seq
"""


def calls_between(connection: sqlite3.Connection, key: str, first: int, last: int) -> list[Step]:
    """The calls of a session from one place to another, both included."""
    return [Step._make(row) for row in connection.execute(_BETWEEN, (key, first, last))]
