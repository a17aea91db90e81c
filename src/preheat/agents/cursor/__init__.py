"""Cursor: where it keeps its sessions, transcripts below `~/.cursor/projects` and the editor's `state.vscdb`.

Light: every sync imports this. Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os
import sys

from preheat.agents.places import Places, SourceFile, files_below, source_at
from preheat.settings import home_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DATABASE = "state.vscdb"
TRANSCRIPTS = "agent-transcripts"


def roots(environment: Mapping[str, str]) -> list[str]:
    """The folder of the agent's projects, and the editor's storage folder of this platform."""
    projects = os.path.join(home_folder(environment), ".cursor", "projects")
    return [projects, os.path.join(_application(environment), "Cursor", "User", "globalStorage")]


def _application(environment: Mapping[str, str]) -> str:
    if sys.platform == "darwin":
        return os.path.join(home_folder(environment), "Library", "Application Support")
    if sys.platform == "win32":
        return environment.get("APPDATA") or os.path.join(home_folder(environment), "AppData", "Roaming")
    return environment.get("XDG_CONFIG_HOME") or os.path.join(home_folder(environment), ".config")


def discover(root: str) -> Iterator[SourceFile]:
    """The transcripts of every project below the root, or the database in it."""
    if os.path.basename(root) == "globalStorage":
        found = source_at(os.path.join(root, DATABASE))
        if found is not None:
            yield found
        return
    try:
        projects = sorted(os.listdir(root))
    except OSError:
        return
    for project in projects:  # only the folder of transcripts: others beside it can be large
        yield from files_below(os.path.join(root, project, TRANSCRIPTS), (".jsonl",), depth=3)


INSTRUCTIONS = (".cursorrules", "AGENTS.md", "CLAUDE.md")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("cursor", "Cursor", 1, roots, discover)
