"""Examines this machine: every agent's places, the archive, the daemon, installed hooks, the state.

Changes nothing; knows nothing of how it is shown.
"""

import os
import shutil
import sqlite3
import stat
import sys

from preheat.agents import AGENTS, places_of
from preheat.agents.places import SourceFile
from preheat.agents.sources import describe_error
from preheat.amounts import format_bytes
from preheat.app.machine.daemon_faults import daemon_faults
from preheat.app.machine.installation import Installation
from preheat.app.machine.state_faults import state_faults
from preheat.app.templates.state import pin_problems as not_handed_out
from preheat.archive.connect import connect
from preheat.archive.queries import count_redactions, list_problems, list_sources, totals
from preheat.archive.raw import size_on_disk, verify
from preheat.errors import UserError
from preheat.ingest.changes import Survey, survey_agents
from preheat.model.health import AgentHealth, ArchiveHealth, HealthReport, PlaceHealth, SourceProblem
from preheat.model.listing import AgentTotals
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

LEAST_ARCHIVE_ROOM = 500_000_000


class Health:
    """The health of this machine and of the archive in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def examine(
        self, problem_limit: int | None = None, verify: bool = False, progress: Progress = SILENT
    ) -> HealthReport:
        """Examine everything. At most `most` unreadable lines are listed; with `check` the whole archive is verified."""
        return examine(self._folder, problem_limit, verify, progress)


def examine(folder: str, problem_limit: int | None, verify: bool, progress: Progress) -> HealthReport:
    """Examine everything."""
    findings: list[str] = []
    connection = _open_archive(folder, findings)
    try:
        surveyed = survey_agents(connection, os.environ)
        totals_by_agent = {row.agent: row for row in totals(connection)} if connection else {}
        stored_sources = list_sources(connection) if connection else []
        agents = [_agent_health(name, surveyed, totals_by_agent.get(name), stored_sources, findings) for name in AGENTS]
        archive = _archive_health(
            folder, connection, list(totals_by_agent.values()), findings, progress if verify else None
        )
        problem_count = sum(row.problems for row in totals_by_agent.values())
        findings += daemon_faults(folder)
        findings += Installation(folder).faults()
        findings += state_faults(folder)
        findings += not_handed_out(folder)
        problem_rows = (
            list_problems(connection, problem_count if problem_limit is None else problem_limit)
            if connection and problem_count
            else []
        )
    finally:
        if connection is not None:
            connection.close()
    return HealthReport(agents, archive, findings, [SourceProblem(*row) for row in problem_rows], problem_count)


def _open_archive(folder: str, findings: list[str]) -> sqlite3.Connection | None:
    if not os.path.exists(archive_path(folder)):
        return None
    try:
        return connect(folder)
    except UserError as error:
        findings.append(str(error))
        return None


# The agents' places.
def _agent_health(
    name: str,
    surveyed: Survey,
    agent_totals: AgentTotals | None,
    stored_sources: list[tuple[str, str]],
    findings: list[str],
) -> AgentHealth:
    place = places_of(name)
    places: list[PlaceHealth] = []
    newest: float | None = None
    for root in place.roots(os.environ):
        files = list(place.discover(root))
        places.append(_examine_place(root, files, findings))
        for file in files:
            if why := _unreadable(file.path):
                findings.append(f"`{file.path}` cannot be read: {why}")
            newest = max(newest or 0.0, _modified_at(file.path)) or None
    states = {each.state for each in places}
    number = surveyed.found.get(name, 0)
    state = (
        "found" if number else next((one for one in ("unreadable", "found", "missing") if one in states), "import only")
    )
    return AgentHealth(
        name,
        place.title,
        "empty" if state == "found" and not number else state,
        places,
        number,
        sum(change.agent == name for change in surveyed.changes),
        newest,
        agent_totals,
        sum(agent == name and not os.path.exists(path) for agent, path in stored_sources),
    )


def _examine_place(root: str, files: list[SourceFile], findings: list[str]) -> PlaceHealth:
    if not os.path.lexists(root):
        return PlaceHealth(root, "missing")
    try:
        with os.scandir(root):
            pass
    except OSError as error:
        findings.append(f"`{root}` cannot be read: {describe_error(error)}; check its owner and permissions")
        return PlaceHealth(root, "unreadable")

    def closed(error: OSError) -> None:
        findings.append(
            f"`{error.filename}` cannot be opened: {describe_error(error)}; the sessions in it are not read"
        )

    for _ in os.walk(root, onerror=closed):
        pass
    return PlaceHealth(root, "found", len(files), sum(file.size for file in files))


def _unreadable(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            stream.read(1)
    except OSError as error:
        return describe_error(error)
    return ""


def _modified_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


# The archive.
def _archive_health(
    folder: str,
    connection: sqlite3.Connection | None,
    held: list[AgentTotals],
    findings: list[str],
    progress: Progress | None,
) -> ArchiveHealth:
    """The health of the archive; with `progress` every byte is verified."""
    path = archive_path(folder)
    if not os.path.exists(path):
        return ArchiveHealth(path, False)
    _check_permissions(folder, path, findings)
    free = shutil.disk_usage(folder).free
    if free < LEAST_ARCHIVE_ROOM:
        findings.append(f"only {format_bytes(free)} are free on the disk of `{folder}`")
    if connection is None:
        return ArchiveHealth(path, True, size_on_disk(path), free_bytes=free)
    total = sum(row.source_bytes for row in held)
    return ArchiveHealth(
        path,
        True,
        size_on_disk(path),
        total,
        str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]),
        count_redactions(connection),
        free,
        None if progress is None else _verify(connection, total, findings, progress),
    )


def _check_permissions(folder: str, path: str, findings: list[str]) -> None:
    if sys.platform == "win32":
        return
    for name in (folder, path, f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name) and (mode := stat.S_IMODE(os.stat(name).st_mode)) & 0o077:
            right = "700" if os.path.isdir(name) else "600"
            findings.append(f"others can read `{name}` (mode {mode:o}); `chmod {right} {name}` closes it")


def _verify(connection: sqlite3.Connection, total: int, findings: list[str], progress: Progress) -> bool:
    progress.begin("Checking", total, "bytes")
    damaged = False
    try:
        for (verdict,) in connection.execute("PRAGMA quick_check(5)").fetchall():
            if verdict != "ok":
                damaged = True
                findings.append(f"the archive is damaged: {verdict}")
        for path, why in verify(connection, progress.advance):
            damaged = True
            findings.append(f"the stored copy of `{path}` is damaged: {why}")
    finally:
        progress.end()
    return not damaged
