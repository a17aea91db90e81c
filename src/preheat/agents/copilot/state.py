"""What the parser of events remembers between two feeds."""

import msgspec

from preheat.agents.copilot.tokens import Tally
from preheat.agents.parsing import State


class Call(msgspec.Struct):
    """A call whose result has not come yet."""

    own: str
    """Its id in the session: some models count from nought in every response."""
    key: str
    """The agent that made it; empty for the main one."""
    started: float | None = None
    by_program: bool = False
    """The program made it in the model's name, to hand over news of a background command."""


class CopilotState(State):
    known: bool = False
    """The session's first event was seen."""
    open: dict[str, Call] = msgspec.field(default_factory=dict)
    seen: set[str] = msgspec.field(default_factory=set)
    """The ids of all calls so far, by agent."""
    owners: dict[str, str] = msgspec.field(default_factory=dict)
    """Which agent made a call, for the agents started by it."""
    by_person: set[str] = msgspec.field(default_factory=set)
    """Calls that the person made."""
    denied: dict[str, str] = msgspec.field(default_factory=dict)
    children: dict[str, str] = msgspec.field(default_factory=dict)
    """The agent that a call started; early versions name only the call."""
    tallies: dict[str, Tally] = msgspec.field(default_factory=dict)
    by_record: bool = False
    """There are records of single responses; other statements beside them only repeat."""
    prompts: dict[str, int] = msgspec.field(default_factory=dict)
    """Where each of the person's messages stands, for what is taken back."""
    thought: str = ""
    """The last reasoning that came as an event of its own."""
    hooked: bool = False
    """A hook has had something to say since the turn began."""
