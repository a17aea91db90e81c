"""The short path of `preheat sync`: compares the agents' files with the list beside the archive, without opening the archive.

Knows nothing of what is in the files. Mostly nothing has changed, so nothing slow is imported; a test checks that.
"""

from __future__ import annotations

import os

from preheat.agents import LIVE, places_of
from preheat.agents.places import MANY_FILES
from preheat.archive import source_list
from preheat.settings import archive_path, data_folder, may_have_server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from preheat.agents.places import SourceFile


class QuickLook:
    """The agents' files, and which of them differ from the list."""

    __slots__ = ("changed", "counts", "entries")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        """Files by agent."""
        self.changed: list[tuple[str, SourceFile]] = []
        """Agent and file of each difference."""
        self.entries: list[tuple[str, str]] = []
        """Path and entry of every file, for the next list."""


def look_for_changes(environment: Mapping[str, str] | None = None) -> QuickLook | None:
    """Look in the places of all agents; None if there is no list, it is not of this archive, or a place needs a longer look."""
    folder = data_folder(environment)
    if may_have_server(folder, os.environ if environment is None else environment):
        return None
    known = source_list.load(folder, archive_path(folder))
    if known is None:
        return None
    result = QuickLook()
    forgotten = "forgotten" in known.values()
    for agent in LIVE:
        places = places_of(agent)
        for root in places.roots(os.environ if environment is None else environment):
            try:
                files = list(places.discover(root))
            except Exception:  # noqa: BLE001 - the long way says what is wrong there, and goes on
                return None
            if len(files) > MANY_FILES:
                return None
            for found in files:
                result.counts[agent] = result.counts.get(agent, 0) + 1
                value = source_list.list_entry(found.stamp, places.reader_version)
                if known.get(found.path) != value:
                    if forgotten and source_list.forgotten_entry(found.path)[0] in known:
                        result.entries.append(source_list.forgotten_entry(found.path))
                        continue
                    result.changed.append((agent, found))
                result.entries.append((found.path, value))
    return result
