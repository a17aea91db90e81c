"""The command line: `preheat NOUN VERB`. One module per command, imported when it is called.

Importing the package costs nothing: the quick path prints through `summary.py`, and click is not needed for that.
"""


def main(arguments: list[str]) -> int:
    """Run a command; the exit code comes back."""
    from preheat.cli.run import main as run  # noqa: PLC0415 - the quick path needs no click

    return run(arguments)
