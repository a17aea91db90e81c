"""Gathers what the report over many sessions shows, and writes the page.

The page itself is made by `preheat.reports`.
"""

import os
import sqlite3
import time
from collections import Counter

from preheat.cli.heading import agent_title
from preheat.cli.listing import project_name
from preheat.cli.text import day, moment, printable
from preheat.errors import UserError
from preheat.files import AS_USUAL, write_whole
from preheat.model.listing import Filter
from preheat.model.population import Population


def write_report(connection: sqlite3.Connection, chosen: Filter, measured: Population, path: str) -> bool:
    """Write the page, whole or not at all; whether a file was replaced."""
    from preheat.archive.judgements import failures, profiles
    from preheat.profiles.mistakes import mistakes
    from preheat.reports import Context, page

    rungs: Counter[str] = Counter()
    for profile in profiles(connection, chosen):
        rungs.update(profile.rungs)
    context = Context(
        made=f"Preheat, {moment(time.time())}",
        about=about(chosen),
        mistakes=mistakes(failures(connection, chosen)).mistakes,
        rungs=rungs,
        agent=agent_title,
        project=project_name,
    )
    return _save(path, page(measured, context))


def about(chosen: Filter) -> str:
    """Which sessions, in words."""
    parts = [
        f"agent {agent_title(chosen.agent)}" if chosen.agent else "",
        f"project {printable(chosen.project)}" if chosen.project else "",
        f"model {printable(chosen.model)}" if chosen.model else "",
        f"since {day(chosen.since)}" if chosen.since is not None else "",
        f"until {day(chosen.until)}" if chosen.until is not None else "",
        f"{chosen.min_messages:,} messages or more" if chosen.min_messages is not None else "",
        f"{chosen.max_messages:,} messages or fewer" if chosen.max_messages is not None else "",
        "" if chosen.subagents else "without subagents",
    ]
    return ", ".join(part for part in parts if part)


def _save(path: str, text: str) -> bool:
    """Beside its place first, then moved there: a reader never sees half a page."""
    there = os.path.exists(path)
    try:
        write_whole(path, text.encode(), mode=AS_USUAL)
    except OSError as error:
        raise UserError(f"cannot write `{path}`: {error.strerror or error}") from error
    return there
