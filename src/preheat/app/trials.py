"""What was drawn and rated, from the files of a trial into the archive, and out of both. Light: every learning starts with it.

Knows nothing of what it shows.
"""

import os
import sqlite3

from preheat.app import trial_store as store
from preheat.archive import experiments as kept
from preheat.archive.forgotten import digest_of
from preheat.archive.writer import writing
from preheat.experiments.retire import standing

_LOTS = "lots"


def trialled(folder: str) -> bool:
    """Whether anything was ever drawn."""
    return os.path.exists(store.path_of(folder, "lots.jsonl"))


def left_alone(folder: str) -> frozenset[str]:
    """Items that were withdrawn and that a person brought back."""
    if not trialled(folder):
        return frozenset()
    return frozenset(name for name, entry in standing(store.ledger(folder)).items() if entry.kind == "brought back")


def take_in(folder: str, connection: sqlite3.Connection) -> None:
    """Bring the archive up to date with what was drawn and rated."""
    after = kept.place_of(connection, _LOTS)
    lots, end = store.lots(folder, after)
    ratings = store.ratings(folder)
    if end == after and not ratings:
        return
    with writing(connection):
        kept.store_lots(connection, lots)
        kept.store_place(connection, _LOTS, end)
        kept.store_ratings(connection, ratings.values())


def forget(folder: str, connection: sqlite3.Connection) -> None:
    """Take away what was drawn for sessions that the archive was made to forget, here and in the files."""
    gone = {row[0] for row in connection.execute("SELECT digest FROM forgotten")}
    lots, _ = store.lots(folder)
    known = {lot.session for lot in lots} | store.ratings(folder).keys()
    sessions = [session for session in known if digest_of(session) in gone]
    if sessions:
        store.forget(folder, sessions)
        with writing(connection):
            kept.drop(connection, sessions)
            kept.store_place(connection, _LOTS, 0)  # taken in again: what is there stands
