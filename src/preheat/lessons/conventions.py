"""LearnConventions: what works in this project. Knows how to put its parts together; each part stands in a module of its own.

Commands by purpose with the variants that fail (`commands_here`), what commands need here (`needs`), where new files go
(`placement`), what people corrected (`corrections`), how they write (`style`).
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from preheat.amounts import format_count
from preheat.calls.seen import JudgedSession
from preheat.lessons.commands_here import learn_commands
from preheat.lessons.corrections import Rule, SessionRules, find_rules, learn_corrections
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.needs import learn_needs
from preheat.lessons.placement import NewFile, SessionFiles, find_new_files, learn_placement
from preheat.lessons.style import SessionWriting, WritingCounts, count_writing, learn_style
from preheat.lessons.used import CommandNotes, collect_commands
from preheat.lessons.ways import SessionCommands
from preheat.model.lesson import Lesson

MOST_ACTIVE = 25
"""More would not be read, and the rest is hardly ever needed."""
_TOPICS = {"correction": 2.0, "folder": 2.0, "missing": 1.5, "runner": 1.5, "test": 1.5, "run": 0.7, "other": 0.7}
"""How much a topic weighs: first what an agent cannot find out without failing."""


class ConventionNotes(msgspec.Struct, frozen=True):
    """What is kept of one session."""

    commands: CommandNotes = CommandNotes()
    made: tuple[NewFile, ...] = ()
    rules: tuple[Rule, ...] = ()
    written: WritingCounts = WritingCounts()


def take_notes(seen: JudgedSession) -> ConventionNotes | None:
    """What a session shows of its project's conventions; None where it shows none."""
    notes = ConventionNotes(collect_commands(seen), find_new_files(seen), find_rules(seen), count_writing(seen))
    return None if notes == ConventionNotes() else notes


def learn(project: str, noted: Sequence[SessionNotes[ConventionNotes]]) -> list[Lesson]:
    """The conventions of a project."""
    if not project:
        return []
    sessions = [
        SessionCommands(each.session, place, each.started_at, each.notes.commands, each.agent)
        for place, each in enumerate(noted)
    ]
    lessons = [
        *learn_commands(project, sessions),
        *learn_needs(project, sessions),
        *learn_placement(project, [SessionFiles(each.session, each.notes.made) for each in noted]),
        *learn_corrections(project, [SessionRules(each.session, each.notes.rules) for each in noted]),
        *learn_style(project, [SessionWriting(each.session, each.started_at, each.notes.written) for each in noted]),
    ]
    return _limit_active(sorted(lessons, key=_rank))


def _rank(lesson: Lesson) -> tuple[object, ...]:
    weight = _TOPICS.get(lesson.topic, 1.0) * (2.0 if lesson.avoid or lesson.signatures else 1.0)
    return (lesson.status != "active", -weight * lesson.support.sessions_for, lesson.id)


def _limit_active(lessons: list[Lesson]) -> list[Lesson]:
    """The lessons, of which at most `MOST_ACTIVE` stay active."""
    return [
        msgspec.structs.replace(lesson, status="weak", why=f"not among the {MOST_ACTIVE} that matter most")
        if place >= MOST_ACTIVE and lesson.status == "active"
        else lesson
        for place, lesson in enumerate(lessons)
    ]


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    active = [lesson for lesson in lessons if lesson.status == "active"]
    if not active:
        return "no conventions yet"
    topics_of = Counter(lesson.topic for lesson in active)
    topics = ", ".join(
        f"{number} on {topic}" for topic, number in sorted(topics_of.items(), key=lambda item: (-item[1], item[0]))
    )
    warned = sum(bool(lesson.avoid) for lesson in active)
    more = f"; {warned} of them with a variant that fails" if warned else ""
    return f"{format_count(len(active), 'convention')} ({topics}){more}"


LEARN_CONVENTIONS = Learner("LearnConventions", 2, ConventionNotes, take_notes, learn, describe=describe)
