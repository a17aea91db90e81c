"""Exit codes: every error that a person can fix becomes one line and a code. Light, because a plain sync loads it.

Knows no command.
"""

import os
import sqlite3
import sys
from collections.abc import Callable

from preheat.cli.text import printable
from preheat.errors import PreheatError

DONE_WITH_PROBLEMS = 1
NOT_DONE = 2
INTERRUPTED = 130


def run_guarded(action: Callable[[], int]) -> int:
    """Run an action; returns 0 (all good), 1 (done, but something could not be read) or 2 (not done; the line says why)."""
    _escape_odd_characters()
    try:
        code = action()
        sys.stdout.flush()
    except BrokenPipeError:
        return _ignore_closed_pipe()
    except KeyboardInterrupt:
        return print_failure("stopped; what was done so far is kept", INTERRUPTED)
    except PreheatError as error:
        return print_failure(str(error), NOT_DONE)
    except sqlite3.DatabaseError as error:
        return print_failure(_about_archive(error), NOT_DONE)
    except OSError as error:
        place = f"`{error.filename}`: " if error.filename else ""
        return print_failure(f"{place}{error.strerror or error}", NOT_DONE)
    return code


def print_failure(message: str, code: int) -> int:
    """Print the reason in one line; returns the exit code."""
    print(f"preheat: {printable(message)}", file=sys.stderr)
    return code


def _about_archive(error: sqlite3.DatabaseError) -> str:
    from preheat.app import open as open_home  # noqa: PLC0415 - only where something is wrong

    return str(open_home().translate_error(error))


def _ignore_closed_pipe() -> int:
    """The reader of our output has closed it, as `head` does: no error. Standard output must not be flushed again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _escape_odd_characters() -> None:
    """File names need not be valid text, and not every terminal has UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
