"""Which calls are an agent's notes to itself: plans, memory, questions; also those to Preheat, which never learns from itself.

Knows no agent, only words in tools' names.
"""

import re
from functools import lru_cache

from preheat.model.session import ToolKind

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
