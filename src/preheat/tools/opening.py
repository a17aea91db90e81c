"""The archive for a tool, and which sessions and which project one asks about. Knows no tool.

One connection for each call: calls come in several threads at once.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from preheat import pipeline
from preheat.errors import UserError
from preheat.lessons.projects import root_of
from preheat.model.lesson import DAY
from preheat.pipeline.caller import read_first
from preheat.pipeline.learning import repository_of
from preheat.provisioning.frame import sentence
from preheat.tools.tool import Asked

if TYPE_CHECKING:
    from preheat.archive.queries import Filter

ALL = "all"
PROJECT = {"type": "string", "description": f"Name or folder; this one unless given; `{ALL}`: every one."}
AGENT = {"type": "string", "description": "Only this agent's sessions."}
DAYS = {"type": "number", "minimum": 0, "description": "Only the last so many days."}
_judging = threading.Lock()


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
def judged(folder: str) -> Iterator[sqlite3.Connection]:
    """The archive with every session judged. Several calls at once judge once."""
    with archive(folder) as connection:
        with _judging:
            pipeline.judge_archive(folder)
        yield connection


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
    from preheat.archive.queries import Filter

    days = asked.arguments.get("days")
    return Filter(
        agent=asked.arguments.get("agent") or None,
        project=folder_of(asked) or None,
        since=time.time() - days * DAY if days is not None else None,
    )


def data_note(project: str = "") -> str:
    """Stands before everything that came out of sessions."""
    return sentence(0, bool(project))
