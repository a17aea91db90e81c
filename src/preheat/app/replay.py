"""A session of the archive, watched again: what `replay` and `why` show. Whoever asks imports it then.

Knows nothing of how it is shown.
"""

import sqlite3
import time
from typing import NamedTuple

from preheat.app.live_settings import thresholds_in
from preheat.app.sessions import load
from preheat.app.watching import Moment, Timeline, known_in, watch
from preheat.archive.connect import connect
from preheat.archive.lessons import places
from preheat.archive.queries import find, short_names
from preheat.errors import NotFound, UserError
from preheat.model.live import Called
from preheat.model.session import Session


class Watched(NamedTuple):
    """A session and its timeline."""

    session: Session
    short: str
    """The name by which it can be asked for again."""
    timeline: Timeline


def watched(connection: sqlite3.Connection, name: str, folder: str) -> Watched:
    """A session by its name, with what its project has learned by now and the person's own thresholds (in `folder`)."""
    summary = find(connection, name)
    short = short_names(connection, [summary])[summary.key]
    session = load(connection, summary.key)
    place = next((each for each in places(connection) if each.folder == session.project), None)
    known = known_in(connection, place.name if place else "", time.time())
    return Watched(session, short, watch(session, known, thresholds_in(folder), root=place.root if place else ""))


def at_turn(connection: sqlite3.Connection, name: str, folder: str) -> tuple[Watched, int | None]:
    """A session by a name that may end in a turn: `0f3c1a2b:12`."""
    before, _, turn = name.rpartition(":")
    if before and turn.isdigit():
        try:
            return watched(connection, before, folder), int(turn)
        except NotFound:
            pass  # an id that has such an end itself
    return watched(connection, name, folder), None


def replay_turn(folder: str, name: str) -> tuple[Watched, int | None]:
    """The same in the archive of a folder."""
    connection = connect(folder)
    try:
        return at_turn(connection, name, folder)
    finally:
        connection.close()


def moment_after(timeline: Timeline, turn: int | None) -> Moment:
    """The last moment of a turn; of the last one unless given."""
    wanted = timeline.turns if turn is None else turn
    found = [moment for moment in timeline.moments if moment.turn == wanted]
    if not found:
        most = f"it has {timeline.turns}" if timeline.turns else "it has none"
        raise UserError(f"there is no turn {wanted} in `{timeline.session}`; {most}")
    calls = [moment for moment in found if isinstance(moment.event, Called)]
    return (calls or found)[-1]


def why(timeline: Timeline, moment: Moment) -> dict[str, object]:
    """How every signal came to its value at a moment, for programs."""
    return {
        "session": timeline.session,
        "turn": moment.turn,
        "turns": timeline.turns,
        "phase": moment.phase,
        "event": moment.event,
        "readings": moment.readings,
        "advisories": moment.advisories,
    }
