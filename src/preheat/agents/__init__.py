"""The agents Preheat knows: a folder for each that keeps sessions on a machine, a file for most formats that are only imported.

Adding one: write it, name it in `LIVE` or `IMPORTED` (and in the other tuples for what else it has), add its fixtures. Nothing
is imported until it is asked for: the places of an agent are light (a sync that finds nothing new loads them), its reader is not.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from preheat.agents.hooks import Hooks
    from preheat.agents.places import Places
    from preheat.agents.reader import Reader
    from preheat.model.context import Renderer, StartSession
    from preheat.model.outcome import Dialect

LIVE = (
    "claude_code", "codex", "hermes", "opencode", "gemini", "copilot", "cline", "cursor", "pi", "openhands",
)  # fmt: skip
"""The agents that have places of their own on a machine, in order of detection: the more particular formats first."""

IMPORTED = {
    "codex_exec": ("Codex exec --json", 1),
    "tau_bench": ("tau-bench", 1),
    "tau2_bench": ("tau2-bench", 1),
    "atif": ("ATIF trajectory", 1),
    "swe_agent": ("SWE-agent", 1),
    "specstory": ("SpecStory", 1),
    "aider": ("Aider", 1),
    "otel_genai": ("OpenTelemetry GenAI spans", 1),
    "mini_swe_agent": ("mini-swe-agent", 2),
    "sharegpt": ("ShareGPT conversation", 1),
    "anthropic_messages": ("Anthropic messages", 1),
    "openai_chat": ("OpenAI chat messages", 1),
}
"""The formats whose files are imported by name, in order of detection: the title of each and the version of its reader, which
is raised whenever the reader gives something new."""

AGENTS = (*LIVE, *IMPORTED)

WITH_HOOKS = ("claude_code", "codex", "opencode", "copilot", "gemini", "cursor", "hermes")
"""The agents that can call Preheat while they run."""

WITH_RENDERERS = ("hermes",)
"""The agents that take the context of a new session in a form of their own."""

WITH_HEADLESS = ("claude_code", "codex", "hermes", "opencode", "gemini", "copilot", "pi", "mini_swe_agent")
"""The agents that can be started without a terminal."""

WITH_DIALECT = (*LIVE, "codex_exec", "swe_agent", "specstory", "mini_swe_agent")
"""The agents whose programs have their own words for what became of a call."""

WITH_TOOLS = (*LIVE, "swe_agent")
"""The agents with a table of their programs' tools."""


def places_of(agent: str) -> Places:
    """Where the agent keeps its sessions. Standard library only."""
    if agent in IMPORTED:
        imported: Places = _module("preheat.agents.places").imported_places(agent, *IMPORTED[agent])
        return imported
    found: Places = _module(f"preheat.agents.{agent}").PLACES
    return found


def reader_of(agent: str) -> Reader:
    """How to read the sessions of the agent."""
    found: Reader = part_of(agent, "reader").READER
    return found


def renderers_of(agent: str) -> tuple[Renderer, ...]:
    """The forms of a context that only this agent takes; most agents have none."""
    if agent not in WITH_RENDERERS:
        return ()
    found: tuple[Renderer, ...] = part_of(agent, "rendering").RENDERERS
    return found


def instruction_files_of(agent: str) -> tuple[str, ...]:
    """The files of a project that the agent puts before its model by itself, with any case of letters; none where that is not
    known. A README is put before it by no agent."""
    found: tuple[str, ...] = _module(f"preheat.agents.{agent}").INSTRUCTIONS if agent in LIVE else ()
    return found


def agents_with_waits() -> tuple[str, ...]:
    """The agents whose transcripts record how long a call waited for a person."""
    return tuple(agent for agent in LIVE if getattr(_module(f"preheat.agents.{agent}"), "RECORDS_WAITS", False))


def start_session_of(agent: str) -> StartSession:
    """How a session of this agent is made of a context, in a form that can start sessions."""
    found: StartSession = part_of(agent, "session_import").start_session
    return found


def hooks_of(agent: str) -> Hooks | None:
    """How the agent's hooks are read, answered and set up; None where it has no hooks."""
    if agent not in WITH_HOOKS:
        return None
    found: Hooks = part_of(agent, "hooks").HOOKS
    return found


_DIALECTS: dict[str, Dialect] = {}
"""The dialects that were asked for: merging all of them takes as long as judging a session."""


def dialect_of(agent: str) -> Dialect:
    """The agent's words for what became of a call. A format in which any agent's session may come has the words of all agents."""
    known = _DIALECTS.get(agent)
    if known is not None:
        return known
    if agent in WITH_DIALECT:
        found: Dialect = part_of(agent, "tools").DIALECT
    else:
        from preheat.model.outcome import merge_dialects  # noqa: PLC0415 - the quick path asks for no dialect

        found = merge_dialects(dialect_of(each) for each in WITH_DIALECT)
    _DIALECTS[agent] = found
    return found


def part_of(agent: str, name: str) -> Any:
    """A module of the agent's folder; the agent's own module where it has no folder."""
    own = _module(f"preheat.agents.{agent}")
    return _module(f"preheat.agents.{agent}.{name}") if hasattr(own, "__path__") else own


def _module(name: str) -> Any:
    __import__(name)
    return sys.modules[name]
