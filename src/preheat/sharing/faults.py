"""Why a shared lesson may not be used, whoever wrote it. A file in a repository may be written by anybody.

Every text must already be exactly what its slot would let through, so nothing in it can be a sentence to a model; and no command
in it may do harm, name another machine or hold a secret. Knows no file.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from preheat.safe_text.reasons import (
    address_reason,
    danger_reason,
    destruction_reason,
    foreign_reason,
    hidden_reason,
    lookalike_reason,
)
from preheat.safe_text.sentences import fit_slot
from preheat.sharing.entry import (
    MOST_LISTED,
    SHARED_KINDS,
    SLOTS,
    Describe,
    SharedLesson,
    fit_detail,
    fit_says,
    restore_lesson,
    shared_id,
)
from preheat.sharing.evidence import read_evidence

Reason = Callable[[str], str]
"""Gives the reason why a text is unfit; empty if it is fit."""

_MATCH = re.compile(r"#[0-9a-f]{12}")
_ABSOLUTE = re.compile(r"(?:^|[\s\"'=(:,<>])(?:/(?!dev/null\b)[\w.@~-]|[A-Za-z]:[\\/])")
_DAY = 86400.0
_ADVISED = frozenset(["use", "recheck", "body", "by", "commands"])
"""Fields with commands that a model may run."""
_REASONS: tuple[Reason, ...] = (
    hidden_reason,
    lookalike_reason,
    destruction_reason,
    address_reason,
    foreign_reason,
    lambda text: "a path of one machine" if _ABSOLUTE.search(text) else "",
)


def find_faults(entry: SharedLesson, describe: Describe, now: float, secret_reason: Reason) -> list[str]:
    """Everything that is wrong with an entry, a sentence each; nothing if it may be used."""
    found = [f"`{name}` {why}" for name, text in _texts(entry) if (why := _text_fault(name, text, secret_reason))]
    found = found or _form_faults(entry, now)
    if found:
        return list(dict.fromkeys(found))
    restored = restore_lesson(entry, describe)
    if restored is None:
        return ["no sentence of ours says it"]
    if shared_id(restored) != entry.id:
        return [f"its id is not that of what it says, which is `{shared_id(restored)}`"]
    return []


def _texts(entry: SharedLesson) -> Iterator[tuple[str, str]]:
    for name in (*SLOTS, "says"):
        value: Any = getattr(entry, name)
        for text in (value,) if isinstance(value, str) else value:
            yield name, text
    yield from entry.details.items()


def _text_fault(name: str, text: str, secret_reason: Reason) -> str:
    for reason in (*_REASONS, *((danger_reason,) if name in _ADVISED else ()), secret_reason):
        if text and (why := reason(text)):
            return f"has {why}" if not why.startswith("it ") else f"is unsafe: {why}"
    return ""


def _form_faults(entry: SharedLesson, now: float) -> list[str]:
    """What does not stand in our grammar."""
    found = []
    if entry.kind not in SHARED_KINDS:
        found.append(f"lessons of the kind `{entry.kind}` are not shared")
    for name, kind in SLOTS.items():
        value: Any = getattr(entry, name)
        listed = (value,) if isinstance(value, str) else value
        if len(listed) > MOST_LISTED or any(text and fit_slot(kind, text) != text for text in listed):
            found.append(f"`{name}` is no {kind} that may be handed on")
    if entry.says and fit_says(entry.says) != entry.says:
        found.append("`says` is no sentence of ours")
    found += (
        f"`{name}` is no detail of ours" for name, text in entry.details.items() if fit_detail(name, text) != text
    )
    if len(entry.matches) > MOST_LISTED or not all(map(_MATCH.fullmatch, entry.matches)):
        found.append("`matches` are digests of words, and these are none")
    counts = read_evidence(entry.evidence)
    if counts is None:
        found.append("`evidence` is no line of counts and days")
    elif counts.last_seen > now + 2 * _DAY:  # clocks differ, and days begin elsewhere
        found.append("`evidence` is of a day to come")
    return found
