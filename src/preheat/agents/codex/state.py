"""The state of the rollout parser, kept between two feeds."""

from typing import Literal, TypeAlias

import msgspec

from preheat.agents.codex.lineage import Lineage
from preheat.agents.codex.results import RecordedResult
from preheat.agents.codex.tokens import TokenTally
from preheat.agents.parsing import ParserState

Speaker: TypeAlias = Literal["user", "assistant"]


class ShownMessage(msgspec.Struct):
    """A message that the program showed and that no response item has repeated yet."""

    text: str
    line: int
    at: float | None


class MessagePairs(msgspec.Struct):
    """Unpaired messages of one speaker: each is stored as a response item and as an event, in either order."""

    items: int = 0
    """Response items that no event has repeated yet."""
    shown: list[ShownMessage] = msgspec.field(default_factory=list)


class OpenCall(msgspec.Struct):
    """A call without an output so far."""

    tool: str
    ending: RecordedResult | None = None


class CodexState(ParserState):
    lineage: Lineage = msgspec.field(default_factory=Lineage)
    tally: TokenTally = msgspec.field(default_factory=TokenTally)
    twins: dict[Speaker, MessagePairs] = msgspec.field(
        default_factory=lambda: {"user": MessagePairs(), "assistant": MessagePairs()}
    )
    calls: dict[str, OpenCall] = msgspec.field(default_factory=dict)
    ended: set[str] = msgspec.field(default_factory=set)
    """Calls that have their result."""
    running: set[str] = msgspec.field(default_factory=set)
    """Calls whose result says that they still run."""
    spawned: set[str] = msgspec.field(default_factory=set)
    responses: int = 0
    responding: bool = False
    turn_line: int | None = None
    """The line of the newest turn's start, until its prompt is read."""
    prompts: list[int] = msgspec.field(default_factory=list)
    """The line at which each prompt's turn began, to know what a roll-back removes."""
    model: str = ""
    window: int = 0
