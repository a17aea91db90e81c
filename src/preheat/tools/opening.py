"""The archive for a tool, and which sessions and which project one asks about. Knows no tool.

One connection for each call: calls come in several threads at once.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from preheat.app import stages as pipeline
from preheat.app.caller import read_first
from preheat.app.projects import repository_of
from preheat.errors import UserError
from preheat.lessons.projects import root_of
from preheat.model.lesson import DAY
from preheat.provisioning.frame import sentence
from preheat.tools.tool import Asked

if TYPE_CHECKING:
    from preheat.model.listing import Filter

ALL = "all"
PROJECT = {"type": "string", "description": f"Name or folder; this one unless given; `{ALL}`: every one."}
AGENT = {"type": "string", "description": "Only this agent's sessions."}
DAYS = {"type": "number", "minimum": 0, "description": "Only the last so many days."}
SECONDS = 20.0
"""For judging within one call. Many clients give a whole call a minute; what is left is judged by the next one."""
_judging = threading.Lock()


class Judged(NamedTuple):
    """The archive, and how many of its sessions there was no time to judge."""

    connection: sqlite3.Connection
    left: int

    @property
    def missing(self) -> dict[str, str]:
        """What an answer says of those."""
        said = (
            f"of all sessions {self.left:,} wait to be judged, and may be missing here: the same question again goes on"
        )
        return {"missing": said} if self.left else {}


@contextmanager
def archive(folder: str) -> Iterator[sqlite3.Connection]:
    """The archive, which must be there already. Where an agent's program asks, its new sessions are read first."""
    read_first(folder)
    if not pipeline.has_archive(folder):
        raise UserError(
            f"there is no archive in `{folder}` yet; run `preheat sync`, then `preheat learn`, and ask again"
        )
    connection = pipeline.opened(folder)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def judged(folder: str) -> Iterator[Judged]:
    """The archive with its sessions judged, as far as that can be done in time. Several calls at once judge once."""
    with archive(folder) as connection:
        end = time.monotonic() + SECONDS
        ours = _judging.acquire(timeout=SECONDS)
        try:
            report = pipeline.analyse_archive(folder, seconds=end - time.monotonic(), need="outcomes")
        finally:
            if ours:
                _judging.release()
        yield Judged(connection, report.left)


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
    return root_of(named or os.path.abspath(asked.cwd), repository_of) or named


def filter_of(asked: Asked) -> "Filter":
    """The sessions that are asked about."""
    from preheat.model.listing import Filter

    days = asked.arguments.get("days")
    return Filter(
        agent=asked.arguments.get("agent") or None,
        project=folder_of(asked) or None,
        since=time.time() - days * DAY if days is not None else None,
    )


def data_note(project: str = "") -> str:
    """Stands before everything that came out of sessions."""
    return sentence(0, bool(project))
