"""The agents Preheat knows, one folder (or file, for import-only formats) each.

Adding one: write its folder, add its name to `LIVE` or `IMPORTED`, add its fixtures. Nothing is imported until asked for: the
`places` of an agent are light (they are on the path of a sync that finds nothing new), its `reader` is not.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from preheat.agents.hooking import Hooks
    from preheat.agents.places import Places
    from preheat.agents.reader import Reader
    from preheat.model.outcome import Dialect
    from preheat.model.rendering import Begin, Renderer

LIVE = (
    "claude_code", "codex", "hermes", "opencode", "gemini", "copilot", "cline", "cursor", "pi", "openhands",
)  # fmt: skip
"""Those that have places of their own on a machine."""

IMPORTED = (
    "codex_exec", "tau_bench", "tau2_bench", "atif", "swe_agent", "specstory", "aider", "otel_genai", "mini_swe_agent",
    "sharegpt", "anthropic_messages", "openai_chat",
)  # fmt: skip
"""Those whose files are imported by name. Both in order of detection: the more particular formats first."""

AGENTS = LIVE + IMPORTED


def places_of(agent: str) -> Places:
    """Where the agent keeps its sessions. Standard library only."""
    found: Places = _module(f"preheat.agents.{agent}.places").PLACES
    return found


def reader_of(agent: str) -> Reader:
    """How to read what the agent keeps."""
    found: Reader = _module(f"preheat.agents.{agent}.reader").READER
    return found


RENDERING = ("hermes",)
"""Those that take what a new session is given in a form of their own."""


def renderers_of(agent: str) -> tuple[Renderer, ...]:
    """The forms in which the agent alone takes a context; most have none."""
    if agent not in RENDERING:
        return ()
    found: tuple[Renderer, ...] = _module(f"preheat.agents.{agent}.rendering").RENDERERS
    return found


def begin_of(agent: str) -> Begin:
    """How a session of the agent's own is made of a form that `begins` one."""
    found: Begin = _module(f"preheat.agents.{agent}.importing").begin
    return found


HOOKED = ("claude_code", "codex", "opencode", "copilot", "gemini", "cursor", "hermes")
"""Those that can call us while they run."""


def hooks_of(agent: str) -> Hooks | None:
    """How the agent's hooks are read, answered and set up; None where there are none."""
    if agent not in HOOKED:
        return None
    found: Hooks = _module(f"preheat.agents.{agent}.hooks").HOOKS
    return found


_DIALECTS: dict[str, Dialect] = {}
"""Those that were asked for: merging all takes as long as judging a session."""


def dialect_of(agent: str) -> Dialect:
    """How the agent's program words what becomes of a call. A format that any agent's session may come in speaks them all."""
    from importlib.util import find_spec  # noqa: PLC0415 - the quick path asks for no dialect

    known = _DIALECTS.get(agent)
    if known is not None:
        return known
    if agent in AGENTS and find_spec(f"preheat.agents.{agent}.dialect"):
        found: Dialect = _module(f"preheat.agents.{agent}.dialect").DIALECT
    else:
        from preheat.model.outcome import merged  # noqa: PLC0415 - likewise, and seldom

        found = merged(dialect_of(each) for each in AGENTS if find_spec(f"preheat.agents.{each}.dialect"))
    _DIALECTS[agent] = found
    return found


def _module(name: str) -> Any:
    __import__(name)
    return sys.modules[name]
