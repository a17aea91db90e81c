"""An archive on a server, and the local one beside it: what waits there is moved, what this machine must know stays there.

Loaded only where a server is configured. Knows nothing of the database.
"""

from contextlib import closing

from preheat.app.analysis.one_pass import analyse_forks
from preheat.archive.connect import connect_local
from preheat.archive.database import ArchiveConnection
from preheat.archive.raw import forget
from preheat.archive.source_list import delete as delete_source_list
from preheat.archive.waiting import (
    clear_moved,
    count_waiting,
    find_waiting,
    group_waiting,
    move_sources,
    refresh_copy,
    remember_sources,
)
from preheat.model.progress import SILENT, Progress


def move_waiting(folder: str, server: ArchiveConnection, progress: Progress = SILENT) -> int:
    """Move what waits in the local archive to the server; how many sessions that were. The caller holds the sync lock."""
    delete_source_list(folder)  # a list of what the local archive has would hide what the server has not
    with closing(connect_local(folder)) as local:
        waiting, number = find_waiting(local), count_waiting(local)
        if not waiting:
            return 0
        progress.begin("Moving to the server", sum(each.length for each in waiting), "bytes")
        try:
            for group in group_waiting(waiting):
                move_sources(local, server, group)
                clear_moved(local, group)
                progress.advance(sum(each.length for each in group))
        finally:
            progress.end()
        analyse_forks(server, progress)
        local.overwrite_free_pages()
    return number


def keep_in_step(folder: str, server: ArchiveConnection) -> None:
    """Keep in the local archive which sources the server has, and the lessons that hooks hand out."""
    with closing(connect_local(folder)) as local:
        remember_sources(local, server)
        refresh_copy(local, server)


def count_waiting_sessions(folder: str) -> int:
    """How many sessions wait in the local archive for the server."""
    with closing(connect_local(folder)) as local:
        return count_waiting(local)


def forget_copies(folder: str, server: ArchiveConnection, keys: list[str]) -> None:
    """Delete from the local archive what was deleted on the server for good, words of lessons included."""
    with closing(connect_local(folder)) as local:
        forget(local, keys)
        remember_sources(local, server)
        with local.transaction():
            for table in ("lessons", "projects", "project_lookup"):
                local.execute(f"DELETE FROM {table}")  # noqa: S608 - our own
        refresh_copy(local, server)
        local.overwrite_free_pages()
