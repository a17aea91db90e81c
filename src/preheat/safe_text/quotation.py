"""Quotes a text as data for a model or a person: a line, a command in backticks, a quotation. Knows no lesson and no tool.

A quoted text cannot end the block it is in, open another one, be invisible, or steer a terminal. Light: a session's start loads
it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from preheat.safe_text.letters import shorten_line, strip_invisible

_TAG = re.compile(
    r"(?i)<(?=\s*[/\\]?\s*(?:preheat|system|instruction|important|user|human|assistant|developer|admin|antml|function"
    r"|tool|invoke|parameter|untrusted|persisted|thinking|\|)|!--)"
)
_OPEN = "‹"
_FENCE = re.compile("`{2,}|~{3,}")


def make_harmless(text: str) -> str:
    """A text of several lines that can neither end nor open a block."""
    return _TAG.sub(_OPEN, _FENCE.sub(lambda found: "'" * len(found[0]), strip_invisible(text)))


def make_harmless_line(text: str, most: int) -> str:
    """A harmless text on one line, cut to `most` characters."""
    return shorten_line(make_harmless(text[: 8 * most]), most)


def in_backticks(text: str, most: int) -> str:
    """A command or a path in backticks."""
    flat = make_harmless_line(text, most)
    return f"`` {flat} ``" if "`" in flat else f"`{flat}`"


def in_quotes(text: str, most: int) -> str:
    """The output of a tool in quotation marks."""
    flat = make_harmless_line(text, most).replace('"', "'")
    return f'"{flat}"'


def map_texts(change: Callable[[str], str], value: Any) -> Any:
    """A JSON value with every text in it changed, names included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(name)): map_texts(change, each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(change, each) for each in value]
    return value


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a JSON value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)
