"""What the parser of OpenCode's rows must remember between two of them."""

from typing import Any

import msgspec

from preheat.agents.parsing import State


class Record(msgspec.Struct):
    """One line."""

    table: str = ""
    row: dict[str, Any] = {}


class Message(msgspec.Struct):
    """The message whose parts are being read."""

    line: int
    role: str = ""
    response: str = ""
    model: str = ""
    at: float | None = None
    last: int = 0
    """The line of its newest part."""
    steps: int = 0
    """How many responses of the model it holds so far: one today, several in older versions."""
    is_summary: bool = False
    """Whether it is what a compaction made of the messages before."""
    error: Any = None
    said: list[str] = msgspec.field(default_factory=list)
    """What the person wrote; or the summary."""
    added: list[str] = msgspec.field(default_factory=list)
    """What the program put beside it."""
    images: int = 0


class OpenCodeState(State):
    message: Message | None = None
    created: float | None = None
    """When the session was."""
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    """How often each id was given to a call: some models number anew in each response."""
    responses: dict[str, int] = msgspec.field(default_factory=dict)
    trigger: str = ""
    """What started the compaction that has no summary yet."""
    context: int = 0
    """Tokens of the newest response."""
    by_person: bool = False
    """Whether the next call is a command that the person ran."""
    reverted: tuple[str, str] = ("", "")
    """The message, and the part of it, from which on everything was taken back."""
    rewind: int | None = None
