"""What changed from a call that failed to the one that worked, as values and in words. Knows no call: see its two siblings.

A difference is small and general: `grep` for `rg`, a folder put before a path, an argument under another name. A change that
would teach nobody anything (another pattern to search for, another text to write) is none.
"""

import re
from typing import Literal, TypeAlias, get_args

import msgspec

DifferenceKind: TypeAlias = Literal[
    "prefix", "program", "told", "renamed", "type", "shape", "value", "moved", "path", "ending", "folder", "variable", "option",
    "with", "without", "quoting", "stayed", "longer", "read", "step", "fewer", "again",
]  # fmt: skip
"""The most telling first. For commands: what starts it, the program, its subcommand, the folder it runs in, a variable set
for it, an option, words more or fewer. For arguments: name, type, shape of a value, a value, one more or fewer, a longer text.
For both: paths (elsewhere, a folder before them, another ending). `stayed`: the `cd` before it was left out. `read`: the same
file was read on the way. `step`: something else was run on the way. `fewer`: one command where there were several. `again`:
nothing changed."""

KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
VAGUE: frozenset[DifferenceKind] = frozenset(["stayed", "longer", "read", "step", "fewer", "again"])
"""Differences that mean something only together with the error that they repair."""
ADDED: frozenset[DifferenceKind] = frozenset(["folder", "variable", "option", "with", "without", "quoting"])
"""May have nothing to do with the error unless it names them or they come again."""
LONGEST = 120
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
    "again": "once more",
    "quoting": "quoted differently",
}


def _place(folder: str) -> str:
    return "of the project itself" if folder in ("", ".") else f"`{folder}`"
