"""Regular expressions work on every Python 3.11.

Up to 3.11.4, inside a possessive repetition (`(…)?+`) or an atomic group, a group gets a wrong span or raises `SystemError`
(https://github.com/python/cpython/issues/101955), and alternatives and repetitions are matched wrongly
(https://github.com/python/cpython/issues/106052).
"""

import functools
import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import preheat

CLOSED = (constants.POSSESSIVE_REPEAT, constants.ATOMIC_GROUP)
STARTED_ELSEWHERE = ("plugin", "inside", "import_script", "__main__", "migrations.env")
"""Modules that only run inside another program."""


GO_BACK = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.BRANCH)
WITHOUT_ON_OLD_PYTHONS = {"_COMMAND", "_WORDS", "_REDIRECTS", "_QUOTED", "_KEY_BODY", "_KEY_LINES"}
"""Patterns that differ on Pythons before 3.11.5, or are not used there."""


def find_patterns(value: object) -> Iterator[re.Pattern[Any]]:
    """Patterns that are compiled, or will be when they are first used; also inside containers."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(wrapped := getattr(value, "__wrapped__", None), functools.partial) and wrapped.func is re.compile:
        yield wrapped()
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from find_patterns(inner)


def find_faults(tree: Any, inside: bool = False) -> Iterator[str]:
    """What an old Python matches wrongly in a pattern: groups and repetitions inside a possessive or atomic part."""
    if isinstance(tree, parser.SubPattern):
        for operation, argument in tree:
            if inside and operation is constants.SUBPATTERN and argument[0] is not None:
                yield "group"
            if inside and operation in GO_BACK:
                yield "going back"
            yield from find_faults(argument, inside or operation in CLOSED)
    elif isinstance(tree, tuple | list):
        for part in tree:
            yield from find_faults(part, inside)


def test_groups_and_repetitions_in_possessive_parts_are_found() -> None:
    assert list(find_faults(parser.parse(r"a(b)?+(?>(c))"))) == ["group", "group"]
    assert list(find_faults(parser.parse(r"(?:ab?c)*+"))) == ["going back"]
    assert list(find_faults(parser.parse(r"((?:b)?+)(?:x|(c))*[a-z]++"))) == []


def test_no_pattern_is_matched_wrongly_by_an_old_python() -> None:
    groups, going_back, looked_at = set(), set(), 0
    for module in pkgutil.walk_packages(preheat.__path__, "preheat."):
        if any(word in module.name for word in STARTED_ELSEWHERE):
            continue
        for name, value in list(vars(importlib.import_module(module.name)).items()):
            for pattern in find_patterns(value):
                looked_at += 1
                found = set(find_faults(parser.parse(pattern.pattern, pattern.flags)))
                groups |= {f"{module.name}.{name}"} if "group" in found else set()
                going_back |= {name} if "going back" in found else set()
    assert groups == set()
    assert going_back <= WITHOUT_ON_OLD_PYTHONS
    assert looked_at > 100
