"""The state of the event parser, kept between two feeds."""

import msgspec

from preheat.agents.copilot.tokens import TokenTally
from preheat.agents.parsing import ParserState


class OpenCall(msgspec.Struct):
    """A call without a result so far."""

    own: str
    """Its id in our session: some models count from zero in every response."""
    key: str
    """The agent that made it; empty for the main one."""
    started: float | None = None
    by_program: bool = False
    """The program made it in the model's name, to report on a background command."""


class CopilotState(ParserState):
    known: bool = False
    """The session's first event was read."""
    open: dict[str, OpenCall] = msgspec.field(default_factory=dict)
    seen: set[str] = msgspec.field(default_factory=set)
    """The ids of all calls so far, by agent."""
    owners: dict[str, str] = msgspec.field(default_factory=dict)
    """The agent that made each call: the parent of a subagent that the call starts."""
    by_person: set[str] = msgspec.field(default_factory=set)
    """Calls that the person made."""
    denied: dict[str, str] = msgspec.field(default_factory=dict)
    children: dict[str, str] = msgspec.field(default_factory=dict)
    """The agent that a call started; early versions name only the call."""
    tallies: dict[str, TokenTally] = msgspec.field(default_factory=dict)
    by_record: bool = False
    """There are records of single responses, so other token counts are ignored."""
    prompts: dict[str, int] = msgspec.field(default_factory=dict)
    """The line of each message of the person, to know what a rewind removes."""
    thought: str = ""
    """The last reasoning that was an event of its own."""
    hooked: bool = False
    """A hook has added a text since the turn began."""
