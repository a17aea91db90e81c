"""Gemini CLI: where it keeps its sessions, `tmp/<project>/chats/session-*.jsonl` (formerly `.json`), subagents one folder below.

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
    """`.gemini/tmp` in `GEMINI_CLI_HOME`, which replaces the person's home, or in that home."""
    base = environment.get("GEMINI_CLI_HOME") or home_folder(environment)
    return [os.path.join(base, ".gemini", "tmp")]


def discover(root: str) -> Iterator[SourceFile]:
    """Every session of every project, without old documents that the program has turned into a journal."""
    try:
        projects = sorted(os.listdir(root))
    except OSError:
        return
    for project in projects:
        found = list(files_below(os.path.join(root, project, "chats"), (".jsonl", ".json"), depth=1))
        journals = {item.path for item in found}
        yield from (item for item in found if f"{item.path}l" not in journals)


INSTRUCTIONS = ("GEMINI.md",)
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("gemini", "Gemini CLI", 1, roots, discover)
