"""The command `preheat`. A `preheat sync` that finds nothing new goes a short way and costs next to nothing."""

import sys


def main() -> int:
    """Run the command line; the exit code comes back."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sync"] and set(arguments[1:]) <= {"--json", "--quiet"}:
        from preheat.quick import nothing_new

        counts = nothing_new()
        if counts is not None:
            from preheat.cli.summary import print_nothing_new

            print_nothing_new(counts, arguments[1:])
            return 0
    from preheat.cli import main as run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
