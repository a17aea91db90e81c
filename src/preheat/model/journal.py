"""An entry of the daemon's journal: one hook event of a running session and the answer to it. A frozen value.

Knows nothing of how it is stored, nor of the state that follows from it.
"""

import msgspec

from preheat.model.experiment import AssignmentRecord
from preheat.model.live import Advisory, LiveEvent


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"assignments": "lots"}):
    """The events of one hook call (or of a look at the transcript), and the answer."""

    seq: int = 0
    """Its number in the journal; set by `append`."""
    at: float
    agent: str
    session: str
    hook: str = ""
    """The name of the hook; `transcript` for events that came from the transcript."""
    key: str = ""
    """Equal if the same hook event arrived twice."""
    call_id: str = ""
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    events: tuple[LiveEvent, ...] = ()
    advisory: Advisory | None = None
    """The advisory that was given."""
    withheld: Advisory | None = None
    """The advisory that was withheld at random."""
    assignments: tuple[AssignmentRecord, ...] = ()
    """Assignments that were made: arm, lessons, advice."""
    context: str = ""
    """The id of the context that was given."""
    held: bool = False
    """A stop was held up, because the person asked for that."""
    refused: str = ""
    """Why a call was refused, because the person asked for that."""
    own: bool = False
    """It is a session that Preheat itself started."""
