"""The command `preheat`. A plain `preheat sync` goes a short way: it is run often, and mostly finds little or nothing new."""

import sys

PLAIN = {"--json", "--quiet"}


def main() -> int:
    """Run the command line; the exit code comes back."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sync"] and set(arguments[1:]) <= PLAIN:
        return _plain_sync(arguments[1:])
    from preheat.cli import main as run

    return run(arguments)


def _plain_sync(arguments: list[str]) -> int:
    from preheat.quick import look

    seen = look()
    if seen is not None and not seen.changed:
        from preheat.cli.summary import print_nothing_new

        print_nothing_new(seen.counts, arguments)
        return 0
    from preheat.agents import AGENTS
    from preheat.cli.guard import guarded
    from preheat.cli.syncing import bring_up_to_date

    return guarded(lambda: bring_up_to_date(AGENTS, (), "--quiet" in arguments, "--json" in arguments, seen))


if __name__ == "__main__":
    sys.exit(main())
