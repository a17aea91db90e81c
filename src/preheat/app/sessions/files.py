"""Session files that a person names: the agent of each, and the sessions in it. Nothing is stored.

Knows no agent's format (`agents` does). Slow: it may have to try every reader.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from preheat.agents import AGENTS, places_of, reader_of
from preheat.agents.sources import detect, read
from preheat.errors import NotRecognised, UserError
from preheat.model.session import Session


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
        for path in _files_below(name):
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
