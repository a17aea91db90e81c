"""The state of the parser of OpenCode's rows, kept between two rows."""

from typing import Any

import msgspec

from preheat.agents.parsing import ParserState


class Record(msgspec.Struct):
    """One line."""

    table: str = ""
    row: dict[str, Any] = {}


class OpenMessage(msgspec.Struct):
    """The message whose parts are being read."""

    line: int
    role: str = ""
    response: str = ""
    model: str = ""
    at: float | None = None
    last: int = 0
    """The line of its newest part so far."""
    steps: int = 0
    """The number of the model's responses in it so far: one in current versions, several in older ones."""
    is_summary: bool = False
    """It is a compaction's summary."""
    error: Any = None
    said: list[str] = msgspec.field(default_factory=list)
    """The texts that the person wrote, or of the summary."""
    added: list[str] = msgspec.field(default_factory=list)
    """The texts that the program added."""
    images: int = 0


class OpenCodeState(ParserState):
    message: OpenMessage | None = None
    created: float | None = None
    """When the session was created."""
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    """How many calls had each id: some models start counting again in each response."""
    responses: dict[str, int] = msgspec.field(default_factory=dict)
    trigger: str = ""
    """What started a compaction, until its summary is read."""
    context: int = 0
    """Tokens of the newest response, as the size of the context."""
    by_person: bool = False
    """The next call is a command that the person ran."""
    reverted: tuple[str, str] = ("", "")
    """The message and part from which on everything was reverted."""
    rewind: int | None = None
