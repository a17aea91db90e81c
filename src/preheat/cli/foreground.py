"""Being the daemon: what hooks start. Light, because a session may be waiting for it.

Knows nothing of options.
"""

import gc

from preheat.cli.exit_codes import run_guarded
from preheat.errors import UserError
from preheat.settings import data_folder

EXIT_AFTER = 30.0
"""Minutes without an event after which it ends."""


def be_daemon(exit_after: float = EXIT_AFTER) -> int:
    """Be the daemon until it ends; returns the exit code. Raises UserError."""
    gc.disable()  # importing makes many values and no garbage
    from preheat.daemon.process import serve  # noqa: PLC0415 - starts another surface

    gc.enable()
    try:
        return serve(data_folder(), exit_after * 60)
    except OSError as error:
        raise UserError(f"`{error.filename or data_folder()}` cannot be used: {error.strerror}") from error


def run_daemon() -> int:
    """The command `preheat admin serve --foreground` without its command line; returns the exit code."""
    return run_guarded(be_daemon)
