"""Regular expressions work on every Python 3.11: up to 3.11.4 a group inside a possessive repetition (`(…)?+`) or an atomic group
gets a wrong span or raises `SystemError` (https://github.com/python/cpython/issues/101955)."""

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


def patterns(value: object) -> Iterator[re.Pattern[Any]]:
    """Compiled ones, those that are compiled when they are first used, and both in containers."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(wrapped := getattr(value, "__wrapped__", None), functools.partial) and wrapped.func is re.compile:
        yield wrapped()
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from patterns(inner)


def groups_that_fail(tree: Any, inside: bool = False) -> Iterator[int]:
    """The numbers of the groups inside something that gives nothing back."""
    if isinstance(tree, parser.SubPattern):
        for operation, argument in tree:
            if operation is constants.SUBPATTERN and inside and argument[0] is not None:
                yield argument[0]
            yield from groups_that_fail(argument, inside or operation in CLOSED)
    elif isinstance(tree, tuple | list):
        for part in tree:
            yield from groups_that_fail(part, inside)


def test_a_group_that_fails_is_found() -> None:
    assert list(groups_that_fail(parser.parse(r"a(b)?+(?>(c))"))) == [1, 2]
    assert list(groups_that_fail(parser.parse(r"((?:b)?+)(?:x|(c))*"))) == []


def test_no_pattern_has_a_group_that_fails() -> None:
    found, looked_at = set(), 0
    for module in pkgutil.walk_packages(preheat.__path__, "preheat."):
        if any(word in module.name for word in STARTED_ELSEWHERE):
            continue
        for name, value in list(vars(importlib.import_module(module.name)).items()):
            for pattern in patterns(value):
                looked_at += 1
                if list(groups_that_fail(parser.parse(pattern.pattern, pattern.flags))):
                    found.add(f"{module.name}.{name}")
    assert found == set()
    assert looked_at > 100
