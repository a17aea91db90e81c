"""A console that ends the program where whoever reads it has enough. Loads rich: `screen` imports it when one is made."""

from rich.console import Console


class Terminal(Console):
    """As `run.py` expects it."""

    def on_broken_pipe(self) -> None:
        """Whoever reads us has enough; `run.py` ends the program, and not as an error."""
        raise BrokenPipeError
