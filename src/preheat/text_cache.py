"""A cache for pure functions of a short text: the stages ask the same of a session's commands again and again.

Knows no function.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

LONGEST_TEXT = 8192
"""Characters of a text that is cached: bounds the memory."""
MOST_TEXTS = 1024

Function = TypeVar("Function", bound=Callable[..., Any])


def cache_short_texts(function: Function) -> Function:
    """Cache the results of a function of a text and hashable arguments; nobody may change a result."""
    cached = lru_cache(maxsize=MOST_TEXTS)(function)

    @wraps(function)
    def call(text: str, *rest: Any, **named: Any) -> Any:
        return (cached if len(text) <= LONGEST_TEXT else function)(text, *rest, **named)

    return cast(Function, call)
