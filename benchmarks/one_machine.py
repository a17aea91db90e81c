"""One machine's archive and a fleet's destination, as values that can be compared: sessions, calls, outcomes, notes, lessons."""

from collections.abc import Iterable
from contextlib import closing
from typing import Any

import msgspec

import preheat
from preheat.app.fleet.work import decode_lessons, encode_lessons
from preheat.archive.connect import connect
from preheat.archive.lessons import lessons_by_learner
from preheat.fleet.manifest import load_snapshot
from preheat.fleet.storage import Storage, locate
from preheat.fleet.tables import SCHEMAS, load_table
from preheat.model.lesson import Lesson
from preheat.model.outcome import CAUSES, RUNGS, STATUSES

Rows = list[tuple[Any, ...]]

_SESSION = (
    "agent", "version", "model", "folder", "branch", "parent", "relation", "started_at", "ended_at", "starter", "title",
    "opening", "events", "prompts", "messages", "calls", "errors", "compactions", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens",
)  # fmt: skip
_CALL = ("seq", "call_id", "line", "response", "tool", "kind", "summary", "at", "ended_at", "is_error", "exit_code",
         "output_size", "copied")  # fmt: skip
_OUTCOME = ("seq", "message", "era", "status", "rung", "cause", "exit_code", "confidence", "repeated", "reread", "seconds",
            "lost_seconds", "lost_tokens", "recovered_in")  # fmt: skip


def _sort(rows: Iterable[tuple[Any, ...]]) -> Rows:
    return sorted(rows, key=repr)  # values of one column may be missing


class Everything(msgspec.Struct):
    """What was made of a source."""

    sessions: Rows
    calls: Rows
    outcomes: Rows
    notes: Rows
    lessons: dict[str, bytes]
    """By project: all its lessons in canonical bytes."""


def learn_here(source: str, folder: str) -> Everything:
    """What one machine makes of a source, with an archive in a folder."""
    home = preheat.open(folder)
    home.sync(files=home.find_files([source]).files)
    home.learn()
    with closing(connect(folder)) as archive:
        names = {"folder": "sessions.project"}
        columns = ", ".join(names.get(name, f"sessions.{name}") for name in _SESSION)
        project = "coalesce(projects.name, '')"
        joined = (
            "LEFT JOIN places ON places.session_id = sessions.id LEFT JOIN projects ON projects.key = places.project"
        )
        of_session = "JOIN sessions ON sessions.id = session_id"
        sessions = archive.execute(f"SELECT sessions.key, {project}, {columns} FROM sessions {joined}").fetchall()
        calls = archive.execute(
            f"SELECT sessions.key, {', '.join(f'calls.{name}' for name in _CALL)} FROM calls {of_session}"
        ).fetchall()
        outcomes = archive.execute(
            f"SELECT sessions.key, {', '.join(f'outcomes.{name}' for name in _OUTCOME)}, purposes.activity, signatures.text "
            f"FROM outcomes {of_session} JOIN purposes ON purposes.id = purpose_id "
            "LEFT JOIN signatures ON signatures.id = signature_id"
        ).fetchall()
        notes = archive.execute(
            f"SELECT sessions.key, notes.learner, notes.version, notes.stamp FROM notes {of_session} WHERE data IS NOT NULL"
        ).fetchall()
        by_learner = lessons_by_learner(archive)
    place = {name: 1 + _OUTCOME.index(name) for name in ("status", "rung", "cause")}
    return Everything(
        _sort(sessions),
        _sort(calls),
        _sort(
            (
                *row[: place["status"]],
                STATUSES[row[place["status"]]],
                RUNGS[row[place["rung"]]],
                None if row[place["cause"]] is None else CAUSES[row[place["cause"]]],
                *row[place["cause"] + 1 :],
            )
            for row in outcomes
        ),
        _sort(notes),
        _by_project(by_learner),
    )


def _by_project(by_learner: dict[str, list[Lesson]]) -> dict[str, bytes]:
    found: dict[str, dict[str, list[Lesson]]] = {}
    for learner, some in by_learner.items():
        for lesson in some:
            found.setdefault(lesson.scope.project, {}).setdefault(learner, []).append(lesson)
    return {project: encode_lessons(some) for project, some in found.items()}


def load_fleet(destination: str) -> Everything:
    """What a fleet made of a source."""
    storage = Storage(locate(destination))
    snapshot = load_snapshot(storage)
    assert snapshot is not None

    def rows(table: str) -> list[dict[str, Any]]:
        files = [each for each in snapshot.tables if each.table == table]
        return list(load_table(storage, files, SCHEMAS[table].names))

    lessons: dict[str, dict[str, list[Lesson]]] = {}
    for each in snapshot.lessons:
        for learner, some in decode_lessons(storage.read(each.lessons)).items():
            for lesson in some:
                lessons.setdefault(lesson.scope.project, {}).setdefault(learner, []).append(lesson)
    return Everything(
        _sort((row["session"], row["project"], *(row[name] for name in _SESSION)) for row in rows("sessions")),
        _sort((row["session"], *(row[name] for name in _CALL)) for row in rows("calls")),
        _sort(
            (row["session"], *(row[name] for name in _OUTCOME), row["activity"], row["signature"])
            for row in rows("outcomes")
        ),
        _sort((row["session"], row["learner"], row["version"], row["stamp"]) for row in rows("notes")),
        {project: encode_lessons(some) for project, some in lessons.items()},
    )


def differences(one: Everything, other: Everything) -> list[str]:
    """In which of the parts two differ, with the first difference of each."""
    found = []
    for name in Everything.__struct_fields__:
        ours, theirs = getattr(one, name), getattr(other, name)
        if ours == theirs:
            continue
        if isinstance(ours, dict):
            keys = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
            found.append(f"{name}: {keys[:5]}")
        else:
            pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if a != b]
            found.append(f"{name}: {len(ours)} and {len(theirs)}; first {pairs[:1]}")
    return found
