"""What a scripted model says: replies with text, reasoning and tool calls.

Knows nothing of HTTP nor of any provider's wire format.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from preheat.model.session import Usage

DEFAULT_USAGE = Usage(input=100, output=10)
CREATED = 1_700_000_000
"""The time at which every reply was made, in the formats that say so."""


class Call(msgspec.Struct, frozen=True):
    """One tool call the model makes."""

    name: str
    arguments: dict[str, Any] | str = {}
    """An object, or text that is sent unchanged (a patch, or arguments that are no JSON)."""
    id: str = ""
    """Left empty, the server numbers it: `call_1`, `call_2`, …"""


class Reply(msgspec.Struct, frozen=True):
    """One response of the model."""

    text: str = ""
    calls: Sequence[Call] = ()
    reasoning: str = ""
    usage: Usage = DEFAULT_USAGE
    status: int = 200
    """An HTTP status other than 200 makes this an error with `text` as its message."""
    delay: float = 0.0
    """Seconds to wait before answering."""


class NumberedReply(msgspec.Struct, frozen=True):
    """A reply with an identifier, and calls that each have one."""

    id: str
    model: str
    reply: Reply
    calls: tuple[Call, ...]
    custom: frozenset[str] = frozenset()
    """Names of the tools that the request declared as taking plain text."""
    namespaces: dict[str, str] = {}
    """The group that the request declared a tool in, by the tool's name."""


def argument_text(call: Call) -> str:
    """The arguments as text."""
    if isinstance(call.arguments, str):
        return call.arguments
    return msgspec.json.encode(call.arguments).decode()


def halve(text: str) -> list[str]:
    """A text in two pieces for a stream, so that a client that does not join them fails; an empty one in none."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
