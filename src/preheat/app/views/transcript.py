"""A session's events as entries that a person reads: a call with its result is one entry, an edit is shown as a change.

Knows nothing of the archive. Long texts are cut; the whole of one is asked for by its number.
"""

import json
from collections.abc import Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

from preheat.answers.edit_text import read_edits
from preheat.answers.values import PlannedCall
from preheat.model.analysis import Episode
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    UserMessage,
)
from preheat.model.views import ChangedText, EntryKind, TranscriptEntry, TranscriptPart, ViewedCall

_LONGEST_TEXT = 3_000
_LONGEST_ARGUMENT = 1_200
_MOST_ARGUMENTS = 12
_MOST_CHANGED_LINES = 120
_LONGEST_LINE = 300
_LONGEST_COMPARED = 40_000
"""Characters of a text of an edit: a longer one is shown by its beginning, not compared."""
_PATCHES = ("patch", "patchText", "input", "text")
_CONTENTS = ("content", "contents", "file_text", "text")


class Entry(NamedTuple):
    """One event of a session, and the result if it is a call."""

    number: int
    event: Event
    result: ToolResult | None
    call: ViewedCall | None
    episode: int | None


def list_entries(session: Session, calls: Sequence[ViewedCall], episodes: Sequence[Episode]) -> list[Entry]:
    """Every event that a person reads, in order. `calls` are the archive's rows of the session's calls."""
    results: dict[str, ToolResult] = {}
    for event in session.events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call_id, event)
    waiting = {each.line: each.number for each in reversed(episodes)}
    entries: list[Entry] = []
    seq = 0
    for event in session.events:
        call: ViewedCall | None = None
        if isinstance(event, ToolCall):
            call = calls[seq] if seq < len(calls) else None
            seq += 1
        elif _kind_of(event) is None:
            continue
        result = results.get(event.call_id) if isinstance(event, ToolCall) else None
        episode = waiting.pop(event.line, None)
        entries.append(Entry(len(entries), event, result, call, episode))
    return entries


def _kind_of(event: Event) -> EntryKind | None:
    """What an event is to a reader; None for what nobody reads."""
    if isinstance(event, UserMessage):
        return "prompt" if event.origin == "human" else event.origin
    if isinstance(event, AssistantMessage):
        return "assistant" if event.text.strip() else None
    if isinstance(event, Reasoning):
        return "reasoning" if event.text.strip() else None
    kinds: dict[type, EntryKind] = {ToolCall: "call", Compaction: "compaction", Spawn: "spawn", Rewind: "rewind"}
    return kinds.get(type(event))


def cut_part(entries: Sequence[Entry], start: int, limit: int, errors_only: bool) -> TranscriptPart:
    """Some of the entries from a number on, with their texts cut."""
    wanted: list[Entry] = []
    following: int | None = None
    for each in entries[max(0, start) :]:
        if errors_only and not (each.call is not None and each.call.is_failure):
            continue
        if len(wanted) == limit:
            following = each.number
            break
        wanted.append(each)
    return TranscriptPart(entries=tuple(map(_describe, wanted)), next_start=following, total=len(entries))


def _describe(entry: Entry) -> TranscriptEntry:
    event = entry.event
    text = _main_text(entry)
    change = _find_change(event) if isinstance(event, ToolCall) else ()
    return TranscriptEntry(
        number=entry.number,
        kind=_kind_of(event) or "injected",
        line=event.line,
        at=event.at,
        text=text[:_LONGEST_TEXT],
        size=len(text),
        episode=entry.episode,
        call=entry.call,
        arguments=_list_arguments(event.input, bool(change)) if isinstance(event, ToolCall) else (),
        change=change,
        images=event.images if isinstance(event, UserMessage) else 0,
    )


def _main_text(entry: Entry) -> str:
    """The text of a message or summary; of a call, of its result."""
    event = entry.event
    if isinstance(event, ToolCall):
        return entry.result.text if entry.result is not None else ""
    if isinstance(event, Compaction):
        return event.summary
    if isinstance(event, Spawn):
        return event.session
    return event.text if isinstance(event, UserMessage | AssistantMessage | Reasoning) else ""


def whole_text(entry: Entry) -> str:
    """The whole text of an entry; of a call its arguments and its result."""
    if not isinstance(entry.event, ToolCall):
        return _main_text(entry)
    arguments = "\n".join(f"{name}: {_as_text(value)}" for name, value in entry.event.input.items())
    return f"{entry.event.tool}\n{arguments}\n\n{_main_text(entry)}"


def _list_arguments(arguments: dict[str, Any], has_change: bool) -> tuple[tuple[str, str], ...]:
    """Names and beginnings of the arguments; texts that the change shows are left out."""
    shown = [(name, _as_text(value)) for name, value in list(arguments.items())[:_MOST_ARGUMENTS]]
    if has_change:
        shown = [(name, text) for name, text in shown if "\n" not in text and len(text) < _LONGEST_LINE]
    return tuple(
        (name, text[:_LONGEST_ARGUMENT] + ("…" if len(text) > _LONGEST_ARGUMENT else "")) for name, text in shown
    )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# Changes.
def _find_change(call: ToolCall) -> tuple[ChangedText, ...]:
    """The change that a call makes to files, as lines; empty if it is no edit, or of an unknown form."""
    if call.kind not in ("edit", "write"):
        return ()
    for name in _PATCHES:
        text = call.input.get(name)
        if isinstance(text, str) and text.lstrip().startswith(("*** Begin Patch", "--- ", "diff --git", "*** Update")):
            return _cut_lines([ChangedText(_mark_of(line), _without_mark(line)) for line in _first_lines(text)])
    edits = read_edits(PlannedCall(call.kind, call.tool, call.input, ""))
    if edits:
        return _cut_lines([line for each in edits for line in _compare(each.old, each.new)])
    for name in _CONTENTS:
        text = call.input.get(name)
        if isinstance(text, str) and call.kind == "write":
            return _cut_lines([ChangedText("+", line) for line in _first_lines(text)])
    return ()


def _compare(old: str, new: str) -> list[ChangedText]:
    if len(old) > _LONGEST_COMPARED or len(new) > _LONGEST_COMPARED:
        return [ChangedText("-", line) for line in _first_lines(old)[:20]] + [
            ChangedText("+", line) for line in _first_lines(new)[:20]
        ]
    lines = list(unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=2))[2:]
    return [ChangedText(_mark_of(line), _without_mark(line)) for line in lines]


def _first_lines(text: str) -> list[str]:
    return text[: _LONGEST_LINE * _MOST_CHANGED_LINES].split("\n")[: _MOST_CHANGED_LINES + 1]


def _mark_of(line: str) -> str:
    if line.startswith(("+++", "---", "***", "@@", "diff ")):
        return "@"
    return line[0] if line[:1] in ("+", "-") else " "


def _without_mark(line: str) -> str:
    return line if _mark_of(line) == "@" else line[1:] if line[:1] in ("+", "-", " ") else line


def _cut_lines(lines: list[ChangedText]) -> tuple[ChangedText, ...]:
    cut = [ChangedText(each.mark, each.text[:_LONGEST_LINE]) for each in lines[:_MOST_CHANGED_LINES]]
    return (*cut, ChangedText("@", "…")) if len(lines) > _MOST_CHANGED_LINES else tuple(cut)
