"""What the parser of rollouts remembers between two feeds."""

from typing import Literal, TypeAlias

import msgspec

from preheat.agents.codex.lineage import Lineage
from preheat.agents.codex.results import Ending
from preheat.agents.codex.tokens import Tally
from preheat.agents.parsing import State

Speaker: TypeAlias = Literal["user", "assistant"]


class Shown(msgspec.Struct):
    """A message the program showed whose twin among the response items has not come yet."""

    text: str
    line: int
    at: float | None


class Twins(msgspec.Struct):
    """Pairs of one speaker's messages: each is stored as a response item and as an event, in either order."""

    items: int = 0
    """Response items whose event has not come yet."""
    shown: list[Shown] = msgspec.field(default_factory=list)


class Open(msgspec.Struct):
    """A call whose output has not come yet."""

    tool: str
    ending: Ending | None = None


class CodexState(State):
    lineage: Lineage = msgspec.field(default_factory=Lineage)
    tally: Tally = msgspec.field(default_factory=Tally)
    twins: dict[Speaker, Twins] = msgspec.field(default_factory=lambda: {"user": Twins(), "assistant": Twins()})
    calls: dict[str, Open] = msgspec.field(default_factory=dict)
    ended: set[str] = msgspec.field(default_factory=set)
    """Calls that have their result."""
    running: set[str] = msgspec.field(default_factory=set)
    """Calls whose result was that they still run."""
    spawned: set[str] = msgspec.field(default_factory=set)
    responses: int = 0
    responding: bool = False
    turn_line: int | None = None
    """Where the turn began to which no prompt has come yet."""
    prompts: list[int] = msgspec.field(default_factory=list)
    """Where each prompt's turn began, for what is rolled back."""
    model: str = ""
    window: int = 0
