"""Notes in the trajectories that Preheat writes, from which its reader restores exactly the same session.

The format has no place for line numbers, exact times, the origin of a message, rewinds and more. There is a note for every event
in order, without its bulk (text, arguments, raw record): the note names the place in the trajectory that holds it, so that no
text is stored twice and redacted text stays redacted. Knows nothing of files.
"""

from typing import Any

import msgspec

from preheat.agents.chat import mapping, sequence
from preheat.model.session import Event, Session

NOTES_KEY = "preheat"
"""The key of the notes in the trajectory's `extra`."""
VERSION = 1
PIECES = {"message": "messages", "reasoning_content": "reasoning"}
"""Where a step's `extra` holds the texts of a response one by one, which the format can only hold joined."""

_BULK = {"user": "text", "assistant": "text", "reasoning": "text", "call": "input", "result": "text",
         "compaction": "summary", "other": "raw"}  # fmt: skip
_NOT_NOTED = ("agent", "events", "problems")


def heading_note(session: Session) -> dict[str, Any]:
    """The note of a session, without its events."""
    return {name: value for name, value in _changed_fields(session).items() if name not in _NOT_NOTED}


def event_note(event: Event, place: list[Any] | None) -> dict[str, Any]:
    """The note of an event, without its bulk; `place` says where in the trajectory that is."""
    note = _changed_fields(event)
    kind = type(event).__struct_config__.tag
    note.pop(_BULK.get(str(kind), ""), None)
    return {"type": kind, **note, **({"place": place} if place else {})}


def _changed_fields(value: msgspec.Struct) -> dict[str, Any]:
    """The fields of a struct that differ from their defaults."""
    changed: dict[str, Any] = {}
    for field in msgspec.structs.fields(value):
        current = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        if default is msgspec.NODEFAULT or current != default or type(current) is not type(default):
            changed[field.name] = msgspec.to_builtins(current)
    return changed


def restore_session(document: dict[str, Any]) -> tuple[dict[str, Any], list[Event]] | None:
    """The heading and the events from the notes in a trajectory; None if there are no notes.

    Raises ValueError (`msgspec.ValidationError` is one) or LookupError if the notes do not fit the trajectory.
    """
    notes = mapping(mapping(document.get("extra")).get(NOTES_KEY))
    if notes.get("version") != VERSION:
        return None
    if not isinstance(notes.get("events"), list):
        raise ValueError("there are no events")
    return mapping(notes.get("session")), [_restore_event(document, mapping(note)) for note in notes["events"]]


def _restore_event(document: dict[str, Any], note: dict[str, Any]) -> Event:
    bulk = _BULK.get(str(note.get("type")), "")
    record = {name: value for name, value in note.items() if name != "place"}
    if bulk and "place" in note:
        record[bulk] = _read_bulk(document, sequence(note["place"]))
    elif bulk:
        record[bulk] = {} if bulk == "input" else None if bulk == "raw" else ""
    return msgspec.convert(record, Event)  # type: ignore[no-any-return]


def _read_bulk(document: dict[str, Any], place: list[Any]) -> Any:
    """The bulk at a place: `[name, number]` or `[name, step, number]`, counted from 0."""
    name, number, *rest = place
    if name == "other_records":
        return mapping(sequence(mapping(document.get("extra")).get(name))[number])["raw"]
    step = mapping(sequence(document.get("steps"))[number])
    if name == "tool_calls":
        return mapping(sequence(step.get(name))[rest[0]])["arguments"]
    if name == "results":
        return mapping(sequence(mapping(step.get("observation")).get(name))[rest[0]])["content"]
    pieces = mapping(step.get("extra")).get(PIECES[name])
    return pieces[rest[0]] if isinstance(pieces, list) else step[name]
