"""The command line: `preheat NOUN VERB`. One module per noun, imported when one of its commands is called.

Importing the package loads nothing else: a plain `preheat sync` needs no click.
"""


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    from preheat.cli.run import main as run  # noqa: PLC0415 - a plain sync needs no click

    return run(arguments)
