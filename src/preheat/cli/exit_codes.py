"""Exit codes: every error that a person can fix becomes one line and a code. Light, because a plain sync loads it.

Knows no command.
"""

import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from preheat.cli.interrupts import Interrupts
from preheat.cli.text import printable
from preheat.errors import ArchiveDamaged, PreheatError

DONE_WITH_PROBLEMS = 1
NOT_DONE = 2


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also where it cannot be parsed."""
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in ours


def run_guarded(action: Callable[[], int], as_json: bool = False) -> int:
    """Run an action; returns 0 (all good), 1 (done, but something could not be read), 2 (not done; the line says why), or 128 and
    the number of the signal that stopped it. With `as_json` the reason is also a JSON document on standard output."""
    _escape_odd_characters()
    with Interrupts(lambda message: print_failure(message, 0)) as interrupts:
        try:
            return _run_translated(action, as_json)
        except KeyboardInterrupt:
            return interrupts.report()
        except Exception:
            if interrupts.number:  # what the interruption broke off
                return interrupts.report()
            raise


def _run_translated(action: Callable[[], int], as_json: bool) -> int:
    try:
        code = action()
        sys.stdout.flush()
    except BrokenPipeError:
        return _ignore_closed_pipe()
    except ArchiveDamaged as error:
        return print_failure(_about_archive(error), NOT_DONE, as_json)
    except PreheatError as error:
        return print_failure(str(error), NOT_DONE, as_json)
    except sqlite3.DatabaseError as error:
        return print_failure(_about_archive(error), NOT_DONE, as_json)
    except OSError as error:
        place = f"`{error.filename}`: " if error.filename else ""
        return print_failure(f"{place}{error.strerror or error}", NOT_DONE, as_json)
    except Exception as error:
        if damage := _explain_by_damage(error):
            return print_failure(damage, NOT_DONE, as_json)
        raise
    return code


def print_failure(message: str, code: int, as_json: bool = False) -> int:
    """Print the reason in one line; returns the exit code. For programs it is also a JSON document on standard output."""
    with suppress(OSError):  # nobody may read it any more
        if as_json:
            import json  # noqa: PLC0415 - only where something is wrong

            print(json.dumps({"error": printable(message), "exit_code": code}, indent=2), flush=True)
        print(f"preheat: {printable(message)}", file=sys.stderr, flush=True)
    return code


def _explain_by_damage(error: Exception) -> str:
    """What an unforeseen error means if something other than Preheat has changed the archive; empty if nothing has: then the
    error is a defect of ours."""
    from preheat.app import open as open_home  # noqa: PLC0415 - only where something is wrong

    if isinstance(error, (ImportError, NameError, SyntaxError)):  # no value can cause these
        return ""
    home = open_home()
    return str(home.translate_error(error)) if home.is_archive_changed() else ""


def _about_archive(error: Exception) -> str:
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
