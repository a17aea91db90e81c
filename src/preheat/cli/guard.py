"""Turns every error that a person can fix into one line and an exit code. Light: a plain sync goes through it too.

Knows nothing of sessions or archives but what to say of a broken one.
"""

import os
import sqlite3
import sys
from collections.abc import Callable

from preheat.cli.text import printable
from preheat.errors import PreheatError

PROBLEMS, WRONG, INTERRUPTED = 1, 2, 130


def guarded(action: Callable[[], int]) -> int:
    """Do it. 0: all good; 1: done, but something could not be read; 2: nothing done, and the line says why."""
    _forgive_odd_characters()
    try:
        code = action()
        sys.stdout.flush()
    except BrokenPipeError:
        return _pipe_closed()
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
    """Say in one line why; the exit code comes back."""
    print(f"preheat: {printable(message)}", file=sys.stderr)
    return code


def _about_archive(error: sqlite3.DatabaseError) -> str:
    from preheat.app import open as open_home  # noqa: PLC0415 - only where something is wrong

    return str(open_home().describe_failure(error))


def _pipe_closed() -> int:
    """Whoever read our output has enough of it: no error. Standard output must not be flushed again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _forgive_odd_characters() -> None:
    """Names of files need not be text, and not every terminal speaks UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
