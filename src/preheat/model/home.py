"""The first screen as values: what sessions cost, which mistakes to mend, what the next session gets, what to do next.

Knows nothing of how it is found out or shown.
"""

import msgspec

from preheat.model.cost import Cost
from preheat.model.health import AgentOverview, ArchiveSummary


class HomeMistake(msgspec.Struct, frozen=True, kw_only=True):
    """A repeated mistake whose repair is known."""

    id: str
    title: str
    calls: int
    """How many calls failed so."""
    sessions: int
    seconds: float
    """Time that these failures cost."""
    tokens: int
    """Tokens that these failures cost."""
    projects: tuple[str, ...]
    """Folders of the sessions."""
    last_seen: float | None
    repair: str
    """What was different where it worked: `after reading the file`."""
    worked: int
    """How many failures were repaired so."""
    lesson: str
    """The id of the lesson that tells new sessions of it; empty if there is none."""
    command: str
    """What to type to act on it."""


class NextSession(msgspec.Struct, frozen=True, kw_only=True):
    """What the next session in a folder would be told at its start."""

    folder: str
    project: str
    """The project's name; empty if no session worked in it."""
    sentences: tuple[str, ...]
    tokens: int
    reason: str
    """Why there is nothing, or not more."""


class NextStep(msgspec.Struct, frozen=True, kw_only=True):
    """The one command to type now."""

    command: str
    why: str


class HomeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The first screen."""

    version: str
    agents: tuple[AgentOverview, ...]
    """Every agent with a place on this machine where sessions are looked for."""
    archive: ArchiveSummary | None
    """None: there is none yet."""
    week: Cost | None
    """The seven days up to `week_until`; None: no session has a time."""
    week_until: float | None
    """Now, or the end of the newest session if nothing ran in the last seven days."""
    week_is_current: bool
    week_before: Cost | None
    """The seven days before these; None: nothing ran in them."""
    total: Cost | None
    """Everything in the archive."""
    price_list: str
    mistakes: tuple[HomeMistake, ...]
    """The dearest three whose repair is known, of the last thirty days with sessions."""
    repeated: int
    """How many mistakes were repeated in that time, mendable or not."""
    repeated_calls: int
    """How many calls they cost."""
    next_session: NextSession
    installed: tuple[str, ...]
    """The agents that call Preheat."""
    installable: tuple[str, ...]
    """Agents with sessions on this machine that could call Preheat and do not, the one with most files first."""
    effect: str
    """Whether it helped so far, in a sentence."""
    next_step: NextStep
    untrusted: str = ""
    """A line on a file of lessons in this repository that is not trusted; empty if there is none."""
