"""The archive for a tool, and which sessions and which project one asks about. Knows no tool.

Calls come in several threads at once.
"""

import os
import threading
import time
from typing import NamedTuple

from preheat.app import Preheat
from preheat.app.context.model_text import describe_source
from preheat.app.projects import project_root
from preheat.errors import UserError
from preheat.model.lesson import DAY
from preheat.model.listing import SessionFilter
from preheat.tools.tool import ToolRequest

ALL = "all"
PROJECT = {"type": "string", "description": f"Name or folder; default this one; `{ALL}`: every one."}
AGENT = {"type": "string", "description": "Only this agent's sessions."}
DAYS = {"type": "number", "minimum": 0, "description": "Only the last N days."}
SECONDS = 20.0
"""How long one call analyses sessions. Many clients allow a minute per call; the next call analyses the rest."""
_analysing = threading.Lock()


class AnalysedArchive(NamedTuple):
    """The archive, and how many of its sessions are not analysed yet."""

    home: Preheat
    waiting: int

    @property
    def waiting_note(self) -> dict[str, str]:
        """What an answer says about sessions that are not analysed yet."""
        text = f"{self.waiting:,} sessions are not analysed yet, and may be missing here; asking again continues"
        return {"missing": text} if self.waiting else {}


def open_archive(asked: ToolRequest) -> Preheat:
    """The application with an archive, which must exist. When an agent's program asks, its new sessions are read first."""
    home = asked.home
    home.sync_calling_agent()
    if not home.has_archive():
        raise UserError(
            f"there is no archive in `{home.folder}` yet; run `preheat sync`, then `preheat learn`, and ask again"
        )
    return home


def open_analysed_archive(asked: ToolRequest) -> AnalysedArchive:
    """The application with its sessions analysed, as far as time allows. Calls at the same time analyse once."""
    home = open_archive(asked)
    end = time.monotonic() + SECONDS
    ours = _analysing.acquire(timeout=SECONDS)
    try:
        report = home.analyse(seconds=end - time.monotonic())
    finally:
        if ours:
            _analysing.release()
    return AnalysedArchive(home, report.left)


def named_project(asked: ToolRequest) -> str:
    """The project in the arguments: its name, or its whole path; empty if there is none."""
    project: str = asked.arguments.get("project", "").strip()
    if not project or (project[0] not in ".~" and not os.path.isabs(project)):
        return project
    return os.path.abspath(os.path.join(asked.cwd, os.path.expanduser(project)))


def project_in_question(asked: ToolRequest) -> str:
    """The project that the question is about: its name, or the folder of its repository; empty for all."""
    named = named_project(asked)
    if named == ALL or (named and not os.path.isabs(named)):
        return "" if named == ALL else named
    return project_root(named or os.path.abspath(asked.cwd)) or named


def make_filter(asked: ToolRequest) -> SessionFilter:
    """The sessions that the question is about."""
    days = asked.arguments.get("days")
    return SessionFilter(
        agent=asked.arguments.get("agent") or None,
        project=project_in_question(asked) or None,
        since=time.time() - days * DAY if days is not None else None,
    )


def data_note(project: str = "") -> str:
    """The note before everything that comes from sessions."""
    return describe_source(bool(project))
