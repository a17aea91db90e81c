"""Which agent's program started this process: `latest` then means that agent's newest session, and its sessions are read first.

So a person can ask an agent for a template of the session without a `preheat sync`. Knows no agent by name; light to import.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from preheat.agents import AGENTS
from preheat.app.later import LazyModule
from preheat.model.progress import SILENT, Progress

if TYPE_CHECKING:
    from preheat.app.sessions import archive as _sessions
    from preheat.app.sessions.archive import SyncReport
else:
    _sessions = LazyModule("preheat.app.sessions.archive")  # every command asks who called it, few read sessions then

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
