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
from preheat.model.listing import Filter
from preheat.tools.tool import Asked

ALL = "all"
PROJECT = {"type": "string", "description": f"Name or folder; this one unless given; `{ALL}`: every one."}
AGENT = {"type": "string", "description": "Only this agent's sessions."}
DAYS = {"type": "number", "minimum": 0, "description": "Only the last so many days."}
SECONDS = 20.0
"""For judging within one call. Many clients give a whole call a minute; what is left is judged by the next one."""
_judging = threading.Lock()


class Analysed(NamedTuple):
    """The archive, and how many of its sessions there was no time to judge."""

    home: Preheat
    left: int

    @property
    def missing(self) -> dict[str, str]:
        """What an answer says of those."""
        said = (
            f"of all sessions {self.left:,} wait to be judged, and may be missing here: the same question again goes on"
        )
        return {"missing": said} if self.left else {}


def archived(asked: Asked) -> Preheat:
    """The application with an archive, which must be there already. Where an agent's program asks, its new sessions are read
    first."""
    home = asked.home
    home.read_callers_sessions()
    if not home.has_archive():
        raise UserError(
            f"there is no archive in `{home.folder}` yet; run `preheat sync`, then `preheat learn`, and ask again"
        )
    return home


def analysed(asked: Asked) -> Analysed:
    """The same with its sessions judged, as far as that can be done in time. Several calls at once judge once."""
    home = archived(asked)
    end = time.monotonic() + SECONDS
    ours = _judging.acquire(timeout=SECONDS)
    try:
        report = home.analyse(seconds=end - time.monotonic())
    finally:
        if ours:
            _judging.release()
    return Analysed(home, report.left)


def project_of(asked: Asked) -> str:
    """The project that is named: its name, or its whole path; empty where none is."""
    given: str = asked.arguments.get("project", "").strip()
    if not given or (given[0] not in ".~" and not os.path.isabs(given)):
        return given
    return os.path.abspath(os.path.join(asked.cwd, os.path.expanduser(given)))


def folder_of(asked: Asked) -> str:
    """The project that is asked about: its name, or the folder of its repository; empty for all of them."""
    named = project_of(asked)
    if named == ALL or (named and not os.path.isabs(named)):
        return "" if named == ALL else named
    return project_root(named or os.path.abspath(asked.cwd)) or named


def filter_of(asked: Asked) -> Filter:
    """The sessions that are asked about."""
    days = asked.arguments.get("days")
    return Filter(
        agent=asked.arguments.get("agent") or None,
        project=folder_of(asked) or None,
        since=time.time() - days * DAY if days is not None else None,
    )


def data_note(project: str = "") -> str:
    """Stands before everything that came out of sessions."""
    return describe_source(bool(project))
