"""Examines this machine: every agent's places, the archive, the daemon, installed hooks, the state.

Changes nothing; knows nothing of how it is shown.
"""

import os
import shutil
import stat
import sys
import time
from contextlib import suppress
from itertools import islice

from preheat import __version__
from preheat.agents import AGENTS, places_of
from preheat.agents.places import Places, SourceFile
from preheat.agents.sources import describe_error
from preheat.amounts import format_bytes, format_count
from preheat.app.experiments.assignment import load_assignment_settings
from preheat.app.installation import Installation
from preheat.app.live.settings import load_actions, load_thresholds
from preheat.app.repair import repair
from preheat.app.sessions.server import count_waiting_sessions
from preheat.app.sharing.notice import describe_untrusted
from preheat.app.stored_secrets import remove_secrets
from preheat.app.templates.uses import pin_problems
from preheat.archive.address import ServerAddress, find_server, has_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.queries import count_redactions, list_problems, list_sources, totals
from preheat.archive.raw import verify
from preheat.archive.sqlite import size_on_disk
from preheat.daemon_client import DaemonError, find_daemon, live_folder, read_start, status
from preheat.errors import UserError
from preheat.files import open_file
from preheat.ingest.changes import Survey, survey_agents
from preheat.limits import current_limits, load_limits
from preheat.model.health import (
    AgentHealth,
    ArchiveHealth,
    HealthReport,
    PlaceHealth,
    RepairReport,
    SecretsReport,
    SourceProblem,
)
from preheat.model.listing import AgentTotals
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path, state_path
from preheat.state.connect import make_damage_error, reading
from preheat.state.migration import unreadable_lines

LEAST_ARCHIVE_ROOM = 500_000_000
"""Bytes; with less free space on the disk of the archive there is a finding."""


class Health:
    """The health of this machine and of the archive in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def examine(
        self, problem_limit: int | None = None, verify: bool = False, progress: Progress = SILENT
    ) -> HealthReport:
        """Examine everything. At most `problem_limit` unreadable lines are listed; with `verify` the whole archive is read."""
        return examine(self._folder, problem_limit, verify, progress)

    def repair(self, dry_run: bool = False, progress: Progress = SILENT) -> RepairReport:
        """Save what is whole of a damaged archive and a damaged state into new files; the damaged ones are kept. In a dry run
        nothing is changed. Raises UserError."""
        return repair(self._folder, dry_run, progress)

    def remove_secrets(self, keep: bool = False, progress: Progress = SILENT) -> SecretsReport:
        """Take every secret that today's rules find out of everything stored; with `keep` only look. Raises UserError."""
        return remove_secrets(self._folder, keep, progress)


def examine(folder: str, problem_limit: int | None, verify: bool, progress: Progress) -> HealthReport:
    """Examine everything."""
    findings: list[str] = []
    connection = _open_archive(folder, findings)
    try:
        surveyed = survey_agents(connection, os.environ)
        findings += [f"`{failure.path}`: {failure.why}" for failure in surveyed.failures]
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
        findings += pin_problems(folder)
        problem_rows = (
            list_problems(connection, problem_count if problem_limit is None else problem_limit)
            if connection and problem_count
            else []
        )
    finally:
        if connection is not None:
            connection.close()
    problems = [SourceProblem(*row) for row in problem_rows]
    return HealthReport(agents, archive, findings, problems, problem_count, _describe_untrusted(folder))


def _describe_untrusted(folder: str) -> str:
    with suppress(UserError, OSError):  # a state that cannot be read, or a folder that is gone, is a finding of its own
        return describe_untrusted(folder, os.getcwd())
    return ""


def _open_archive(folder: str, findings: list[str]) -> ArchiveConnection | None:
    if not has_archive(folder):
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
        files = _discover(place, root)
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


def _discover(place: Places, root: str) -> list[SourceFile]:
    """The files below a root, as many as a sync would read; what stops the search is among the findings of the survey."""
    found: list[SourceFile] = []
    with suppress(Exception):
        found.extend(islice(place.discover(root), current_limits().files))
    return found


def _examine_place(root: str, files: list[SourceFile], findings: list[str]) -> PlaceHealth:
    if not os.path.lexists(root):
        return PlaceHealth(root, "missing")
    try:
        with os.scandir(root):
            pass
    except OSError as error:
        findings.append(f"`{root}` cannot be read: {describe_error(error)}; check its owner and permissions")
        return PlaceHealth(root, "unreadable")

    def add_finding(error: OSError) -> None:
        findings.append(
            f"`{error.filename}` cannot be opened: {describe_error(error)}; the sessions in it are not read"
        )

    for _ in os.walk(root, onerror=add_finding):
        pass
    return PlaceHealth(root, "found", len(files), sum(file.size for file in files))


def _unreadable(path: str) -> str:
    try:
        with open_file(path) as stream:
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
    connection: ArchiveConnection | None,
    held: list[AgentTotals],
    findings: list[str],
    progress: Progress | None,
) -> ArchiveHealth:
    """The health of the archive; with `progress` every byte is verified."""
    path = archive_path(folder)
    if (address := find_server(folder)) is not None:
        return _server_health(folder, address, connection, held, findings, progress)
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


def _server_health(
    folder: str,
    address: ServerAddress,
    connection: ArchiveConnection | None,
    held: list[AgentTotals],
    findings: list[str],
    progress: Progress | None,
) -> ArchiveHealth:
    """The health of an archive on a server, and of the local one, in which sessions wait for it."""
    _check_permissions(folder, archive_path(folder), findings)
    waiting = count_waiting_sessions(folder)
    if waiting:
        findings.append(
            f"{format_count(waiting, 'session')} wait in `{archive_path(folder)}` for the server; `preheat sync` moves them"
        )
    if connection is None:
        return ArchiveHealth(address.shown, True, is_server=True)
    total = sum(row.source_bytes for row in held)
    return ArchiveHealth(
        address.shown,
        True,
        connection.size(),
        total,
        str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]),
        count_redactions(connection),
        verified=None if progress is None else _verify(connection, total, findings, progress),
        is_server=True,
    )


def _check_permissions(folder: str, path: str, findings: list[str]) -> None:
    if sys.platform == "win32":
        return
    for name in (folder, path, f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name) and (mode := stat.S_IMODE(os.stat(name).st_mode)) & 0o077:
            right = "700" if os.path.isdir(name) else "600"
            findings.append(f"others can read `{name}` (mode {mode:o}); `chmod {right} {name}` closes it")


def _verify(connection: ArchiveConnection, total: int, findings: list[str], progress: Progress) -> bool:
    progress.begin("Checking", total, "bytes")
    damaged = False
    try:
        for verdict in connection.find_damage():
            damaged = True
            findings.append(f"the archive is damaged: {verdict}; `preheat admin doctor --repair` saves what is whole")
        for path, why in verify(connection, progress.advance):
            damaged = True
            findings.append(
                f"the stored copy of `{path}` is damaged: {why}; `preheat admin doctor --repair` saves what is whole"
            )
    finally:
        progress.end()
    return not damaged


# Faults of the daemon and its folder, each with what to do about it, for `preheat admin doctor`.
LEAST_DAEMON_ROOM = 20_000_000
"""Bytes; the daemon stops writing when less is free."""
_START_SECONDS = 60.0
"""Seconds after which a daemon that a hook started must have read the waiting events."""
_LOG_END = 2_000


def daemon_faults(folder: str | None = None) -> list[str]:
    """All faults, a sentence each; none if no daemon was ever started."""
    live = live_folder(folder)
    if not os.path.isdir(live):
        return _settings_faults(live)
    return [*_settings_faults(live), *_folder_faults(live), *_start_faults(live), *_process_faults(live, folder)]


def _settings_faults(live: str) -> list[str]:
    faults: dict[str, None] = {}  # a file that cannot be read at all is reported once
    for read in (load_thresholds, load_actions, load_assignment_settings, load_limits):
        try:
            read(os.path.dirname(live))
        except UserError as error:
            faults[str(error)] = None
    return list(faults)


def _folder_faults(live: str) -> list[str]:
    faults = []
    mode = stat.S_IMODE(os.stat(live).st_mode)
    if mode & 0o077:
        faults.append(f"others can open `{live}` (mode {mode:o}); `chmod 700 {live}` closes it")
    if not os.access(live, os.W_OK | os.X_OK):
        faults.append(
            f"`{live}` cannot be written: hooks are answered with nothing until it can; check its owner and permissions"
        )
    free = shutil.disk_usage(live).free
    if free < LEAST_DAEMON_ROOM:
        faults.append(f"the disk of `{live}` is full: hooks are answered with nothing until there is room")
    return faults


def _start_faults(live: str) -> list[str]:
    """Whether hooks can start a daemon."""
    command = read_start(live).rstrip("\n").split("\n")[1:2]
    if not command or os.access(command[0], os.X_OK):
        return []
    return [f"hooks cannot start the daemon: `{command[0]}` is gone; `preheat admin serve` starts it and repairs that"]


def _process_faults(live: str, folder: str | None) -> list[str]:
    running = find_daemon(folder)
    if running is None:
        return _waiting_events(live)
    try:
        reported = status(folder)
    except DaemonError as error:
        advice = f"`kill -9 {running.pid}` ends it, the next hook starts another, and nothing is lost"
        return [
            f"the daemon (process {running.pid}) does not answer: {error}; hooks are kept for later meanwhile and "
            f"answered with nothing; {advice}"
        ]
    faults = _version_faults(running.version)
    faults += [f"the daemon says: {trouble}" for trouble in reported.get("troubles", ())]
    if reported.get("lost"):
        faults.append(
            f"the daemon gave up {reported['lost']} events that it could not handle; the transcripts still have them"
        )
    return faults


def _version_faults(version: str) -> list[str]:
    if version == __version__:
        return []
    return [
        f"the daemon is of version {version}, this is {__version__}; `preheat admin serve` puts this one in its place"
    ]


def _waiting_events(live: str) -> list[str]:
    """Events of hooks that wait because the daemon did not start."""
    spool = os.path.join(live, "spool")
    try:
        ages = [time.time() - entry.stat().st_mtime for entry in os.scandir(spool) if entry.name.endswith(".event")]
    except OSError:
        return []
    if not ages or max(ages) < _START_SECONDS:
        return []
    events = "1 event of a hook waits" if len(ages) == 1 else f"{len(ages)} events of hooks wait"
    return [
        f"no daemon runs and none has come up: {events} in `{spool}`; `preheat admin serve` starts one and says why it cannot"
        f"{_end_of_log(live)}"
    ]


def _end_of_log(live: str) -> str:
    """The last line of the daemon's log."""
    try:
        with open_file(os.path.join(live, "daemon.log")) as stream:
            stream.seek(max(0, stream.size - _LOG_END))
            lines = stream.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"; its log ends with: {last[:200]}" if last else ""


# Faults of the state beside the archive, each with what to do about it, for `preheat admin doctor`.
def state_faults(folder: str) -> list[str]:
    """All faults, a sentence each; none if there is no state."""
    try:
        with reading(folder) as state:
            verdicts = [str(row[0]) for row in state.execute("PRAGMA quick_check(5)")]
    except UserError as error:
        return [str(error)]
    damage = [str(make_damage_error(state_path(folder), each)) for each in verdicts if each != "ok"]
    return [*damage, *_permission_faults(folder), *unreadable_lines(folder)]


def _permission_faults(folder: str) -> list[str]:
    if sys.platform == "win32":
        return []
    path = state_path(folder)
    return [
        f"others can read `{name}` (mode {mode:o}); `chmod 600 {name}` closes it"
        for name in (path, f"{path}-wal", f"{path}-shm")
        if os.path.exists(name) and (mode := stat.S_IMODE(os.stat(name).st_mode)) & 0o077
    ]
