"""The command `preheat`. A plain `preheat sync` takes a quick path: it is run often, and mostly finds little or nothing new."""

import gc
import os
import sys

_PLAIN_OPTIONS = {"--json", "--quiet"}


def main() -> int:
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sync"] and set(arguments[1:]) <= _PLAIN_OPTIONS:
        _exit_at_once(_plain_sync(arguments[1:]))
    from preheat.cli import main as run  # noqa: PLC0415 - a plain sync needs no click

    return run(arguments)


def _plain_sync(arguments: list[str]) -> int:
    from preheat.quick import look_for_changes  # noqa: PLC0415 - no other command needs it

    seen = look_for_changes()
    if seen is not None and not seen.changed:
        from preheat.cli.nothing_new import print_nothing_new  # noqa: PLC0415 - only for the quick path

        print_nothing_new(seen.counts, arguments)
        return 0
    gc.disable()  # importing makes many values and no garbage
    from preheat.cli.exit_codes import run_guarded  # noqa: PLC0415 - not needed if nothing is new
    from preheat.cli.sync_report import sync_archive  # noqa: PLC0415 - loads what reads and stores sessions

    gc.enable()
    return run_guarded(lambda: sync_archive((), (), "--quiet" in arguments, "--json" in arguments, seen))


def _exit_at_once(code: int) -> None:
    """End without cleaning up the interpreter, which would take longer than most of these syncs; every file is closed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # the reader of our output closed it
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
