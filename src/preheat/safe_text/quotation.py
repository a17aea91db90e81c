"""A text put before a model or a person as data: a line, a command in backticks, a quotation. Knows no lesson and no tool.

Nothing in it may end the block it stands in, open another one, be invisible, or steer a terminal. Light: a session's start
is worded with it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from preheat.safe_text.letters import shortened, visible

_TAG = re.compile(
    r"(?i)<(?=\s*[/\\]?\s*(?:preheat|system|instruction|important|user|human|assistant|developer|admin|antml|function"
    r"|tool|invoke|parameter|untrusted|persisted|thinking|\|)|!--)"
)
_OPEN = "‹"
_FENCE = re.compile("`{2,}|~{3,}")


def harmless(text: str) -> str:
    """A text of several lines that neither ends nor opens a block."""
    return _TAG.sub(_OPEN, _FENCE.sub(lambda found: "'" * len(found[0]), visible(text)))


def harmless_line(text: str, most: int) -> str:
    """The same on one line, not longer than `most`."""
    return shortened(harmless(text[: 8 * most]), most)


def code(text: str, most: int) -> str:
    """A command or a path in backticks."""
    flat = harmless_line(text, most)
    return f"`` {flat} ``" if "`" in flat else f"`{flat}`"


def in_quotes(text: str, most: int) -> str:
    """What a tool printed, between quotation marks."""
    flat = harmless_line(text, most).replace('"', "'")
    return f'"{flat}"'


def in_value(change: Callable[[str], str], value: Any) -> Any:
    """A JSON value with every text in it changed, names included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(name)): in_value(change, each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [in_value(change, each) for each in value]
    return value


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a JSON value, however deep, with the names they go by."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)
