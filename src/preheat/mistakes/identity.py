"""When two failures are the same mistake, and what it is called. Knows no call and no session, only messages.

Two failures are the same when they come from the same family of tools and their messages begin with the same eight words and
end with the same three (`calls.words`); masks, numbers and punctuation are no words. Messages that differ only in the middle
name different things, and are one mistake. A failure without a message of its own is no mistake that anybody could know again.
"""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeAlias

from preheat.calls.words import MASK, telling_words
from preheat.model.outcome import Cause
from preheat.model.session import ToolKind
from preheat.safe_text.letters import one_line
from preheat.safe_text.reasons import order_reason

MISTAKE_CAUSES: tuple[Cause, ...] = ("mistake", "environment")
"""Causes that count unless others are asked for: a failing test is work, not a mistake."""
LONGEST_TITLE = 120
_GAPS = re.compile(r"…(?:[\s:,/.]*…)+")
_PREFIX = re.compile(r"(?:(?:fatal )?error|exception)\s*[:\-]\s+", re.IGNORECASE)
_SILENT = re.compile(r"exit code N, no message$|^exit (?:code|status)\b.{0,20}$", re.IGNORECASE)
_HELP = re.compile(r"-\w,? --?\w[\w-]*\s|--[\w-]{2,}(?:[ =]\S+)?\s{1,}[A-Z]")

Key: TypeAlias = tuple[str, tuple[str, ...]]
"""The key of a mistake: the family of its tools, and the words of its message."""


def tool_family(tool: str, kind: ToolKind) -> str:
    """The kind of tool, whatever an agent calls it; a tool of no kind is its own family."""
    return tool if kind == "other" else kind


def mistake_key(family: str, signature: str) -> Key | None:
    """The key of a mistake; None where the message has no words to recognise it by."""
    words = () if is_silent(signature) or is_help(signature) else telling_words(signature)
    return (family, words) if words else None


def mistake_id(key: Key) -> str:
    """A short id, equal in every run and on every machine."""
    return "m" + blake2b("\0".join((key[0], *key[1])).encode("utf-8", "replace"), digest_size=3).hexdigest()


def is_silent(signature: str) -> bool:
    """Whether the tool gave no message, so that the failure cannot be recognised."""
    return bool(_SILENT.search(signature))


def is_help(signature: str) -> bool:
    """Whether it is a line of the help that a program prints after its message."""
    return bool(_HELP.match(signature))


def title(signature: str) -> str:
    """A signature as a message on one line: gaps for what is masked, without a word that only says that it is an error."""
    flat = " ".join(_GAPS.sub("…", MASK.sub("…", signature[: 4 * LONGEST_TITLE])).split())
    bare = _PREFIX.sub("", flat, count=1) if _PREFIX.match(flat) else flat
    return one_line((bare if bare.strip(" …") else flat).replace("`", "'"), LONGEST_TITLE)


def commonest(values: Iterable[str], most: int | None = None) -> tuple[str, ...]:
    """Each once, the commonest first, then in their own order."""
    counts = Counter(value for value in values if value)
    return tuple(sorted(counts, key=lambda value: (-counts[value], value))[:most])


def why_unfit(signatures: Iterable[str]) -> str:
    """Why what a tool printed must not be put before a model; empty if it may."""
    return next((why for signature in signatures if (why := order_reason(signature))), "")
