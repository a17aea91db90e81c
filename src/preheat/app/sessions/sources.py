"""The files that sessions are read from: an overview of all agents' places, and the files that a person names.

Knows no agent's format (`agents` does) and nothing of faults (`app.health` does).
"""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from preheat.agents import AGENTS, places_of, reader_of
from preheat.agents.sources import detect, read
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.queries import totals
from preheat.errors import NotRecognised, UserError
from preheat.ingest.changes import Survey, survey_agents
from preheat.limits import current_limits, describe_limit
from preheat.model.health import AgentOverview, ArchiveSummary, Overview
from preheat.model.listing import AgentTotals
from preheat.model.session import Session


def survey_machine(folder: str) -> Overview:
    """Survey the places of all agents, and the archive if there is one."""
    if not has_archive(folder):
        found, summary = survey_agents(None, os.environ), None
    else:
        with closing(connect(folder)) as connection:
            found, summary = survey_agents(connection, os.environ), summarize_archive(connection, totals(connection))
    return Overview([_agent_overview(name, found) for name in AGENTS], summary)


def summarize_archive(connection: ArchiveConnection, rows: list[AgentTotals]) -> ArchiveSummary:
    return ArchiveSummary(
        connection.path,
        sum(row.sessions for row in rows),
        sum(row.calls for row in rows),
        connection.size(),
        min((row.first for row in rows if row.first is not None), default=None),
        max((row.last for row in rows if row.last is not None), default=None),
    )


def _agent_overview(name: str, found: Survey) -> AgentOverview:
    new = [change.found.size for change in found.changes if change.agent == name]
    place = places_of(name)
    return AgentOverview(name, place.title, found.found.get(name, 0), len(new), sum(new), place.roots(os.environ))


# Session files that a person names.
class NamedFiles(NamedTuple):
    """The session files among the files and folders that a person named."""

    files: list[tuple[str, str]]
    """Agent and path."""
    unrecognised: int
    """Files below a folder that no agent's reader recognises."""
    unreadable: list[str]


def read_file(path: str, agent: str | None = None) -> list[Session]:
    """The sessions in a file, whose agent is recognised by the content unless it is named."""
    return read(path, reader_of(agent) if agent else detect(path))


def find_files(names: tuple[str, ...], agents: tuple[str, ...] = ()) -> NamedFiles:
    """The session files of these agents (none: of all) among the named ones, and below those that are folders. Raises
    UserError for a file of another agent."""
    agents = agents or AGENTS
    found = NamedFiles([], 0, [])
    for name in names:
        if not os.path.isdir(name):
            agent = detect(name).agent
            if agent not in agents:
                raise UserError(f"`{name}` is a session of {places_of(agent).title}; leave `--agent` away to read it")
            found.files.append((agent, name))
            continue
        for number, path in enumerate(_files_below(name)):
            if number >= current_limits().files:
                found.unreadable.append(
                    f"`{name}`: more than {number:,} files in it: the others are not read; {describe_limit('files')}"
                )
                break
            try:
                agent = detect(path).agent
            except NotRecognised:
                found = found._replace(unrecognised=found.unrecognised + 1)
            except UserError as error:
                found.unreadable.append(str(error))
            else:
                if agent in agents:
                    found.files.append((agent, path))
    return found._replace(files=list(dict.fromkeys((agent, os.path.abspath(path)) for agent, path in found.files)))


def _files_below(folder: str) -> Iterator[str]:
    """Every plain file below a folder, without the folders of version control."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in (".git", ".hg", ".svn"))
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.isfile(path):
                yield path
