"""The names and titles of the agents that Preheat knows, and which of them started this process.

Knows nothing of their formats. Light: every command imports it.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from preheat.agents import AGENTS, WITH_HOOKS, places_of
from preheat.app.lazy import LazyModule
from preheat.model.progress import SILENT, Progress

if TYPE_CHECKING:
    from preheat.app.sessions import archive as _sessions
    from preheat.app.sessions.archive import SyncReport
else:
    _sessions = LazyModule("preheat.app.sessions.archive")  # every command asks who called it, few read sessions then


def agent_names() -> tuple[str, ...]:
    """All agents: first those that keep sessions on a machine, then those whose files are only imported."""
    return AGENTS


def hookable_agents() -> tuple[str, ...]:
    """The agents that can call Preheat's hooks while they run."""
    return WITH_HOOKS


def title_of(agent: str) -> str:
    """The agent's name as people write it; an unknown name is returned unchanged."""
    return places_of(agent).title if agent in AGENTS else agent


# Which agent's program started this process
CALLER = "PREHEAT_CALLER"
LATEST = "latest"


def calling_agent(environment: Mapping[str, str] | None = None) -> str:
    """The agent; empty if a person typed the command."""
    agent = (os.environ if environment is None else environment).get(CALLER, "")
    return agent if agent in AGENTS else ""


def resolve_session_name(name: str) -> str:
    """A session's name as the calling agent means it: `latest` is its own newest session."""
    agent = calling_agent()
    return f"{agent}:{LATEST}" if agent and name == LATEST else name


def sync_calling_agent(folder: str, progress: Progress = SILENT) -> "SyncReport | None":
    """Read the calling agent's new sessions into the archive; None if a person typed the command."""
    agent = calling_agent()
    if not agent:
        return None
    return _sessions.sync(folder, agents=(agent,), progress=progress)
