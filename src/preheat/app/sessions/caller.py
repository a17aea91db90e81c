"""Which agent's program started this command, where one did: its newest session is `latest`, and its sessions are read first.

A person who leaves a session and asks for a template of it has not thought of `preheat sync`. Knows no agent; light to import.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from preheat.agents import AGENTS
from preheat.app.later import Later
from preheat.model.progress import SILENT, Progress

if TYPE_CHECKING:
    from preheat.app.sessions import archive as _sessions
    from preheat.app.sessions.archive import SyncReport
else:
    _sessions = Later("preheat.app.sessions.archive")  # every command looks who called it, few read something then

CALLER = "PREHEAT_CALLER"
LATEST = "latest"


def caller(environment: Mapping[str, str] | None = None) -> str:
    """The agent; empty where a person typed the command."""
    told = (os.environ if environment is None else environment).get(CALLER, "")
    return told if told in AGENTS else ""


def session_named(name: str) -> str:
    """What a session's name means to the caller: `latest` is the newest of its own."""
    agent = caller()
    return f"{agent}:{LATEST}" if agent and name == LATEST else name


def read_first(folder: str, progress: Progress = SILENT) -> "SyncReport | None":
    """Read the caller's new sessions into the archive; None where a person asks."""
    agent = caller()
    if not agent:
        return None
    return _sessions.sync(folder, agents=(agent,), progress=progress)
