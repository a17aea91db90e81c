"""How long work tells that it goes on: one observer for all of it, which a surface passes in.

Knows nothing of how it is shown. Standard library only: a sync that finds little new pays for it too.
"""

from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["bytes", "sessions", "steps"]
"""What is counted: a display may say how fast bytes are read."""


class Progress:
    """Told how work goes on; this one keeps silent. Whatever a method raises ends the work between two steps."""

    def wait(self, reason: str) -> None:
        """Something else is at work; this waits for it."""

    def begin(self, work: str, total: float, unit: Unit = "steps") -> None:
        """So much is to be done. `work` is a word for it: `Reading`."""

    def advance(self, amount: float = 1, note: str = "") -> None:
        """So much more of it is done, and safe. `note` says in a few words what there is by now."""

    def end(self) -> None:
        """All of it is done, or it was given up."""


SILENT = Progress()
