"""One entry of the daemon's journal: what happened in a running session, and what was said. A frozen value.

Knows nothing of how it is written down, nor of what becomes of a session by it.
"""

import msgspec

from preheat.model.experiment import Lot
from preheat.model.live import Advisory, LiveEvent


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one hook (or a look at the transcript) told, and what was told back."""

    seq: int = 0
    """Its place in the journal; given by `append`."""
    at: float
    agent: str
    session: str
    hook: str = ""
    """The name of the hook; `transcript` for what no hook told."""
    key: str = ""
    """Equal for a hook that fired twice."""
    call_id: str = ""
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    events: tuple[LiveEvent, ...] = ()
    advisory: Advisory | None = None
    """What was said after them."""
    withheld: Advisory | None = None
    """What would have been said, had a lot not decided otherwise."""
    lots: tuple[Lot, ...] = ()
    """That were drawn: which arm, which items, what is said."""
    context: str = ""
    """The id of the context that was handed out."""
    held: bool = False
    """A stop was held up, because the person asked for that."""
    refused: str = ""
    """Why a call was refused, because the person asked for that."""
    own: bool = False
    """It is a session that Preheat itself started."""
