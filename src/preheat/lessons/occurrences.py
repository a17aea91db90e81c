"""What occurred in a session, condensed: commands, files and errors; and how often a lesson would have been of use.

A lesson applies to a session in which its command, its file or its error occurs. The name of a tool alone is not enough:
nearly every session edits something. How often a lesson applied to the sessions before is the best guess of how often it
will: `reach`, and `need` where code is changed. Knows no score and no task.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b

import msgspec

from preheat.calls.judged import JudgedSession
from preheat.calls.shell import command_form
from preheat.calls.words import telling_words
from preheat.commands import command_text, is_trivial, understand
from preheat.commands.sources import is_source
from preheat.lessons.call_facts import describe_call, safe_touches
from preheat.lessons.learner import SessionNotes
from preheat.model.lesson import Lesson

_MOST = 400
"""Of each sort that are kept of one session."""
HALF_LIFE = 10.0
"""Sessions after which one counts half: what a project does changes."""
_KINDS_OF_CALLS = frozenset(["repair", "error"])
_PRIOR_SESSIONS = 1.0
"""Sessions without the lesson's subject that are assumed before the first one, so that two of two does not mean always."""


class OccurrenceNotes(msgspec.Struct, frozen=True):
    """What occurred in a session."""

    forms: tuple[str, ...] = ()
    """Of shell commands, each one of a script by itself; and of tools that are no shell the name, by itself and with what the
    tool was given."""
    files: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    """Hashes of the words that failures are known by."""
    changed_code: bool = False
    """Whether it changed code of the program itself."""


def take_notes(seen: JudgedSession) -> OccurrenceNotes:
    """What occurred in a session; a session without any call counts too."""
    forms: dict[str, None] = {}
    files: dict[str, None] = {}
    errors: dict[str, None] = {}
    changed_code = False
    for each in seen.calls:
        if each.call.kind == "shell":
            forms |= dict.fromkeys(forms_in(seen.relative(command_text(each.call.input))))
        else:
            forms |= dict.fromkeys((each.call.tool, describe_call(seen, each)))
        touches = safe_touches(seen, each)
        files |= dict.fromkeys(touch.path for touch in touches)
        changed_code = changed_code or any(touch.how in _CHANGING and is_source(touch.path) for touch in touches)
        if each.failed and (known := error_key(each.record.signature)):
            errors[known] = None
    return OccurrenceNotes(tuple(forms)[:_MOST], tuple(files)[:_MOST], tuple(errors)[:_MOST], changed_code)


_CHANGING = frozenset(["changed", "made"])


def forms_in(command: str) -> list[str]:
    """The form of a shell text, and of each command in it."""
    parts = (" ".join(each.words) for each in understand(command).commands if not is_trivial(each))
    return [form for form in map(command_form, (command, *parts)) if form]


def error_key(signature: str) -> str:
    """A short hash of the words of an error; empty where it has none."""
    words = telling_words(signature)
    return blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=6).hexdigest() if words else ""


class LessonSubject(msgspec.Struct, frozen=True):
    """What a lesson is about, to be looked for in sessions."""

    forms: frozenset[str]
    files: frozenset[str]
    errors: frozenset[str]


def subject_of(lesson: Lesson) -> LessonSubject:
    """What a lesson is about."""
    forms = {*lesson.forms, *forms_in(lesson.use)}
    files = {path.rstrip("/") for path in lesson.files}
    if lesson.packet is not None:
        forms |= {form for check in lesson.packet.checks for form in forms_in(check.command)}
        files |= {*lesson.packet.files, *lesson.packet.unverified}
    errors = frozenset(filter(None, map(error_key, lesson.signatures)))
    if lesson.kind in _KINDS_OF_CALLS and lesson.topic != "shell":  # their forms are names of tools
        forms = set()
    forms -= {lesson.scope.tool}
    return LessonSubject(frozenset(forms), frozenset(files), errors)


def applies(subject: LessonSubject, occurred: OccurrenceNotes) -> bool:
    """Whether a session has anything to do with what a lesson is about."""
    return (
        not subject.forms.isdisjoint(occurred.forms)
        or not subject.errors.isdisjoint(occurred.errors)
        or (bool(subject.files) and any(_within(path, subject.files) for path in occurred.files))
    )


def _within(path: str, places: frozenset[str]) -> bool:
    """Whether a path is one of these, or lies in one of them."""
    while path:
        if path in places:
            return True
        path = path.rpartition("/")[0]
    return False


def reach(lesson: Lesson, noted: Sequence[SessionNotes[OccurrenceNotes]]) -> float | None:
    """How often it applied to the sessions so far, which are in time order, the newest counting most. None where none was
    of its agent. A repair whose mistake hardly any session makes is of use to those only, however common the command is."""
    if lesson.kind == "repair" and lesson.topic == "shell" and lesson.avoid:
        failing = frozenset(forms_in(lesson.avoid)) - frozenset(forms_in(lesson.use))
        needed = _weighted_share(noted, lesson, lambda subject, occurred: _occurs(failing, subject.errors, occurred))
        if needed is not None and needed < _WORTH_SAYING:
            return needed
    return _weighted_share(noted, lesson, applies)


def need(lesson: Lesson, noted: Sequence[SessionNotes[OccurrenceNotes]]) -> float | None:
    """How often it applied to the sessions that changed code; None where none did, or none of its agent."""
    return _weighted_share([each for each in noted if each.notes.changed_code], lesson, applies)


_WORTH_SAYING = 0.1
"""The share of sessions that make a mistake above which a line on it pays for all that run its command."""


def _occurs(forms: frozenset[str], errors: frozenset[str], occurred: OccurrenceNotes) -> bool:
    return not forms.isdisjoint(occurred.forms) or not errors.isdisjoint(occurred.errors)


def occurrence_share(lesson: Lesson, noted: Sequence[SessionNotes[OccurrenceNotes]]) -> float | None:
    """How often the error of a lesson occurred in the sessions so far, the newest counting most."""
    return _weighted_share(noted, lesson, lambda subject, occurred: not subject.errors.isdisjoint(occurred.errors))


def _weighted_share(
    noted: Sequence[SessionNotes[OccurrenceNotes]],
    lesson: Lesson,
    matches: Callable[[LessonSubject, OccurrenceNotes], bool],
) -> float | None:
    subject = subject_of(lesson)
    weight, total, hits = 1.0, _PRIOR_SESSIONS, 0.0
    some = False
    for each in reversed(noted):
        if lesson.scope.agent in ("", each.agent):
            some = True
            total += weight
            hits += weight if matches(subject, each.notes) else 0.0
            weight *= 0.5 ** (1 / HALF_LIFE)
    return round(hits / total, 4) if some else None
