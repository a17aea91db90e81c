"""The observer of long work, which a surface passes in to show progress.

Knows nothing of how it is shown. Standard library only: every sync imports it.
"""

from typing import Literal, TypeAlias

ProgressUnit: TypeAlias = Literal["bytes", "sessions", "steps"]
"""What is counted."""


class Progress:
    """Observes work; this one shows nothing. An exception that a method raises ends the work between two steps."""

    def wait(self, reason: str) -> None:
        """The work waits for something else."""

    def begin(self, work: str, total: float, unit: ProgressUnit = "steps") -> None:
        """Work of this amount begins. `work` is a word for it: `Reading`."""

    def advance(self, amount: float = 1, note: str = "") -> None:
        """This much more is done and stored. `note`: what there is by now, in a few words."""

    def end(self) -> None:
        """The work is done or was given up."""


SILENT = Progress()
