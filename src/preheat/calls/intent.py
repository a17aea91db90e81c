"""What a call was meant to do, so that a later success is known to be the same thing done right; and which calls are only an
agent's bookkeeping (plans, memory, questions, calls to Preheat).

Knows no session and no agent: calls and outcomes come in their order, tools go by the words in their names.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from preheat.calls.files import base_name, file_of
from preheat.calls.shell import command_aim
from preheat.commands import command_text
from preheat.model.outcome import FAILURES, Outcome
from preheat.model.session import ToolCall, ToolKind

# Which calls are an agent's notes to itself
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TELLING: tuple[frozenset[str], ...] = (
    frozenset(["memory"]),
    frozenset(["memories"]),
    frozenset(["clarify"]),
    frozenset(["ask"]),
    frozenset(["question"]),
    frozenset(["todo"]),
    frozenset(["todos"]),
    frozenset(["fact"]),
    frozenset(["session", "search"]),
    frozenset(["skill", "view"]),
    frozenset(["skills", "list"]),
    frozenset(["preheat"]),
    frozenset(["warm", "session"]),
)
"""A tool whose name has all the words of one of these does not work on the task."""


@lru_cache(4096)
def is_bookkeeping(tool: str, kind: ToolKind) -> bool:
    """Whether calls of a tool stay out of every rate: they cannot fail in a way that says anything about the work."""
    if kind == "plan":
        return True
    words = {word.lower() for word in _WORDS.findall(tool[:200])}
    return any(telling <= words for telling in _TELLING)


# What a call was meant to do
RECOVERY_CALLS = 5
"""A success so many calls later at most is a recovery; later ones may have other reasons."""
_SUCCESSES = frozenset(["ok", "empty"])
_SIMILAR = 0.75
_NOT_FOUND = 127
"""The exit code of a shell that does not know a program."""
_TWO_WAYS = ({"edit", "write"}, {"search", "shell"})
"""Different kinds of tools that may do the same thing."""
_VAGUE = frozenset(["run", "other"])

Intent = tuple[str, ...]
_SEARCH: Intent = ("search",)


def intent_of(call: ToolCall) -> Intent:
    """Reads, and edits and writes together, go by file; searches by their kind; shell commands by purpose, program and what
    the program was told to do; anything else by its tool."""
    kind = call.kind
    if kind == "shell":
        text = command_text(call.input)
        return ("shell", *command_aim(text)) if text else ("tool", call.tool)
    if kind in ("read", "edit", "write"):
        path = file_of(call)
        return ("read" if kind == "read" else "change", path) if path else ("tool", call.tool)
    return _SEARCH if kind == "search" else ("tool", call.tool)


def find_recoveries(calls: Sequence[ToolCall], outcomes: Sequence[Outcome]) -> dict[int, int]:
    """By the place of a failed call, how many calls later the same intent succeeded.

    The calls of one response were all decided before any of them came back, so one cannot mend another.
    """
    found: dict[int, int] = {}
    intents: dict[int, Intent] = {}
    last = len(calls)
    for place, outcome in enumerate(outcomes):
        if outcome.status not in FAILURES:
            continue
        response = calls[place].response
        for later in range(place + 1, min(place + RECOVERY_CALLS + 1, last)):
            if outcomes[later].status not in _SUCCESSES or (response and calls[later].response == response):
                continue
            if not _comparable(calls[place], calls[later]):
                continue
            for each in (place, later):
                if each not in intents:
                    intents[each] = intent_of(calls[each])
            if _is_same(intents[place], intents[later], outcome):
                found[place] = later - place
                break
    return found


def _comparable(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls may have the same intent: compares their kinds, before their arguments are compared."""
    return one.kind == other.kind or one.tool == other.tool or {one.kind, other.kind} in _TWO_WAYS


def _is_same(wanted: Intent, done: Intent, failure: Outcome) -> bool:
    if wanted == done:
        return True
    if wanted[0] != done[0]:  # a search is a search, whether a tool or a shell command does it
        return {wanted[:2], done[:2]} == {_SEARCH, ("shell", "search")}
    if wanted[0] == "read":  # the path was wrong: the right one has the same name in another folder, or a similar name
        return _are_alike(base_name(wanted[1]), base_name(done[1]))
    if wanted[0] == "change":
        return base_name(wanted[1]) == base_name(done[1])
    if wanted[0] == "shell":  # the program was missing: another one with the same purpose counts
        return failure.exit_code == _NOT_FOUND and wanted[1] == done[1] and wanted[1] not in _VAGUE
    return False


def _are_alike(one: str, other: str) -> bool:
    if one == other:
        return True
    one, other = one[:200], other[:200]
    if 2 * min(len(one), len(other)) < _SIMILAR * (len(one) + len(other)):  # too different in length for any ratio
        return False
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.quick_ratio() >= _SIMILAR and matcher.ratio() >= _SIMILAR
