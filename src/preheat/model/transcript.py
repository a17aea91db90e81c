"""A session with what came of each of its calls: what every screen that shows one goes by.

Frozen values; how a call is judged is in `outcomes`.
"""

import msgspec

from preheat.model.outcome import FAILURES, Cause, Status
from preheat.model.session import Session


class CallLine(msgspec.Struct, frozen=True, gc=False):
    """One call on one line."""

    call_id: str
    tool: str
    summary: str
    """The argument that tells most."""
    status: Status
    cause: Cause | None
    exit_code: int | None
    bookkeeping: bool
    """The agent's notes to itself: counted in no rate."""
    copied: bool
    """Another session had it first, and it counts there."""

    @property
    def failed(self) -> bool:
        """Whether it counts as a failure of this session."""
        return self.status in FAILURES and not self.bookkeeping and not self.copied


class Transcript(msgspec.Struct, frozen=True):
    """A session, and a line for each of its calls, in their order."""

    session: Session
    calls: tuple[CallLine, ...]

    @property
    def failed(self) -> int:
        """How many of its own calls failed."""
        return sum(call.failed for call in self.calls)

    @property
    def copied(self) -> int:
        """How many of its calls another session had first."""
        return sum(call.copied for call in self.calls)
