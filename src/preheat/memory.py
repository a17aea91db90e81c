"""Remembers what a pure function said of a short text: the stages that look at a session ask the same of its commands again and
again. Knows no function.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

LONGEST = 8192
"""Characters of a text that is remembered; with few of them the memory stays small whatever it is given."""
MOST = 1024

Asking = TypeVar("Asking", bound=Callable[..., Any])


def remembered(function: Asking) -> Asking:
    """The same function with a memory. It takes a text and what is hashable; nobody changes what it gives."""
    known = lru_cache(maxsize=MOST)(function)

    @wraps(function)
    def ask(text: str, *rest: Any, **named: Any) -> Any:
        return (known if len(text) <= LONGEST else function)(text, *rest, **named)

    return cast(Asking, ask)
