"""The agents Preheat knows, one folder (or file, for import-only formats) each.

Adding one: write its folder, add its name to `AGENTS`, add its fixtures. Nothing is imported until it is asked for: the
`places` of an agent are light (they are on the path of a sync that finds nothing new), its `reader` is not.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from preheat.agents.places import Places
    from preheat.agents.reader import Reader

AGENTS = (
    "claude_code",
    "codex",
    "hermes",
    "opencode",
    "gemini",
    "copilot",
    "cline",
    "cursor",
    "pi",
    "codex_exec",
    "tau_bench",
    "tau2_bench",
    "atif",
    "swe_agent",
    "openhands",
    "specstory",
    "aider",
    "otel_genai",
    "mini_swe_agent",
    "anthropic_messages",
    "openai_chat",
)
"""In order of detection: the more particular formats first."""


def places_of(agent: str) -> Places:
    """Where the agent keeps its sessions. Standard library only."""
    found: Places = _module(f"preheat.agents.{agent}.places").PLACES
    return found


def reader_of(agent: str) -> Reader:
    """How to read what the agent keeps."""
    found: Reader = _module(f"preheat.agents.{agent}.reader").READER
    return found


def _module(name: str) -> Any:
    __import__(name)
    return sys.modules[name]
