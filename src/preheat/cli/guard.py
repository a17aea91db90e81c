"""Exit codes: every error that a person can fix becomes one line and a code. Light, because a plain sync loads it.

Knows no command.
"""

import os
import sqlite3
import sys
from collections.abc import Callable

from preheat.cli.text import printable
from preheat.errors import PreheatError

PROBLEMS = 1
WRONG = 2
INTERRUPTED = 130


def guarded(action: Callable[[], int]) -> int:
    """Run an action; returns 0 (all good), 1 (done, but something could not be read) or 2 (not done; the line says why)."""
    _escape_odd_characters()
    try:
        code = action()
        sys.stdout.flush()
    except BrokenPipeError:
        return _ignore_closed_pipe()
    except KeyboardInterrupt:
        return fail("stopped; what was done so far is kept", INTERRUPTED)
    except PreheatError as error:
        return fail(str(error), WRONG)
    except sqlite3.DatabaseError as error:
        return fail(_about_archive(error), WRONG)
    except OSError as error:
        place = f"`{error.filename}`: " if error.filename else ""
        return fail(f"{place}{error.strerror or error}", WRONG)
    return code


def fail(message: str, code: int) -> int:
    """Print the reason in one line; returns the exit code."""
    print(f"preheat: {printable(message)}", file=sys.stderr)
    return code


def _about_archive(error: sqlite3.DatabaseError) -> str:
    from preheat.app import open as open_home  # noqa: PLC0415 - only where something is wrong

    return str(open_home().describe_failure(error))


def _ignore_closed_pipe() -> int:
    """The reader of our output has closed it, as `head` does: no error. Standard output must not be flushed again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _escape_odd_characters() -> None:
    """File names need not be valid text, and not every terminal has UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
