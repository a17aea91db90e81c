"""What a session did so far, folded from its events: files, moves, and what its shell did not find. Pure."""

import re

from msgspec import structs

from preheat.answers.history import missing_program, programs_of, refuses_patterns, sets_path, special_start
from preheat.answers.values import SessionFacts
from preheat.model.live import CallEvent, LiveEvent, StartEvent
from preheat.model.outcome import FAILURES

MOST_FILES = 500
"""Files that are remembered, the newest."""
_MOST_PROGRAMS = 50
_MOVING = re.compile(r"(?:^|[;&|]\s*)(?:cd|pushd)\s+(?!\.\s*(?:$|[;&|]))")
"""A step to another folder than the project's own."""
_NOT_THERE = re.compile(r"(?i)no such file|does not exist|not found")
"""What is said of an edit of a path at which there is nothing: the path was a mistake, not one to be written."""


def update_facts(facts: SessionFacts, event: LiveEvent) -> SessionFacts:
    """The facts after an event."""
    if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
        return SessionFacts()
    if not isinstance(event, CallEvent):
        return facts
    facts = _note_files(facts, event)
    if event.kind == "shell" and not facts.moved and _MOVING.search(event.summary):
        facts = structs.replace(facts, moved=True)
    if event.status in FAILURES:
        missing = missing_program(event.signature) if event.kind == "shell" else ""
        if missing and len(facts.missing_programs) < _MOST_PROGRAMS and _is_missed(missing, event.summary):
            facts = structs.replace(facts, missing_programs=facts.missing_programs | {missing})
        if not facts.refuses_patterns and refuses_patterns(event.signature):
            facts = structs.replace(facts, refuses_patterns=True)
    elif event.kind == "shell" and event.status in ("ok", "empty"):
        facts = _note_programs(facts, event.summary)
    return facts


def _is_missed(program: str, command: str) -> bool:
    """Whether a command names a program for the shell to find (another one may not have found it), and does not itself change
    where the shell looks."""
    return not sets_path(command) and program in programs_of(command)


def _note_files(facts: SessionFacts, event: CallEvent) -> SessionFacts:
    if event.edited:
        edits = {path: times for path, times in facts.edits.items() if path not in event.edited}
        edits.update((path, facts.edits.get(path, 0) + 1) for path in event.edited)
        facts = structs.replace(facts, edits=dict(list(edits.items())[-MOST_FILES:]))
    if len(event.removed) == len(event.edited) == 1:
        moves = {**facts.moves, event.removed[0]: event.edited[0]}
        facts = structs.replace(facts, moves=dict(list(moves.items())[-MOST_FILES:]))
    failed_to_write = event.kind in ("edit", "write") and not event.edited and not _NOT_THERE.search(event.signature)
    gone = (*event.removed, *(event.files if failed_to_write else ()))
    if gone or (facts.absent and event.edited):
        absent = [path for path in facts.absent if path not in event.edited and path not in gone]
        facts = structs.replace(
            facts, absent=(*absent, *(path for path in gone if path not in event.edited))[-MOST_FILES:]
        )
    touched = [path for path in event.files if path not in event.removed] if event.status in ("ok", "empty") else []
    if touched:
        files = [path for path in facts.files if path not in touched and path not in event.removed]
        facts = structs.replace(facts, files=(*files, *touched)[-MOST_FILES:])
    return facts


def _note_programs(facts: SessionFacts, command: str) -> SessionFacts:
    if facts.missing_programs:
        is_installed = "install" in command or "setup" in command
        ran = facts.missing_programs if is_installed else facts.missing_programs & programs_of(command)
        facts = structs.replace(facts, missing_programs=facts.missing_programs - ran) if ran else facts
    program, start = special_start(command)
    if program and facts.uses.get(program) != start and len(facts.uses) < _MOST_PROGRAMS:
        facts = structs.replace(facts, uses={**facts.uses, program: start})
    return facts
