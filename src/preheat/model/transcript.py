"""A session with the outcome of each call, for every screen that shows a session.

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
    """The call's main argument."""
    status: Status
    cause: Cause | None
    exit_code: int | None
    bookkeeping: bool
    """Bookkeeping of the agent: counted in no rate."""
    copied: bool
    """The call was copied from another session and counts there."""

    @property
    def is_failure(self) -> bool:
        """Whether it counts as a failure of this session."""
        return self.status in FAILURES and not self.bookkeeping and not self.copied


class Transcript(msgspec.Struct, frozen=True):
    """A session, and a line for each of its calls, in their order."""

    session: Session
    calls: tuple[CallLine, ...]

    @property
    def failed_calls(self) -> int:
        """How many of its own calls failed."""
        return sum(call.is_failure for call in self.calls)

    @property
    def copied_calls(self) -> int:
        """How many of its calls were copied from another session."""
        return sum(call.copied for call in self.calls)
