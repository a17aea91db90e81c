"""Proficiency markers: what an agent has learned within a session shows by these, and a shorter history should keep them.

- `forms`: forms of commands, and tools with the names of their arguments, that worked here; looking around does not count.
  One is kept if a call of that form that worked is left, with its result.
- `repairs`: a mistake (the agent's own, or the surroundings') and the call that mended it, by the forms of both and the words of
  the error. It is kept if both calls are left, and with them the words of the error.
- `instructions`: messages that a person typed. One is kept if its text is left, or the beginning of a long one.
- `files`: files that an edit or a write changed. One is kept if its path stands somewhere in what is left.
- `checks`: forms of tests, builds, linters and type checkers. One is kept if the last call of it is left, with how it ended.
- `references`: paths, addresses and code blocks that the conversation refers to. One is kept if it stands somewhere in what
  is left.

A marker counts once, however often it occurs. Knows no strategy.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from preheat.calls.files import changed
from preheat.calls.words import telling_words
from preheat.compress.lines import tells
from preheat.compress.values import Kept, Sort
from preheat.compress.view import View, remaining, said_by_person
from preheat.model.session import AssistantMessage, Compaction, Session, ToolCall, ToolResult, UserMessage

BEGINNING = 200
"""Characters by which a long message is known."""


class Repair(NamedTuple):
    """A mistake and what mended it, as places of calls."""

    failed: int
    mended: int


class Markers(NamedTuple):
    """The markers of a whole session, each with the calls that show it."""

    forms: dict[str, list[int]]
    repairs: dict[tuple[str, ...], list[Repair]]
    instructions: tuple[str, ...]
    files: tuple[str, ...]
    checks: dict[str, int]
    references: tuple[str, ...]


def markers_of(seen: View) -> Markers:
    """Everything that a shorter history may keep or lose."""
    by_seq = {made.record.seq: made for made in seen.made}
    forms: defaultdict[str, list[int]] = defaultdict(list)
    repairs: defaultdict[tuple[str, ...], list[Repair]] = defaultdict(list)
    checks: dict[str, int] = {}
    files: dict[str, None] = {}
    for made in seen.made:
        record = made.record
        if made.worked and not made.looks:
            forms[made.form].append(record.seq)
        if made.checks:
            checks[made.form] = record.seq
        if made.worked and made.call.kind in ("edit", "write"):
            files.update(dict.fromkeys(path for path in changed(made.call).split("\n") if path))
        mending = by_seq.get(record.seq + record.recovered_in) if record.recovered_in else None
        if made.failed and record.cause != "finding" and mending is not None:
            key = (made.form, *telling_words(record.signature), mending.form)
            repairs[key].append(Repair(record.seq, mending.record.seq))
    said = dict.fromkeys(
        event.text.strip() for event in seen.events if isinstance(event, UserMessage) and said_by_person(event)
    )
    return Markers(
        dict(forms), dict(repairs), tuple(text for text in said if text), tuple(files), checks, seen.references
    )


def kept_markers(markers: Markers, seen: View, shorter: Session) -> dict[Sort, Kept]:
    """How many of the markers a shorter history still has."""
    left = remaining(seen, shorter)
    by_seq = {made.record.seq: made for made in seen.made}
    said = [" ".join(event.text.split()) for event in shorter.events if isinstance(event, UserMessage)]
    text = text_of_all(shorter)

    def mended(repair: Repair) -> bool:
        if repair.failed not in left or repair.mended not in left:
            return False
        failed = by_seq[repair.failed]
        return tells(left[repair.failed], failed.record.signature, failed.result.text)

    def told(instruction: str) -> bool:
        beginning = " ".join(instruction.split())[:BEGINNING]
        return any(beginning in each for each in said)

    return {
        "forms": _kept(any(seq in left for seq in seqs) for seqs in markers.forms.values()),
        "repairs": _kept(any(map(mended, pairs)) for pairs in markers.repairs.values()),
        "instructions": _kept(map(told, markers.instructions)),
        "files": _kept(path in text for path in markers.files),
        "checks": _kept(seq in left for seq in markers.checks.values()),
        "references": _kept(reference in text for reference in markers.references),
    }


def text_of_all(session: Session) -> str:
    """All that a model would read of a session, blanks made equal."""
    parts: list[str] = []
    for event in session.events:
        if isinstance(event, UserMessage | AssistantMessage | ToolResult):
            parts.append(event.text)
        elif isinstance(event, Compaction):
            parts.append(event.summary)
        elif isinstance(event, ToolCall):
            parts += strings(event.input)
    return " ".join(" ".join(parts).split())


def strings(value: object) -> list[str]:
    """Every text in a value out of JSON, names included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, each in value.items() for text in (str(name), *strings(each))]
    if isinstance(value, list | tuple):
        return [text for each in value for text in strings(each)]
    return [msgspec.json.encode(value).decode()]


def _kept(answers: Iterable[bool]) -> Kept:
    listed = list(answers)
    return Kept(sum(listed), len(listed))
