"""Sentences for a model: our words with typed slots. Every line that is handed out is written by one of them.

A template is our text with slots `{use:command}` and parts in brackets that stand only if all their slots hold something:
``"`{use:command}` works[ ({good:number} of {all:number})]"``. `Sentence.write` fills it; `Sentence.rewrite` reads a text that was
written by the same template before (a stored lesson) and writes it anew, each slot fitted; `Sentence.matches` says whether a line
could have been written by it. All sentences are in `REGISTERED`, so a test can check any line that is handed out.
"""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

from preheat.safe_text import command_slot, error_slot
from preheat.safe_text.slots import SLOTS

__all__ = ["REGISTERED", "Sentence", "fit_slot", "is_handed_out", "rewrite_any"]

_TOKEN = re.compile(r"(?P<open>\[)|(?P<close>\])|\{(?P<slot>\w+):(?P<type>\w+)(?P<many>[*→]?)\}|(?P<text>[^\[\]{}]+)")
_MOST_IN_LIST = 12
_LONGEST = 1500
_ANYTHING, _WORD, _CODE = ".*?", r"[^\s`]*?", "[^`]*?"
_LISTED = "`[^`]*`(?:, `[^`]*`)*?"
_WRITTEN = {
    **dict.fromkeys(
        ("number", "path", "file", "name", "tool", "branch", "program", "flag", "commit", "lesson", "project"), _WORD
    ),
    **dict.fromkeys(("command", "error", "whole", "token"), _CODE),
    "times": "once|twice|[0-9]+ times",
}
"""How texts of a type look where they are read: only so that a sentence is read in one way, the slot itself decides."""
_LOADED = (command_slot, error_slot)
"""Modules that add their slots when they are imported."""


def fit_slot(kind: str, value: Any) -> str:
    """What a slot of this type may hold of a value; empty if nothing."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        value = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    fit = SLOTS[kind]
    fitted = fit(value)
    for _ in range(_ROUNDS):
        if not fitted or (again := fit(fitted)) == fitted:
            return fitted
        fitted = again  # what is cut out of a text may give the rest another reading
    return ""


_ROUNDS = 4
"""How often a text is fitted before it is given up: what a slot holds must be accepted by it unchanged."""


class _Slot(NamedTuple):
    name: str
    kind: str
    many: str
    """`*` for a list with commas, each in backticks; `→` for steps in an order."""

    def fit(self, value: Any) -> str:
        if not self.many:
            return fit_slot(self.kind, value)
        values = _split_list(value, self.many) if isinstance(value, str) else value
        fitted = [fitted for each in list(values)[:_MOST_IN_LIST] if (fitted := fit_slot(self.kind, each))]
        return ", ".join(f"`{each}`" for each in fitted) if self.many == "*" else " → ".join(fitted)


def _split_list(text: str, many: str) -> list[str]:
    return re.findall(r"`([^`]*)`", text) if many == "*" else [each.strip(" `") for each in text.split("→")]


class Sentence:
    """One sentence with slots."""

    def __init__(self, template: str) -> None:
        self.template = template
        self._parts = _parse(template)
        REGISTERED.append(self)

    def write(self, **values: Any) -> str:
        """The sentence with these values; empty if a slot that it cannot do without holds nothing."""
        return _write(self._parts, values) or ""

    def rewrite(self, text: str) -> str:
        """The sentence that a text is, its slots fitted again; empty if it is another one."""
        found = self._pattern.fullmatch(text) if len(text) <= _LONGEST else None
        return self.write(**{name: value for name, value in found.groupdict().items() if value}) if found else ""

    def matches(self, line: str) -> bool:
        """Whether a line is this sentence with slots that hold only what they may."""
        return self.rewrite(line) == line

    @cached_property
    def _pattern(self) -> "re.Pattern[str]":
        return re.compile(_make_pattern(self._parts), re.DOTALL)


REGISTERED: list[Sentence] = []
"""Every sentence there is, as modules are imported."""


def rewrite_any(sentences: Iterable[Sentence], text: str) -> str:
    """A text as the first of these sentences that it is; empty if it is none of them."""
    return next(filter(None, (each.rewrite(text) for each in sentences)), "")


def is_handed_out(line: str) -> bool:
    """Whether a registered sentence could have written a line."""
    return any(each.matches(line) for each in REGISTERED)


def _parse(template: str) -> list[Any]:
    stack: list[list[Any]] = [[]]
    position = 0
    for found in _TOKEN.finditer(template):
        if found.start() != position:
            raise ValueError(f"`{template}` is no template: at {position}")
        position = found.end()
        if found["open"]:
            stack.append([])
        elif found["close"]:
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(_Slot(found["slot"], found["type"], found["many"]) if found["slot"] else found["text"])
    if position != len(template) or len(stack) != 1:
        raise ValueError(f"`{template}` is no template")
    return stack[0]


def _write(parts: list[Any], values: dict[str, Any]) -> str | None:
    """None where a slot of these parts holds nothing."""
    written: list[str] = []
    for part in parts:
        if isinstance(part, str):
            written.append(part)
        elif isinstance(part, list):
            written.append(_write(part, values) or "")
        else:
            fitted = part.fit(values.get(part.name, ""))
            if not fitted:
                return None
            written.append(fitted)
    return "".join(written)


def _pattern_of(slot: _Slot) -> str:
    if slot.many:
        return _LISTED if slot.many == "*" else _ANYTHING
    return _WRITTEN.get(slot.kind, _ANYTHING)


def _make_pattern(parts: list[Any]) -> str:
    made: list[str] = []
    for part in parts:
        if isinstance(part, str):
            made.append(re.escape(part))
        elif isinstance(part, list):
            made.append(f"(?:{_make_pattern(part)})?")
        else:
            made.append(f"(?P<{part.name}>{_pattern_of(part)})")
    return "".join(made)
