"""Claude Code: where it keeps its sessions, `projects/<folder>/<session>.jsonl` and `<session>/subagents/agent-*.jsonl`.

Light: every sync imports this. Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os

from preheat.agents.places import Places, SourceFile, files_below
from preheat.settings import home_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def roots(environment: Mapping[str, str]) -> list[str]:
    """`CLAUDE_CONFIG_DIR` (one or several folders, separated by commas), else `~/.claude` and the newer XDG folder."""
    override = environment.get("CLAUDE_CONFIG_DIR")
    if override:
        bases = [base.strip() for base in override.split(",") if base.strip()]
    else:
        xdg = environment.get("XDG_CONFIG_HOME") or os.path.join(home_folder(environment), ".config")
        bases = [os.path.join(home_folder(environment), ".claude"), os.path.join(xdg, "claude")]
    return [os.path.join(base, "projects") for base in bases]


def discover(root: str) -> Iterator[SourceFile]:
    """Every transcript below the root."""
    return files_below(root, (".jsonl",), depth=6)


INSTRUCTIONS = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("claude_code", "Claude Code", 2, roots, discover)
