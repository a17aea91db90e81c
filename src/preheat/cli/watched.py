"""The session that `replay` and `why` are about: found, read, judged, and watched again. Knows nothing of how it is shown."""

import time
from typing import NamedTuple

from preheat.cli.options import archive
from preheat.errors import NotFound
from preheat.model.session import Session
from preheat.pipeline.watching import Timeline


class Watched(NamedTuple):
    """A session and its timeline."""

    session: Session
    short: str
    """The name by which it can be asked for again."""
    timeline: Timeline


def watched(name: str) -> Watched:
    """A session by its name, with what its project has learned by now and the person's own thresholds."""
    from preheat import pipeline
    from preheat.archive.lessons import places
    from preheat.archive.queries import find, short_names
    from preheat.pipeline.tuning import thresholds_in
    from preheat.pipeline.watching import known_in, watch
    from preheat.settings import data_folder

    with archive() as connection:
        summary = find(connection, name)
        short = short_names(connection, [summary])[summary.key]
        session = pipeline.load(connection, summary.key)
        place = next((each for each in places(connection) if each.folder == session.project), None)
        known = known_in(connection, place.name if place else "", time.time())
    thresholds = thresholds_in(data_folder())
    return Watched(session, short, watch(session, known, thresholds, root=place.root if place else ""))


def at_turn(name: str) -> tuple[Watched, int | None]:
    """A session by a name that may end in a turn: `0f3c1a2b:12`."""
    before, _, turn = name.rpartition(":")
    if before and turn.isdigit():
        try:
            return watched(before), int(turn)
        except NotFound:
            pass  # an id that has such an end itself
    return watched(name), None
