"""Hermes Agent: where it keeps its sessions, a SQLite database `state.db` in its home and in each profile's.

Light: every sync imports this. Knows nothing of what is inside the databases.
"""

from __future__ import annotations

import os
import sys

from preheat.agents.places import Places, SourceFile, source_at
from preheat.settings import home_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from preheat.agents.places import PathNames

DATABASE = "state.db"
EVIDENCE = "verification_evidence.db"


def roots(environment: Mapping[str, str]) -> list[str]:
    """`HERMES_HOME`, else the platform's place."""
    override = environment.get("HERMES_HOME")
    if override:
        return [override]
    if sys.platform == "win32":
        local = environment.get("LOCALAPPDATA") or os.path.join(home_folder(environment), "AppData", "Local")
        return [os.path.join(local, "hermes")]
    return [os.path.join(home_folder(environment), ".hermes")]


def discover(root: str) -> Iterator[SourceFile]:
    """The database of the home itself, and of every profile."""
    folders = [root]
    try:
        profiles = os.path.join(root, "profiles")
        folders += [os.path.join(profiles, name) for name in sorted(os.listdir(profiles))]
    except OSError:
        pass
    for folder in folders:
        found = source_at(os.path.join(folder, DATABASE))
        if found is not None:
            yield found


def companions(path: str, names: PathNames) -> list[str]:
    """The program's notes on tests, in a second database beside the first."""
    beside = path.removesuffix(DATABASE) + EVIDENCE
    return [each for each in (beside, f"{beside}-wal") if each in names] if path.endswith(DATABASE) else []


INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", ".cursorrules")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("hermes", "Hermes Agent", 3, roots, discover, companions=companions)
