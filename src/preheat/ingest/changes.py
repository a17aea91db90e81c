"""Finds sources that changed since the last sync. Light: standard library and the agents' places only.

Knows nothing of what is inside a source.
"""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from preheat.agents import AGENTS, places_of
from preheat.agents.places import MANY_FILES, Places, SourceFile, storable_path
from preheat.archive.database import ArchiveConnection
from preheat.archive.rows import KnownSource
from preheat.archive.source_list import forgotten_digest, forgotten_entry, list_entry
from preheat.archive.sources import known_files, known_source
from preheat.limits import current_limits, describe_limit


class SourceChange(NamedTuple):
    """A file or database that is new or changed."""

    agent: str
    found: SourceFile
    reader_version: int
    known: KnownSource | None


class SourceFailure(NamedTuple):
    """A source or a folder that could not be read at all, or not wholly."""

    path: str
    why: str


class Survey(NamedTuple):
    """The agents' files, and which of them have to be read."""

    changes: list[SourceChange]
    found: dict[str, int]
    """Files by agent, changed or not."""
    entries: list[tuple[str, str]]
    """Path and entry of every file, for the list beside the archive."""
    failures: list[SourceFailure]
    """Folders that could not be looked through, or not wholly."""


def survey_agents(
    connection: ArchiveConnection | None, environment: Mapping[str, str], agents: tuple[str, ...] = AGENTS
) -> Survey:
    """Look in the places of the agents and compare with the archive (None: there is none yet)."""
    known, forgotten = known_files(connection) if connection else {}, _load_forgotten(connection)
    changes: list[SourceChange] = []
    counts: dict[str, int] = {}
    seen: set[str] = set()
    entries: list[tuple[str, str]] = []
    failures: list[SourceFailure] = []
    for agent in agents:
        place = places_of(agent)
        for root in place.roots(environment):
            for found in _discover(place, root, failures):
                if found.path in seen:
                    continue
                seen.add(found.path)
                counts[agent] = counts.get(agent, 0) + 1
                name = storable_path(found.path)
                before = known.get(name)
                if before is None and name in forgotten:
                    entries.append(forgotten_entry(found.path))
                    continue
                entries.append((found.path, list_entry(found.stamp, place.reader_version)))
                changes += _find_change(agent, found, before)
    return Survey(changes, counts, entries, failures)


def _discover(place: Places, root: str, failures: list[SourceFailure]) -> Iterator[SourceFile]:
    """The files below a root, up to the limit; what stops the search costs this root only."""
    most = MANY_FILES
    try:
        for number, found in enumerate(place.discover(root)):
            if number >= most:
                most = current_limits().files
                if number >= most:
                    why = f"more than {most:,} files in it: the others are not read; {describe_limit('files')}"
                    failures.append(SourceFailure(storable_path(root), why))
                    return
            yield found
    except Exception as error:  # noqa: BLE001 - what one agent's folder holds must not cost the sessions of the others
        why = f"a defect in Preheat's search ({type(error).__name__}: {str(error)[:200]}); please report it"
        failures.append(SourceFailure(storable_path(root), why))


def _find_change(agent: str, found: SourceFile, before: KnownSource | None) -> list[SourceChange]:
    """The change of a file, if its stamp or its reader's version differs."""
    version = places_of(agent).reader_version
    if before is not None and (before.stamp, before.reader_version) == (found.stamp, version):
        return []
    return [SourceChange(agent, found, version, before)]


def survey_changed(
    connection: ArchiveConnection,
    changed: list[tuple[str, SourceFile]],
    counts: dict[str, int],
    entries: list[tuple[str, str]],
) -> Survey:
    """As `survey_agents`, after a quick look: only the files that differed there are compared with the archive."""
    changes: list[SourceChange] = []
    forgotten = _load_forgotten(connection)
    for agent, found in changed:
        name = storable_path(found.path)
        before = known_source(connection, name)
        if before is not None or name not in forgotten:
            changes += _find_change(agent, found, before)
    return Survey(changes, counts, entries, [])


class _Forgotten:
    """The paths that the person has deleted from the archive for good."""

    def __init__(self, digests: set[bytes]) -> None:
        self._digests = digests

    def __contains__(self, path: str) -> bool:
        return bool(self._digests) and forgotten_digest(path, "") in self._digests


def _load_forgotten(connection: ArchiveConnection | None) -> _Forgotten:
    return _Forgotten({row[0] for row in connection.execute("SELECT digest FROM forgotten")} if connection else set())


def survey_files(connection: ArchiveConnection | None, files: list[tuple[str, str]]) -> Survey:
    """As `survey_agents`, for files that the person named, each with its agent."""
    known = known_files(connection) if connection else {}
    changes: list[SourceChange] = []
    counts: dict[str, int] = {}
    failures: list[SourceFailure] = []
    for agent, path in files:
        path = os.path.abspath(path)
        found = places_of(agent).locate(path)
        if found is None:
            failures.append(SourceFailure(storable_path(path), "it is not there (any more)"))
            continue
        counts[agent] = counts.get(agent, 0) + 1
        changes += _find_change(agent, found, known.get(storable_path(path)))
    return Survey(changes, counts, [], failures)
