"""The file of shared lessons: one lesson on each line, in one order, so that git merges it and a diff shows what changed. Pure.

It is TOML, but read line by line: a line that cannot be read costs itself, and none is longer than a lesson can be. Lines are
never joined by a merge, whatever two branches added (`ATTRIBUTES`).
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from preheat.sharing.entry import SHARED_KINDS, SharedLesson
from preheat.sharing.evidence import join_evidence

FORMAT = 1
HEAD = (
    "# What earlier sessions of coding agents found out in this repository: review it like code.",
    "# `preheat share` writes it, `preheat trust` lets a clone use it, `preheat share --check` checks it.",
)
ATTRIBUTES = b"# One lesson on each line: what two branches added is kept from both.\nlessons.toml merge=union\n"
"""For git, in the folder of the file."""
MOST_LESSONS = 500
_LONGEST_LINE = 6_000
_OPENING, _CLOSING = "lessons = [", "]"
_TITLES = {
    "convention": "what works here", "repair": "what fixes what", "dead_end": "dead ends", "error": "what goes wrong",
    "working_set": "where the work is",
}  # fmt: skip
_MARKERS = ("<<<<<<< ", "=======", ">>>>>>> ", "||||||| ")
_FIELDS = SharedLesson.__struct_fields__


class LineFault(NamedTuple):
    """A line that cannot be used."""

    line: int
    """Counted from 1; 0 for the whole file."""
    why: str
    is_conflict: bool = False
    """It is a mark that git left where it could not merge."""


class DocumentLine(NamedTuple):
    """A lesson with its place."""

    line: int
    entry: SharedLesson


class Document(NamedTuple):
    """A file as it was read."""

    lines: tuple[DocumentLine, ...] = ()
    faults: tuple[LineFault, ...] = ()

    @property
    def entries(self) -> list[SharedLesson]:
        return [each.entry for each in self.lines]


# Writing.
def write_document(entries: Iterable[SharedLesson]) -> bytes:
    """The file of some lessons, by kind and then by id; the same bytes whatever order they come in."""
    ordered = sorted(entries, key=lambda each: (SHARED_KINDS.index(each.kind), each.id))
    lines = [*HEAD, f"format = {FORMAT}", _OPENING]
    for kind in SHARED_KINDS:
        lines.append(f"  # {_TITLES[kind]}")
        lines += (_write_entry(each) for each in ordered if each.kind == kind)
    return "\n".join((*lines, _CLOSING, "")).encode()


def _write_entry(entry: SharedLesson) -> str:
    fields = msgspec.to_builtins(entry)
    return f"  {{ {', '.join(f'{name} = {_write_value(fields[name])}' for name in _FIELDS if name in fields)} }},"


def _write_value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_write_value(each)}" for name, each in sorted(value.items())) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    return msgspec.json.encode(value).decode()


# Reading.
def read_document(data: bytes) -> Document:
    """What a file says, with what cannot be read in it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Document(faults=(LineFault(0, f"it is no UTF-8 (byte {error.start:,})"),))
    lines: dict[str, DocumentLine] = {}
    faults: list[LineFault] = []
    for number, found in _read_lines(text):
        if isinstance(found, LineFault):
            faults.append(found)
        elif (known := lines.get(found.id)) is not None:
            faults.append(
                LineFault(number, f"the lesson of line {known.line} is there twice: `preheat share` joins them")
            )
            if join_evidence(known.entry.evidence, found.evidence) != known.entry.evidence:
                lines[found.id] = DocumentLine(known.line, found)
        elif len(lines) >= MOST_LESSONS:
            faults.append(LineFault(number, f"there are more than {MOST_LESSONS} lessons"))
            break
        else:
            lines[found.id] = DocumentLine(number, found)
    return Document(tuple(lines.values()), tuple(faults))


def _read_lines(text: str) -> Iterator[tuple[int, SharedLesson | LineFault]]:
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip(" \t\r")
        if not line or line.startswith("#") or line in (_OPENING, _CLOSING, f"format = {FORMAT}"):
            continue
        if line.startswith(_MARKERS):
            yield number, LineFault(number, "git left a mark of a conflict here", is_conflict=True)
        elif line.startswith("format"):
            yield number, LineFault(number, "it was written by another version of Preheat, which this one cannot read")
            return
        elif not line.startswith("{") or len(line) > _LONGEST_LINE:
            yield number, LineFault(number, "it is no lesson")
        else:
            yield number, _read_entry(number, line.removesuffix(","))


def _read_entry(number: int, line: str) -> SharedLesson | LineFault:
    try:
        return msgspec.convert(tomllib.loads(f"lesson = {line}")["lesson"], SharedLesson)
    except msgspec.ValidationError as error:
        return LineFault(number, f"it is no lesson: {_describe(error)}")
    except (RecursionError, ValueError):
        return LineFault(number, "it cannot be read as TOML")


def _describe(error: msgspec.ValidationError) -> str:
    """The message without what the file says: only names of ours are repeated."""
    text = str(error)
    named = next((name for name in _FIELDS if f"`{name}`" in text or f"$.{name}" in text), "")
    return f"`{named}` is missing or has another type" if named else "it has fields that lessons do not have"


# From one version to the next.
class SharePlan(NamedTuple):
    """What the next version of a file has."""

    entries: tuple[SharedLesson, ...]
    new: tuple[SharedLesson, ...] = ()
    changed: tuple[SharedLesson, ...] = ()
    gone: tuple[SharedLesson, ...] = ()


def plan_document(old: Sequence[SharedLesson], ours: Iterable[SharedLesson], dropped: frozenset[str]) -> SharePlan:
    """The next version: what is there, what we add, without what a person retired. What others wrote stays as it is, unless we
    saw more of it by a whole step."""
    before = {each.id: each for each in old}
    after = {name: each for name, each in before.items() if name not in dropped}
    for entry in ours:
        known = after.get(entry.id)
        if known is None or join_evidence(known.evidence, entry.evidence) != known.evidence:
            after[entry.id] = entry
    return SharePlan(
        tuple(after.values()),
        tuple(each for name, each in after.items() if name not in before),
        tuple(each for name, each in after.items() if name in before and before[name] != each),
        tuple(each for name, each in before.items() if name not in after),
    )
