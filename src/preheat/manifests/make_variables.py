"""The variables of a Makefile: what they stand for, and which of them a target uses. Pure."""

import re
from collections.abc import Mapping
from functools import lru_cache

_SET = re.compile(
    r"^(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*(?::{1,3}|[?+])?=[ \t]*(?P<value>[^\n]*)$", re.MULTILINE
)
_USED = re.compile(r"(?<!\$)\$(?:\((?P<name>[A-Za-z_]\w*)\)|\{(?P<braced>[A-Za-z_]\w*)\})")
_DEEPEST = 4
_LONGEST = 500
"""Characters of a value that are kept."""


@lru_cache(maxsize=32)
def read_variables(text: str) -> Mapping[str, str]:
    """The variables that a Makefile sets, by their names, with what they stand for: of several values the first."""
    found: dict[str, str] = {}
    for each in _SET.finditer(text):
        found.setdefault(each["name"], each["value"][:_LONGEST].partition(" #")[0].strip())
    return found


def expand(body: str, variables: Mapping[str, str]) -> str:
    """A recipe with its variables put in; those that nothing sets stay."""
    for _ in range(_DEEPEST):
        plain = _USED.sub(lambda found: variables.get(found["name"] or found["braced"], found[0]), body)
        if plain == body:
            break
        body = plain[:8_000]
    return body


_FUNCTION = re.compile(r"(?<!\$)\$(?:\((?!shell\b)[a-z]+ [^()]*\)|[({][A-Za-z_]\w*[)}]|[@<^])")
_MAKE = re.compile(r"\$[({]MAKE[)}]")


def expand_all(body: str, variables: Mapping[str, str]) -> str:
    """A recipe with its variables put in, as one command that the shell runs: what is not known of it is the word `VALUE`."""
    return _FUNCTION.sub("VALUE", _MAKE.sub("make", expand(body, variables)))


def names_of(body: str, variables: Mapping[str, str]) -> frozenset[str]:
    """The variables that a recipe uses, also by others."""
    names: set[str] = set()
    texts = [body]
    while texts:
        used = {each["name"] or each["braced"] for each in _USED.finditer(texts.pop())} - names
        names |= used
        texts += (variables[name] for name in used if name in variables)
    return frozenset(names)
