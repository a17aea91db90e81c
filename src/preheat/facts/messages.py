"""The form that the first lines of commits have, where the newest of them agree on one. Pure; knows no tree.

Of a message no more is kept than how it begins: its type, and a scope, an area or a ticket's project that many of them have.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from preheat.commands.commit_message import COMMIT_TYPES, PICTURE
from preheat.statistics.shares import wilson

_CONVENTIONAL = re.compile(
    rf"^(?:(?P<sign>{PICTURE})\ufe0f? )?"
    r"(?P<type>[a-z]{2,10})(?:\((?P<scope>[\w@/., -]{1,40})\))?!?: \S"
)
"""A picture may stand before the type."""
_TICKET = re.compile(r"^(?P<open>\[?)(?P<name>[A-Z][A-Z0-9]{1,9}-\d+)(?P<close>\]?:?) \S")
_TAG = re.compile(r"^(?P<open>\[)(?P<name>[\w./-]{2,20})(?P<close>\]:?) \S")
_AREA = re.compile(r"^(?P<open>)(?P<name>[a-z][\w./-]{1,19})(?P<close>:) \S")
_HEADS = (("TICKET …", _TICKET), ("[AREA] …", _TAG), ("AREA: …", _AREA))
"""Forms of messages that begin with something else than a type."""
_NUMBERED = re.compile(r"(?P<key>[A-Z][A-Z0-9]{1,9})-\d+")
_NAME = re.compile(r"[a-z](?:[a-z0-9]*[a-z])?(?:[-_./][a-z](?:[a-z0-9]*[a-z])?)?")
"""A scope or an area that is a name of one or two words; what ends with a number is the number of a task."""
_LONGEST_NAME = 20
_BY_PROGRAM = re.compile(
    r"(?i)^(?:[a-z]+(?:\([\w-]+\))?: )?(?:bump (?:the )?\S+ (?:from|group|in|and)|update dependency \S+|lock file maintenance)\b"
    r"|^[a-z]+\(deps(?:-\w+)?\)!?: (?:bump|update|pin|lock)\b|^chore(?:\(main\): release|: version packages)\b"
    r"|\[skip ci\]|\b\d+ files? changed\b"
)
"""Subjects that programs write which update dependencies, release, or commit by themselves: nobody types them."""
_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ")
_FEW = 8
_SURE = 0.6
_NEWEST = 20
"""The newest messages, which say what the custom is now."""
_STILL = 1 / 3
"""Of the newest messages those that must have the form that all of them together have."""
_KNOWN = 0.5
"""Of the words before a colon those that are types, for the others to be types too, of the project's own."""
_MOSTLY, _SOMETIMES = 0.8, 0.25
_MOST_TYPES, _MOST_HEADS = 5, 4
_FEW_OF_A_NAME, _USUAL = 3, 0.5


class MessageForm(NamedTuple):
    """How messages begin."""

    form: str
    """`TYPE(SCOPE): …`, `AREA: …` and the like."""
    beginnings: tuple[str, ...]
    """How most of them begin, the commonest first: `feat(…): …`."""
    good: int
    """How many of those that were looked at have the form."""
    all: int
    types: tuple[str, ...] = ()
    scope: str = ""
    """Of messages with a type whether they have a scope: `yes`, `some` of them, or empty."""


def describe_messages(subjects: Sequence[str]) -> MessageForm | None:
    """The form of messages, newest first; None where they agree on none. What all of them agree on is no custom any more if the
    newest do otherwise, and what the newest agree on is one whatever the older are like."""
    typed = [each for each in subjects if not each.startswith(_BY_GIT) and not _BY_PROGRAM.search(each)]
    if form := _find_agreed(typed, _describe_types):
        return form
    described = (_find_agreed(typed, partial(_describe_heads, head, pattern)) for head, pattern in _HEADS)
    return next(filter(None, described), None)


def _find_agreed(
    subjects: Sequence[str], describe: Callable[[Sequence[str]], MessageForm | None]
) -> MessageForm | None:
    newest = describe(subjects[:_NEWEST])
    if newest is None or newest.good < _STILL * newest.all:
        return None
    if (every := describe(subjects)) is not None and _is_sure(every):
        return every
    return newest if _is_sure(newest) and len(newest.beginnings) > 1 else None  # one kind alone is that of one task


def _is_sure(form: MessageForm) -> bool:
    return form.all >= _FEW and wilson(form.good, form.all)[0] >= _SURE


# Types
def _describe_types(subjects: Sequence[str]) -> MessageForm | None:
    """Messages like `feat(cart): …`."""
    begun = [match for each in subjects if (match := _CONVENTIONAL.match(each))]
    found = [match for match in begun if match["type"] in COMMIT_TYPES]
    if not found or len(found) < _KNOWN * len(begun):
        return None
    types = _rank(match["type"] for match in found)[:_MOST_TYPES]
    newest = found[:_NEWEST]  # customs change
    scoped = sum(match["scope"] is not None for match in newest)
    scope = "yes" if scoped >= _MOSTLY * len(newest) else "some" if scoped >= _SOMETIMES * len(newest) else ""
    form = {"yes": "TYPE(SCOPE): …", "some": "TYPE: …` or `TYPE(SCOPE): …"}.get(scope, "TYPE: …")
    scopes = {name: [match["scope"] for match in found if match["type"] == name] for name in types}
    signs = {name: _usual_sign([match["sign"] for match in found if match["type"] == name]) for name in types}
    beginnings = tuple(f"{signs[name]}{name}{_describe_scope(scopes[name], scope)}: …" for name in types)
    return MessageForm(form, beginnings, len(begun), len(subjects), tuple(types), scope)


def _usual_sign(signs: Sequence[str | None]) -> str:
    """The picture, with a space, that most messages of a type begin with; empty where they mostly have none."""
    sign, count = Counter(signs).most_common(1)[0]
    return f"{sign} " if sign and count > _USUAL * len(signs) else ""


def _describe_scope(scopes: Sequence[str | None], usual: str) -> str:
    """The scope, in brackets, that most messages of a type have, `(…)` where it varies; empty where they mostly have none."""
    names = [_general_name(each or "") for each in scopes]
    name, count = Counter(names).most_common(1)[0]
    if usual and name and count >= _USUAL * len(scopes) and _has_lasted(names, name):
        return f"({name})"
    is_scoped = sum(each is not None for each in scopes) > _USUAL * len(scopes)
    return "(…)" if usual == "yes" or (usual and is_scoped) else ""


# Heads
def _describe_heads(form: str, pattern: "re.Pattern[str]", subjects: Sequence[str]) -> MessageForm | None:
    """Messages like `SHOP-12: …`, `[cart] …`, `net/http: …`: with the ticket, or the part of the project that they change."""
    found = [match for each in subjects if (match := pattern.match(each)) and match["name"] not in COMMIT_TYPES]
    begun = [f"{match['open']}{name}{match['close']} …" for match in found if (name := _general_name(match["name"]))]
    usual = [each for each in _rank(begun) if _has_lasted(begun, each)][:_MOST_HEADS]
    return MessageForm(form, tuple(usual), len(found), len(subjects)) if usual else None


# Names
def _general_name(name: str) -> str:
    """A scope or an area that may come again: a name, or the project of a ticket; empty for any other."""
    if numbered := _NUMBERED.fullmatch(name):
        return f"{numbered['key']}-…"
    return name if _NAME.fullmatch(name) and len(name) <= _LONGEST_NAME else ""


def _has_lasted(names: Sequence[str], name: str) -> bool:
    """Whether several messages have a name, the newer half of all and the oldest third too: what only the newest have is that of
    one task."""
    newer, oldest = names[: (len(names) + 1) // 2], names[-(len(names) // 3) :]
    return names.count(name) >= _FEW_OF_A_NAME and name in newer and name in oldest


def _rank(names: Iterable[str]) -> list[str]:
    """Names, the commonest first."""
    return [name for name, _ in sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))]
