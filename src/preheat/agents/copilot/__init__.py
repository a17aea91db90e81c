"""GitHub Copilot CLI: where it keeps its sessions, `events.jsonl` in one folder a session, the events of subagents among them.

Light: every sync imports this. Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os

from preheat.agents.places import Places, SourceFile, files_below
from preheat.settings import home_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EVENTS = "events.jsonl"


def roots(environment: Mapping[str, str]) -> list[str]:
    """`COPILOT_HOME`, else `~/.copilot`."""
    base = environment.get("COPILOT_HOME") or os.path.join(home_folder(environment), ".copilot")
    return [os.path.join(base, "session-state")]


def discover(root: str) -> Iterator[SourceFile]:
    """The events of every session; early versions wrote `<session>.jsonl` without a folder."""
    for found in files_below(root, (".jsonl",), depth=1):
        if os.path.basename(found.path) == EVENTS or os.path.dirname(found.path) == root.rstrip("/\\"):
            yield found


INSTRUCTIONS = (".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
"""Files of a project that the program puts before its model by itself."""
RECORDS_WAITS = True
"""Its transcripts say when a person was asked to allow a call, and when the answer came."""
PLACES = Places("copilot", "GitHub Copilot CLI", 1, roots, discover)
