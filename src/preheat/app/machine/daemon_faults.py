"""What is wrong with the daemon and its folder, each with what to do about it, for `preheat doctor`. Changes nothing."""

import os
import shutil
import stat
import time

from preheat import __version__
from preheat.app.experiments.assignment import lots_in
from preheat.app.live.settings import choices_in, thresholds_in
from preheat.errors import UserError
from preheat.running.asking import NoAnswer, status
from preheat.running.place import holder, live_folder, read_start

LITTLE_ROOM = 20_000_000
_STARTED = 60.0
"""Seconds in which a daemon that a hook starts has surely taken in what waits for it."""
_LOG_END = 2_000


def daemon_faults(folder: str | None = None) -> list[str]:
    """The findings; none if all is well, or nothing was ever started."""
    live = live_folder(folder)
    if not os.path.isdir(live):
        return _settings(live)
    return [*_settings(live), *_folder(live), *_start(live), *_daemon(live, folder)]


def _settings(live: str) -> list[str]:
    found: dict[str, None] = {}  # a file that cannot be read at all is told once
    for read in (thresholds_in, choices_in, lots_in):
        try:
            read(os.path.dirname(live))
        except UserError as error:
            found[str(error)] = None
    return list(found)


def _folder(live: str) -> list[str]:
    found = []
    mode = stat.S_IMODE(os.stat(live).st_mode)
    if mode & 0o077:
        found.append(f"others can open `{live}` (mode {mode:o}); `chmod 700 {live}` closes it")
    if not os.access(live, os.W_OK | os.X_OK):
        found.append(
            f"`{live}` cannot be written: hooks are answered with nothing until it can; check its owner and permissions"
        )
    free = shutil.disk_usage(live).free
    if free < LITTLE_ROOM:
        found.append(f"the disk of `{live}` is full: hooks are answered with nothing until there is room")
    return found


def _start(live: str) -> list[str]:
    """Whether hooks can start a daemon."""
    command = read_start(live).rstrip("\n").split("\n")[1:2]
    if not command or os.access(command[0], os.X_OK):
        return []
    return [f"hooks cannot start the daemon: `{command[0]}` is gone; `preheat serve` starts it and mends that"]


def _daemon(live: str, folder: str | None) -> list[str]:
    running = holder(folder)
    if running is None:
        return _left(live)
    try:
        told = status(folder)
    except NoAnswer as error:
        advice = f"`kill -9 {running.pid}` ends it, the next hook starts another, and nothing is lost"
        return [
            f"the daemon (process {running.pid}) does not answer: {error}; hooks are kept for later meanwhile and "
            f"answered with nothing; {advice}"
        ]
    found = _old(running.version)
    found += [f"the daemon says: {trouble}" for trouble in told.get("troubles", ())]
    if told.get("lost"):
        found.append(
            f"the daemon gave up {told['lost']} events that it could not handle; the transcripts still have them"
        )
    return found


def _old(version: str) -> list[str]:
    if version == __version__:
        return []
    return [f"the daemon is of version {version}, this is {__version__}; `preheat serve` puts this one in its place"]


def _left(live: str) -> list[str]:
    """Events that wait although nobody comes for them: the daemon that their hooks started has not come up."""
    spool = os.path.join(live, "spool")
    try:
        ages = [time.time() - entry.stat().st_mtime for entry in os.scandir(spool) if entry.name.endswith(".event")]
    except OSError:
        return []
    if not ages or max(ages) < _STARTED:
        return []
    many = "1 event of a hook waits" if len(ages) == 1 else f"{len(ages)} events of hooks wait"
    return [
        f"no daemon runs and none has come up: {many} in `{spool}`; `preheat serve` starts one and says why it cannot"
        f"{_last_words(live)}"
    ]


def _last_words(live: str) -> str:
    """How the daemon's log ends."""
    try:
        with open(os.path.join(live, "daemon.log"), "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _LOG_END))
            lines = stream.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"; its log ends with: {last[:200]}" if last else ""
