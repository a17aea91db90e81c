"""Proficiency markers: what shows that an agent learned something in a session; a shorter history should keep them.

- `forms`: forms of commands, and tools with the names of their arguments, that worked here; looking around does not count.
  One is kept if a call of that form that worked is left, with its result.
- `repairs`: a failure that was no finding and the call that repaired it, by the forms of both and the words of the
  error. It is kept if both calls are left, and with them the words of the error.
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

from preheat.calls.files import changed_files
from preheat.calls.words import telling_words
from preheat.compress.lines import is_recognisable
from preheat.compress.view import KeptCount, MarkerKind, View, is_from_person, remaining_results
from preheat.model.session import AssistantMessage, Compaction, Session, ToolCall, ToolResult, UserMessage

_BEGINNING = 200
"""Characters by which a long message is recognised."""


class Repair(NamedTuple):
    """A failed call and the call that repaired it, by `CallRecord.seq`."""

    failed: int
    repaired: int


class Markers(NamedTuple):
    """The markers of a whole session, each with the calls that show it."""

    forms: dict[str, list[int]]
    repairs: dict[tuple[str, ...], list[Repair]]
    instructions: tuple[str, ...]
    files: tuple[str, ...]
    checks: dict[str, int]
    references: tuple[str, ...]


def find_markers(view: View) -> Markers:
    """The markers of a session."""
    by_seq = {made.record.seq: made for made in view.calls}
    forms: defaultdict[str, list[int]] = defaultdict(list)
    repairs: defaultdict[tuple[str, ...], list[Repair]] = defaultdict(list)
    checks: dict[str, int] = {}
    files: dict[str, None] = {}
    for made in view.calls:
        record = made.record
        if made.has_worked and not made.is_lookup:
            forms[made.form].append(record.seq)
        if made.is_check:
            checks[made.form] = record.seq
        if made.has_worked and made.call.kind in ("edit", "write"):
            files.update(dict.fromkeys(path for path in changed_files(made.call).split("\n") if path))
        repairing = by_seq.get(record.seq + record.recovered_in) if record.recovered_in else None
        if made.has_failed and record.cause != "finding" and repairing is not None:
            key = (made.form, *telling_words(record.signature), repairing.form)
            repairs[key].append(Repair(record.seq, repairing.record.seq))
    instructions = dict.fromkeys(
        event.text.strip() for event in view.events if isinstance(event, UserMessage) and is_from_person(event)
    )
    return Markers(
        dict(forms), dict(repairs), tuple(text for text in instructions if text), tuple(files), checks, view.references
    )


def count_kept(markers: Markers, view: View, shorter: Session) -> dict[MarkerKind, KeptCount]:
    """How many markers a shorter history still has, by kind."""
    left = remaining_results(view, shorter)
    by_seq = {made.record.seq: made for made in view.calls}
    messages = [" ".join(event.text.split()) for event in shorter.events if isinstance(event, UserMessage)]
    text = all_text(shorter)

    def is_repair_kept(repair: Repair) -> bool:
        if repair.failed not in left or repair.repaired not in left:
            return False
        failed = by_seq[repair.failed]
        return is_recognisable(left[repair.failed], failed.record.signature, failed.result.text)

    def is_instruction_kept(instruction: str) -> bool:
        beginning = " ".join(instruction.split())[:_BEGINNING]
        return any(beginning in each for each in messages)

    return {
        "forms": _count(any(seq in left for seq in seqs) for seqs in markers.forms.values()),
        "repairs": _count(any(map(is_repair_kept, pairs)) for pairs in markers.repairs.values()),
        "instructions": _count(map(is_instruction_kept, markers.instructions)),
        "files": _count(path in text for path in markers.files),
        "checks": _count(seq in left for seq in markers.checks.values()),
        "references": _count(reference in text for reference in markers.references),
    }


def all_text(session: Session) -> str:
    """All text of a session that a model reads, with single blanks."""
    parts: list[str] = []
    for event in session.events:
        if isinstance(event, UserMessage | AssistantMessage | ToolResult):
            parts.append(event.text)
        elif isinstance(event, Compaction):
            parts.append(event.summary)
        elif isinstance(event, ToolCall):
            parts += strings_in(event.input)
    return " ".join(" ".join(parts).split())


def strings_in(value: object) -> list[str]:
    """Every text in a JSON value, names included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, each in value.items() for text in (str(name), *strings_in(each))]
    if isinstance(value, list | tuple):
        return [text for each in value for text in strings_in(each)]
    return [msgspec.json.encode(value).decode()]


def _count(answers: Iterable[bool]) -> KeptCount:
    listed = list(answers)
    return KeptCount(sum(listed), len(listed))
