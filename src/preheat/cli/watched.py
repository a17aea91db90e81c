"""The session that `replay` and `why` are about, out of the person's own archive. Knows nothing of how it is shown."""

from preheat.app import replay as moments
from preheat.app.replay import Watched
from preheat.cli.judging import archive
from preheat.settings import data_folder


def watched(name: str) -> Watched:
    """A session by its name."""
    with archive() as connection:
        return moments.watched(connection, name, data_folder())


def at_turn(name: str) -> tuple[Watched, int | None]:
    """A session by a name that may end in a turn: `0f3c1a2b:12`."""
    with archive() as connection:
        return moments.at_turn(connection, name, data_folder())
