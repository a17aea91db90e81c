"""The command `preheat`. Three commands take a quick path: a plain `preheat sync`, which is run often and mostly finds little or
nothing new, the start of the daemon, for which a session may be waiting, and `preheat hook AGENT`, for which it does wait.
"""

import gc
import os
import sys

_PLAIN_OPTIONS = {"--json", "--quiet"}


def main() -> int:
    """Run the command line; returns the exit code."""
    _open_standard_streams()
    _forget_current_folder()
    arguments = sys.argv[1:]
    if arguments[:1] == ["sync"] and set(arguments[1:]) <= _PLAIN_OPTIONS:
        _exit_at_once(_plain_sync(arguments[1:]))
    if len(arguments) == 2 and arguments[0] == "hook" and arguments[1].isidentifier():
        from preheat.hook_client import run_hook_client  # noqa: PLC0415 - needs no click

        run_hook_client(arguments[1])
    if arguments in (["admin", "serve", "--foreground"], ["serve", "--foreground"]) and sys.platform != "win32":
        from preheat.cli.foreground import run_daemon  # noqa: PLC0415 - needs no click

        return run_daemon()
    from preheat.cli import main as run  # noqa: PLC0415 - a plain sync needs no click

    return run(arguments)


def _forget_current_folder() -> None:
    """Import nothing from the current folder, which `python -m` looks through first: it may be of a project of somebody else."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path[:1] != [package] and __name__ == "__main__" and __spec__ is not None:
        del sys.path[:1]


def _plain_sync(arguments: list[str]) -> int:
    from preheat.errors import UserError  # noqa: PLC0415 - no other command needs it here
    from preheat.quick import look_for_changes  # noqa: PLC0415 - the same

    try:
        seen = look_for_changes()
    except UserError as error:
        from preheat.cli.exit_codes import NOT_DONE, print_failure  # noqa: PLC0415 - not needed if nothing is wrong

        return print_failure(str(error), NOT_DONE, "--json" in arguments)
    if seen is not None and not seen.changed:
        from preheat.cli.nothing_new import print_nothing_new  # noqa: PLC0415 - only for the quick path

        print_nothing_new(seen.counts, arguments)
        return 0
    gc.disable()  # importing makes many values and no garbage
    from preheat.cli.exit_codes import run_guarded  # noqa: PLC0415 - not needed if nothing is new
    from preheat.cli.sync_report import sync_archive  # noqa: PLC0415 - loads what reads and stores sessions

    gc.enable()
    return run_guarded(
        lambda: sync_archive((), (), "--quiet" in arguments, "--json" in arguments, seen), "--json" in arguments
    )


def _open_standard_streams() -> None:
    """Open those that were closed, so that no file of ours gets their numbers, and prints are not errors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - for good


def _exit_at_once(code: int) -> None:
    """End without cleaning up the interpreter, which would take longer than most of these syncs; every file is closed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        pass  # the reader of our output closed it
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
