"""One session, measured: its own calls, as every list counts them.

Knows nothing of populations; light beside them, because it needs no statistics package.
"""

import sqlite3

from preheat.app.analysis.one_pass import assess, judge
from preheat.app.sessions.archive import load
from preheat.archive.judgements import copied_calls
from preheat.archive.queries import find
from preheat.model.profile import SessionProfile
from preheat.profiles import profile, trace


def profile_of(connection: sqlite3.Connection, name: str) -> SessionProfile:
    """A session by its name. Calls that another session had first count there."""
    key = find(connection, name).key
    session, copied = load(connection, key), copied_calls(connection, key)
    if not copied:
        return assess(session).profile
    outcomes = judge(session)
    own = tuple(record for record in trace(session, outcomes) if record.seq not in copied)
    return profile(session, outcomes, own)
