"""Faults of the daemon and its folder, each with what to do about it, for `preheat doctor`. Changes nothing."""

import os
import shutil
import stat
import time

from preheat import __version__
from preheat.app.experiments.assignment import load_assignment_settings
from preheat.app.live.settings import load_actions, load_thresholds
from preheat.errors import UserError
from preheat.running.asking import DaemonError, status
from preheat.running.place import find_daemon, live_folder, read_start

LEAST_DAEMON_ROOM = 20_000_000
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
    for read in (load_thresholds, load_actions, load_assignment_settings):
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
    return [f"hooks cannot start the daemon: `{command[0]}` is gone; `preheat serve` starts it and repairs that"]


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
    return [f"the daemon is of version {version}, this is {__version__}; `preheat serve` puts this one in its place"]


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
        f"no daemon runs and none has come up: {events} in `{spool}`; `preheat serve` starts one and says why it cannot"
        f"{_end_of_log(live)}"
    ]


def _end_of_log(live: str) -> str:
    """The last line of the daemon's log."""
    try:
        with open(os.path.join(live, "daemon.log"), "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _LOG_END))
            lines = stream.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"; its log ends with: {last[:200]}" if last else ""
