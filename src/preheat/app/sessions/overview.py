"""What every agent left on this machine, and what the archive has of it: the first screen.

Knows nothing of what is wrong (`app.machine.health`).
"""

import os

from preheat.agents import AGENTS, places_of
from preheat.archive.connect import connect
from preheat.archive.queries import totals
from preheat.archive.raw import size_on_disk
from preheat.ingest.changes import Survey, survey
from preheat.model.health import AgentNews, Holdings, Overview
from preheat.model.listing import Totals
from preheat.settings import archive_path


def overview(folder: str) -> Overview:
    """Look in every place; the archive in a folder is only looked at where there is one."""
    path = archive_path(folder)
    if not os.path.exists(path):
        found, held = survey(None, os.environ), None
    else:
        connection = connect(folder)
        try:
            found, held = survey(connection, os.environ), _holdings(path, totals(connection))
        finally:
            connection.close()
    return Overview([_news(name, found) for name in AGENTS], held)


def _holdings(path: str, rows: list[Totals]) -> Holdings:
    return Holdings(
        path,
        sum(row.sessions for row in rows),
        sum(row.calls for row in rows),
        size_on_disk(path),
        min((row.first for row in rows if row.first is not None), default=None),
        max((row.last for row in rows if row.last is not None), default=None),
    )


def _news(name: str, found: Survey) -> AgentNews:
    new = [change.found.size for change in found.changes if change.agent == name]
    place = places_of(name)
    return AgentNews(name, place.title, found.found.get(name, 0), len(new), sum(new), place.roots(os.environ))
