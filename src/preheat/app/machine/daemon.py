"""The daemon that the agents' hooks talk to: whether one runs and how it goes, starting and ending it; and what the process that
is one needs of its folder.

Knows nothing of what it answers (`app.live.hooks`). Light: a hook may be waiting for the daemon to come up.
"""

import os
import signal
import subprocess
import time
from typing import Any, NamedTuple

from preheat import __version__
from preheat.errors import UserError
from preheat.running import place
from preheat.running.asking import STATUS, NoAnswer, status, until
from preheat.running.place import SEEN, SOCKET, Address, Holder

__all__ = ["SEEN", "SOCKET", "STATUS", "Address", "Daemon", "Holder", "Started"]

_PATIENCE = 8.0
_HANDING = 4.0


class Started(NamedTuple):
    """The daemon that runs now."""

    holder: Holder
    before: bool
    """It ran already."""


class Daemon:
    """The daemon of one folder; there is at most one."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.live = place.live_folder(folder)
        """Where it keeps its things."""

    # For whoever asks.
    def holder(self) -> Holder | None:
        """The one that runs; None if none does."""
        return place.holder(self._folder)

    def status(self) -> dict[str, Any]:
        """Whether one runs, what it says of itself, and what is wrong with it (`troubles`)."""
        found = self.holder()
        if found is None:
            return {"running": False}
        try:
            return {"running": True, **status(self._folder)}
        except NoAnswer as error:
            return {"running": True, "troubles": [f"process {found.pid} does not answer: {error}"]}

    def start(self) -> Started:
        """Have one run that is of this version. Raises UserError."""
        try:
            self._prepare()
        except OSError as error:
            raise _unusable(error, self._folder) from error
        found = self.holder()
        if found is not None and found.version == __version__:
            return Started(found, before=True)
        if found is not None:
            self._replace(found)
        if self.holder() is None:
            subprocess.Popen(
                place.start_command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "PREHEAT_HOME": self._folder},
            )
        found = until(True, self._folder, _PATIENCE)
        if found is None:
            raise UserError(f"it did not start; `{os.path.join(self.live, 'daemon.log')}` may say why")
        return Started(found, before=False)

    def _replace(self, old: Holder) -> None:
        """A daemon of another version makes room by itself when it sees that this one was started; if not, it is ended."""
        end = time.monotonic() + _HANDING
        while (now := self.holder()) == old and time.monotonic() < end:
            time.sleep(0.05)
        if now == old:
            os.kill(old.pid, signal.SIGTERM)
            until(False, self._folder, _PATIENCE)

    def stop(self) -> bool:
        """End the one that runs; whether one did. Raises UserError if it does not end."""
        found = self.holder()
        if found is None:
            return False
        os.kill(found.pid, signal.SIGTERM)
        if until(False, self._folder, _PATIENCE) is not None:
            raise UserError(
                f"process {found.pid} does not end; `kill -9 {found.pid}` ends it, and nothing is lost by that"
            )
        return True

    def address(self) -> Address:
        """Where it takes posts, and the token for them; made if there is none yet. Raises UserError."""
        try:
            return place.address(self._folder)
        except OSError as error:
            raise _unusable(error, self._folder) from error

    # For the process that is one. All of these raise OSError.
    def _prepare(self) -> None:
        place.write_start(place.prepare(self._folder))

    def claim(self, handed: int | None = None) -> int | None:
        """Be the one: the lock, which the operating system frees when its holder ends; None if another process has it.
        `handed` is the lock as the daemon before left it."""
        lock = handed if handed is not None else place.hold(place.prepare(self._folder))
        if lock is None:
            return None
        place.sign(lock)
        self._prepare()
        if os.path.exists(os.path.join(self._folder, place.CLIENT[0])):
            place.write_client(self._folder)
        return lock

    def keep_port(self, port: int) -> None:
        """Its posts come in there from now on."""
        place.write_address(self.live, place.address(self._folder)._replace(port=port))

    def successor(self) -> str:
        """The version of another Preheat that was started since; empty if there is none."""
        started = place.read_start(self.live)
        return started.partition("\n")[0] if started and started != place.start_text() else ""

    def start_command(self) -> list[str]:
        """How the newest one is started."""
        return place.read_start(self.live).rstrip("\n").split("\n")[1:] or place.start_command()


def _unusable(error: OSError, folder: str) -> UserError:
    return UserError(f"`{error.filename or folder}` cannot be used: {error.strerror}")
