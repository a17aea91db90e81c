"""Statements of the archive, written for SQLite, as PostgreSQL takes them. Pure; knows no table.

The marks of parameters become `$1`, `$2` …; hints to SQLite's planner are left out: PostgreSQL's own needs none.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from preheat.archive.database import Parameters

_PIECES = re.compile(
    r"(?P<quoted>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<hint>\s+INDEXED\s+BY\s+\w+)"
    r"|(?P<cross>\bCROSS\s+JOIN\b)"
    r"|(?P<cast>::)"
    r"|\?(?P<number>\d*)"
    r"|:(?P<name>[A-Za-z_]\w*)"
)
_TABLES = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+\"?(\w+)", re.IGNORECASE)


class Translated(NamedTuple):
    """A statement as PostgreSQL takes it."""

    text: str
    names: tuple[str, ...]
    """The names of its parameters, in their order; none where they are given by place."""
    tables: frozenset[str]
    """The tables that it names."""
    reads_only: bool


@lru_cache(maxsize=2_000)
def translate(statement: str) -> Translated:
    """A statement for PostgreSQL."""
    names: list[str] = []
    count = 0

    def replace(found: re.Match[str]) -> str:
        nonlocal count
        if found["hint"]:
            return ""
        if found["cross"]:
            return "JOIN"  # for SQLite it keeps the order of joining; a condition follows
        if found["name"]:
            if found["name"] not in names:
                names.append(found["name"])
            return f"${names.index(found['name']) + 1}"
        if found["number"]:
            return f"${found['number']}"
        if found["number"] is not None:
            count += 1
            return f"${count}"
        return found[0]

    text = _PIECES.sub(replace, statement)
    return Translated(text, tuple(names), frozenset(_TABLES.findall(text)), text.lstrip()[:6].upper() == "SELECT")


def arrange(translated: Translated, parameters: Parameters) -> list[Any]:
    """The values of a statement's parameters, in their order."""
    if isinstance(parameters, Mapping):
        return [parameters[name] for name in translated.names]
    return list(parameters)
