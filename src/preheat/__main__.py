"""The command `preheat`. A plain `preheat sync` goes a short way: it is run often, and mostly finds little or nothing new."""

import gc
import os
import sys

PLAIN = {"--json", "--quiet"}


def main() -> int:
    """Run the command line; the exit code comes back."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sync"] and set(arguments[1:]) <= PLAIN:
        _leave(_plain_sync(arguments[1:]))
    from preheat.cli import main as run  # noqa: PLC0415 - a plain sync does without

    return run(arguments)


def _plain_sync(arguments: list[str]) -> int:
    from preheat.quick import look  # noqa: PLC0415 - no other command needs it

    seen = look()
    if seen is not None and not seen.changed:
        from preheat.cli.nothing_new import print_nothing_new  # noqa: PLC0415 - only what is printed is loaded

        print_nothing_new(seen.counts, arguments)
        return 0
    gc.disable()  # importing makes many values and no garbage
    from preheat.cli.guard import guarded  # noqa: PLC0415 - where there is nothing new, none of this is
    from preheat.cli.syncing import bring_up_to_date  # noqa: PLC0415 - nor this, and all that reads and stores with it

    gc.enable()
    return guarded(lambda: bring_up_to_date((), (), "--quiet" in arguments, "--json" in arguments, seen))


def _leave(code: int) -> None:
    """End at once: taking the interpreter apart would take longer than most of these syncs, and everything is closed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # whoever read our output has enough of it
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
