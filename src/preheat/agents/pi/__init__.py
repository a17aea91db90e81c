"""Pi: where it keeps its sessions, `sessions/--<folder>--/<time>_<id>.jsonl` in its own folder.

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
    """`PI_CODING_AGENT_SESSION_DIR`, and `sessions` in `PI_CODING_AGENT_DIR` or `~/.pi/agent`."""
    base = environment.get("PI_CODING_AGENT_DIR") or os.path.join(home_folder(environment), ".pi", "agent")
    usual = os.path.join(_expand(base, environment), "sessions")
    override = environment.get("PI_CODING_AGENT_SESSION_DIR")
    return [_expand(override, environment), usual] if override else [usual]


def discover(root: str) -> Iterator[SourceFile]:
    """Every session below the root."""
    return files_below(root, (".jsonl",), depth=1)


def _expand(path: str, environment: Mapping[str, str]) -> str:
    if path == "~" or path.startswith("~/"):
        return home_folder(environment) + path[1:]
    return path


INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("pi", "Pi", 1, roots, discover)
