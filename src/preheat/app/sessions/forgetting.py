"""What goes with sessions that are to be forgotten, found out before anything is deleted.

Knows nothing of how it is shown or asked.
"""

import os
import sqlite3
from contextlib import suppress

from preheat.archive.queries import children, find, paths_of, sessions
from preheat.archive.raw import companions
from preheat.errors import NotFound, UserError
from preheat.model.listing import Filter, ForgetPlan, Summary


def plan(connection: sqlite3.Connection, names: tuple[str, ...], project: str) -> ForgetPlan:
    """These sessions or those of a project, with their subagents and with what stands in the same files."""
    waiting = [find(connection, name) for name in names] if names else _of_project(connection, project)
    going: dict[str, Summary] = {}
    copies: dict[str, Summary] = {}
    while waiting:
        summary = waiting.pop()
        if summary.key in going:
            continue
        going[summary.key] = summary
        for key in companions(connection, summary.key):
            with suppress(NotFound):
                waiting.append(find(connection, key))
        for child in children(connection, summary):
            if child.relation == "subagent":
                waiting.append(child)
            else:
                copies[child.key] = child
    files = paths_of(connection, list(going))
    ordered = sorted(going.values(), key=lambda summary: (summary.started_at or 0, summary.key))
    return ForgetPlan(ordered, files, [summary for key, summary in copies.items() if key not in going])


def _of_project(connection: sqlite3.Connection, project: str) -> list[Summary]:
    """Exactly this folder and what is below it: a part of a name is not enough to delete by."""
    wanted = [project.rstrip("/\\"), os.path.abspath(os.path.expanduser(project))]
    found = [
        summary
        for path in dict.fromkeys(wanted)
        for summary in sessions(connection, Filter(project=path))
        if summary.project == path or summary.project.startswith((f"{path}/", f"{path}\\"))
    ]
    if not found:
        raise UserError(
            f"no session of project `{wanted[-1]}` in the archive; `preheat sessions list` shows the projects"
        )
    return found
