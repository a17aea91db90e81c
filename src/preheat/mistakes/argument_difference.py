"""What changed from the arguments of one call to those of another, by name. Knows no session; commands have their own."""

import re
from collections.abc import Mapping
from typing import Any

from preheat.mistakes.difference import LONGEST, Difference, path_change

_SHORT = 60
"""Characters of a value whose form can be seen: a date, a name, an identifier."""
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_DATED = re.compile(r"9+[^\w\s]9")
"""A value made of numbers: a date, a time, a version. In a name with a number the number is the case."""
_WORDLIKE = re.compile(r"[\w:.@-]{1,40}")
_TYPES = {str: "a text", list: "a list", dict: "an object", bool: "true or false", int: "a number", float: "a number"}
_TOO_DIFFERENT = 3


def argument_changes(tool: str, failed: Mapping[str, Any], worked: Mapping[str, Any]) -> tuple[Difference, ...]:
    """What changed; nothing where so much did that it is another call, or only texts that belong to the case."""
    if failed == worked:
        return (Difference("again"),)
    found = _names(tool, failed, worked)
    found += [
        change
        for name in sorted(failed.keys() & worked.keys())
        if failed[name] != worked[name] and (change := _value(name, failed[name], worked[name])) is not None
    ]
    longer = [change for change in found if change.kind == "longer"]
    if longer:  # what stands in the file grew, and what is put in its place grew with it
        sought = [change for change in longer if "new" not in change.about.lower()] or longer
        found = [change for change in found if change.kind != "longer" or change == sought[0]]
    return tuple(found) if len(found) < _TOO_DIFFERENT else ()


def _names(tool: str, failed: Mapping[str, Any], worked: Mapping[str, Any]) -> list[Difference]:
    """Arguments that are there under another name, that were left out, or that were added."""
    removed, new = sorted(failed.keys() - worked.keys()), sorted(worked.keys() - failed.keys())
    found: list[Difference] = []
    for name in list(removed):
        same = next((other for other in new if worked[other] == failed[name] and failed[name] not in (None, "")), None)
        if same is not None:
            removed.remove(name)
            new.remove(same)
            found.append(Difference("renamed", name, same, about=tool))
    if len(removed) == 1 and len(new) == 1 and _alike(removed[0], new[0]):  # renamed, and its text written anew
        return [*found, Difference("renamed", removed[0], new[0], about=tool)]
    found += [Difference("without", _with_value(name, failed[name]), "", about=tool) for name in removed]
    return found + [Difference("with", "", _with_value(name, worked[name]), about=tool) for name in new]


def _alike(one: str, other: str) -> bool:
    return one.lower().startswith(other.lower()) or other.lower().startswith(one.lower())


def _with_value(name: str, value: Any) -> str:
    return f"{name}={str(value).lower()}" if isinstance(value, bool) else name


def _value(name: str, was: Any, now: Any) -> Difference | None:
    if type(was) is not type(now):
        if was in (None, "") or now is None:
            return None if now in (None, "") else Difference("type", "nothing", _type(now), about=name)
        return Difference("type", _type(was), _type(now), about=name) if _type(was) != _type(now) else None
    if isinstance(now, bool):
        return Difference("value", str(was).lower(), str(now).lower(), about=name)
    return _text(name, was, now) if isinstance(now, str) else None


def _type(value: Any) -> str:
    return _TYPES.get(type(value), "nothing")


def _text(name: str, was: str, now: str) -> Difference | None:
    if max(len(was), len(now)) > _SHORT or "\n" in was + now:
        if was.strip() and was.strip() in now:
            return Difference("longer", about=name)
        return path_change(was, now) if max(len(was), len(now)) <= LONGEST and "\n" not in was + now else None
    if ("/" in was + now or "\\" in was + now) and not re.search(r"\s", was + now):
        return path_change(was, now)
    if was.strip() and was.strip() in now and (" " in was or "(" in was):
        return Difference("longer", about=name)
    shapes = _shape(was), _shape(now)
    if shapes[0] != shapes[1] and all(_DATED.match(shape) for shape in shapes) and _one_begins_the_other(*shapes):
        return Difference("shape", *shapes, about=name)
    wordlike = _WORDLIKE.fullmatch(was) and _WORDLIKE.fullmatch(now) and _LETTERS.search(now)
    if wordlike and not _DIGIT.search(was + now):
        return Difference("value", was, now, about=name)
    return None


def _shape(value: str) -> str:
    """Every digit as `9` and every word as `a`: what a date or a number looks like."""
    return _LETTERS.sub("a", _DIGIT.sub("9", value))


def _one_begins_the_other(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
