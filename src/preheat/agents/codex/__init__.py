"""Codex CLI: where it keeps its sessions, rollout files below `sessions/` and `archived_sessions/`, plain or compressed.

Light: every sync imports this. Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os

from preheat.agents.places import Places, SourceFile, files_below
from preheat.settings import home_folder

TYPE_CHECKING = False
SCRIPTED_PREFIX = "exec-"
"""What the ids of calls inside scripts begin with, in hooks and in records of their endings."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def roots(environment: Mapping[str, str]) -> list[str]:
    """`CODEX_HOME`, else `~/.codex`."""
    base = environment.get("CODEX_HOME") or os.path.join(home_folder(environment), ".codex")
    return [os.path.join(base, "sessions"), os.path.join(base, "archived_sessions")]


def discover(root: str) -> Iterator[SourceFile]:
    """Every rollout below the root; of a plain and a compressed copy, the plain one."""
    rollouts = [
        found
        for found in files_below(root, (".jsonl", ".jsonl.zst"), depth=4)
        if os.path.basename(found.path).startswith("rollout-")
    ]
    plain = {found.path for found in rollouts if not found.path.endswith(".zst")}
    for found in rollouts:
        if not (found.path.endswith(".zst") and found.path[:-4] in plain):
            yield found


INSTRUCTIONS = ("AGENTS.override.md", "AGENTS.md")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("codex", "Codex CLI", 3, roots, discover)
