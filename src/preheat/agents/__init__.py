"""The agents Preheat knows, one folder (or file, for import-only formats) each.

Adding one: write its folder, add its name to `AGENTS`, add its fixtures. Nothing is imported until it is asked for: the
`places` of an agent are light (they are on the path of a sync that finds nothing new), its `reader` is not.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from preheat.agents.places import Places
    from preheat.agents.reader import Reader

AGENTS = ("claude_code", "codex", "hermes", "mini_swe_agent", "openai_chat")
"""In order of detection: the more particular formats first."""


def places_of(agent: str) -> "Places":
    """Where the agent keeps its sessions. Standard library only."""
    found: Places = import_module(f"preheat.agents.{agent}.places").PLACES
    return found


def reader_of(agent: str) -> "Reader":
    """How to read what the agent keeps."""
    found: Reader = import_module(f"preheat.agents.{agent}.reader").READER
    return found
