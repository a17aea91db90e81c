"""Which sessions every agent has left on this machine, and what the archive holds: the first screen.

Knows nothing of faults (`app.machine.health` does).
"""

import os
from contextlib import closing

from preheat.agents import AGENTS, places_of
from preheat.archive.connect import connect
from preheat.archive.queries import totals
from preheat.archive.raw import size_on_disk
from preheat.ingest.changes import Survey, survey_agents
from preheat.model.health import AgentOverview, ArchiveSummary, Overview
from preheat.model.listing import AgentTotals
from preheat.settings import archive_path


def survey_machine(folder: str) -> Overview:
    """Survey the places of all agents, and the archive if there is one."""
    path = archive_path(folder)
    if not os.path.exists(path):
        found, holdings = survey_agents(None, os.environ), None
    else:
        with closing(connect(folder)) as connection:
            found, holdings = survey_agents(connection, os.environ), _holdings(path, totals(connection))
    return Overview([_news(name, found) for name in AGENTS], holdings)


def _holdings(path: str, rows: list[AgentTotals]) -> ArchiveSummary:
    return ArchiveSummary(
        path,
        sum(row.sessions for row in rows),
        sum(row.calls for row in rows),
        size_on_disk(path),
        min((row.first for row in rows if row.first is not None), default=None),
        max((row.last for row in rows if row.last is not None), default=None),
    )


def _news(name: str, found: Survey) -> AgentOverview:
    new = [change.found.size for change in found.changes if change.agent == name]
    place = places_of(name)
    return AgentOverview(name, place.title, found.found.get(name, 0), len(new), sum(new), place.roots(os.environ))
