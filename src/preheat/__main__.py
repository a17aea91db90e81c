"""The command `preheat`. A plain `preheat sync` takes a short path: it runs often and mostly finds little or nothing new."""

import gc
import os
import sys

PLAIN_OPTIONS = {"--json", "--quiet"}


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sync"] and set(arguments[1:]) <= PLAIN_OPTIONS:
        _exit_at_once(_plain_sync(arguments[1:]))
    from preheat.cli import main as run  # noqa: PLC0415 - a plain sync does not need it

    return run(arguments)


def _plain_sync(arguments: list[str]) -> int:
    from preheat.quick import look  # noqa: PLC0415 - no other command needs it

    quick_look = look()
    if quick_look is not None and not quick_look.changed:
        from preheat.cli.nothing_new import print_nothing_new  # noqa: PLC0415 - loaded only where there is nothing new

        print_nothing_new(quick_look.counts, arguments)
        return 0
    gc.disable()  # importing makes many values and no garbage
    from preheat.cli.guard import guarded  # noqa: PLC0415 - loaded only where there is something new
    from preheat.cli.syncing import bring_up_to_date  # noqa: PLC0415 - it loads everything that reads and stores

    gc.enable()
    return guarded(lambda: bring_up_to_date((), (), "--quiet" in arguments, "--json" in arguments, quick_look))


def _exit_at_once(code: int) -> None:
    """Exit at once: shutting the interpreter down would take longer than most of these syncs, and everything is closed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # the reader of our output has closed it
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
