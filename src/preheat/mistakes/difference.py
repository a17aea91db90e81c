"""What changed from a call that failed to the one that worked: values, paths and arguments. Commands are in `command_difference`.

A difference is small and general: `grep` for `rg`, a folder put before a path, an argument under another name. A change that
would teach nobody anything (another pattern to search for, another text to write) is none. Knows no session.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import msgspec

DifferenceKind: TypeAlias = Literal[
    "prefix", "program", "told", "renamed", "type", "shape", "value", "moved", "path", "ending", "folder", "variable", "option",
    "with", "without", "quoting", "stayed", "longer", "read", "step", "fewer", "outside", "again",
]  # fmt: skip
"""The most telling first. For commands: what starts it, the program, its subcommand, the folder it runs in, a variable set
for it, an option, words more or fewer. For arguments: name, type, shape of a value, a value, one more or fewer, a longer text.
For both: paths (elsewhere, a folder before them, another ending). `stayed`: the `cd` before it was left out. `read`: the same
file was read on the way. `step`: something else was run on the way. `fewer`: one command where there were several. `outside`:
outside of the sandbox. `again`:
nothing changed. The names are stored in notes, and `told` (the subcommand) is in the ids of lessons."""

KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
VAGUE: frozenset[DifferenceKind] = frozenset(["stayed", "longer", "read", "step", "fewer", "outside", "again"])
"""Differences that mean something only together with the error that they repair."""
ADDED: frozenset[DifferenceKind] = frozenset(["folder", "variable", "option", "with", "without", "quoting"])
"""May have nothing to do with the error unless it names them or they come again."""
LONGEST = 120
OUTSIDE = "outside of the sandbox"
"""How it is said that a call worked which the agent's program was asked to run with all rights."""
_ANY_BELOW = frozenset(["...", "*", "**"])
_SEPARATOR = re.compile(r"[\\/]+")


class Difference(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One thing that changed."""

    kind: DifferenceKind
    was: str = ""
    now: str = ""
    about: str = ""
    """The program, or the tool and its argument, that it is a matter of; empty where it holds for any."""


def path_change(was: str, now: str) -> Difference | None:
    """How one path became the other; None if they have nothing to do with each other."""
    before, after = _parts(was), _parts(now)
    if not before or not after or before == after or re.search(r"\s", was.strip() + now.strip()):
        return None
    if len(after) > len(before) and after[-len(before) :] == before:
        return _folder_change("", after[: -len(before)], now)
    if len(before) > len(after) and before[-len(after) :] == after:
        return _folder_change(before[: -len(after)], "", was)
    if after[: len(before)] == before and _ANY_BELOW.issuperset(after[len(before) :]):
        return Difference("ending", "", "/" + "/".join(after[len(before) :]))
    if before[-1] == after[-1] and "." in after[-1]:
        return Difference("moved", was, now)
    stem, dot, ending = before[-1].rpartition(".")
    other, _, changed = after[-1].rpartition(".")
    if dot and stem and before[:-1] == after[:-1] and stem == other:
        return Difference("ending", "." + ending, "." + changed)
    return None


def _folder_change(was: "list[str] | str", now: "list[str] | str", longer: str) -> Difference | None:
    if longer.startswith(("/", "~")) or longer[1:2] == ":":  # the same place, written from another root
        return None
    return Difference("path", "/".join(was), "/".join(now))


def _parts(path: str) -> list[str]:
    return [part for part in _SEPARATOR.split(path.strip()) if part not in ("", ".")]


def describe_difference(difference: Difference) -> str:
    """The change as a person would say it, to stand before "it works"; what is quoted stands in backticks."""
    kind, was, now = difference.kind, difference.was, difference.now
    if kind in _ALONE:
        return _ALONE[kind]
    if kind == "longer":
        return f"with a longer `{difference.about}`, with more of what stands around it,"
    if kind == "folder":
        return f"from the folder {_place(now)}" + (f" instead of {_place(was)}" if was else "")
    if kind == "path":
        return f"with `{now}/` before the path" if now else f"without `{was}/` before the path"
    if kind == "step":
        return f"after `{now}`"
    if kind == "type":
        return f"with `{difference.about}` as {now} instead of {was}"
    if kind in ("shape", "value"):
        return f"with `{difference.about}` written {'like ' if kind == 'shape' else ''}`{now}` instead of `{was}`"
    if was and now:
        return f"with `{now}` instead of `{was}`"
    return f"with `{now}`" if now else f"without `{was}`"


_ALONE: dict[DifferenceKind, str] = {
    "read": "after reading the file",
    "stayed": "without the `cd`, for the shell stays where an earlier call went,",
    "fewer": "with one command at a time",
    "outside": OUTSIDE,
    "again": "once more",
    "quoting": "quoted differently",
}


def _place(folder: str) -> str:
    return "of the project itself" if folder in ("", ".") else f"`{folder}`"


# What changed from the arguments of one call to those of another, by name.
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
