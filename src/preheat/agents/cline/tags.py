"""Calls that older versions had the model write into its text, as tags: `<read_file><path>a</path></read_file>`.

Knows nothing of messages. Only tools that are known count, and only when the tag is closed: everything else is text.
"""

import re
from typing import NamedTuple

from preheat.agents.cline.tools import NAMES

_OPENING = re.compile(r"<([a-z][a-z_]{2,40})>(?=\s*<)")
_PARAMETER = re.compile(r"<([A-Za-z][A-Za-z_0-9]{0,60})>")
_LONG = ("content", "diff")
"""Parameters whose text may contain tags: they end at their last closing tag."""


class TaggedCall(NamedTuple):
    """A call in a text."""

    tool: str
    input: dict[str, str]


def calls_in(text: str) -> tuple[list[TaggedCall], str]:
    """The calls in a text, in order, and the text without them."""
    found: list[TaggedCall] = []
    rest: list[str] = []
    at = 0
    unclosed: set[str] = (
        set()
    )  # each closing tag is searched for once, else many opening tags would take quadratic time
    for opening in _OPENING.finditer(text):
        if opening.start() < at or opening[1] not in NAMES or opening[1] in unclosed:
            continue
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            unclosed.add(opening[1])
            continue
        if any(f"<{name}>" in text[opening.end() : end] for name in _LONG):
            end = _last_closing(text, closing, end)
        rest.append(text[at : opening.start()])
        found.append(TaggedCall(opening[1], _parameters(text[opening.end() : end])))
        at = end + len(closing)
    rest.append(text[at:])
    return found, "".join(rest).strip() if found else text


def _last_closing(text: str, closing: str, first: int) -> int:
    """The end of a call whose content may contain its closing tag: the last one before another call begins."""
    end, after = first, first + len(closing)
    while (further := text.find(closing, after)) >= 0:
        if any(opening[1] in NAMES for opening in _OPENING.finditer(text, after, further)):
            break
        end, after = further, further + len(closing)
    return end


def _parameters(body: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    unclosed: set[str] = set()
    at = 0
    while (opening := _PARAMETER.search(body, at)) is not None:
        closing = f"</{opening[1]}>"
        if opening[1] in unclosed:
            at = opening.end()
            continue
        end = body.rfind(closing) if opening[1] in _LONG else body.find(closing, opening.end())
        if end < opening.end():
            unclosed.add(opening[1])
            at = opening.end()
            continue
        value = body[opening.end() : end]
        parameters[opening[1]] = value.removeprefix("\n").removesuffix("\n") if opening[1] in _LONG else value.strip()
        at = end + len(closing)
    return parameters
