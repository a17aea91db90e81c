"""LearnConventions: what works in this project, put together from its parts. Knows no archive.

Commands by purpose with the variants that fail (`command_lessons`), what commands need (`command_needs`), where new files go
(`placement`), what people corrected (`corrections`), commits with their hooks, branches and pull requests (`commits`), servers
(`servers`), variables (`variables`), sources of generated code (`generators`), and how people write to their agent (here).
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from preheat.amounts import format_count
from preheat.calls.judged import JudgedSession
from preheat.lessons.command_lessons import learn_commands
from preheat.lessons.command_needs import learn_needs
from preheat.lessons.command_use import CommandNotes, SessionCommands, collect_commands
from preheat.lessons.commits import NO_COMMITS, CommitNotes, SessionCommits, collect_commits, learn_commit_forms
from preheat.lessons.corrections import Rule, SessionRules, find_rules, learn_corrections
from preheat.lessons.generators import GeneratorRun, SessionGenerators, find_generator_runs, join_sources, learn_sources
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.placement import NewFile, SessionFiles, find_new_files, learn_placement
from preheat.lessons.servers import ServerStart, SessionServers, find_servers, learn_servers
from preheat.lessons.variables import MissingVariable, SessionVariables, find_missing_variables, learn_variables
from preheat.model.lesson import Evidence, Lesson, Scope, count_support, lesson_id, select_evidence

# How the people of a project write to their agent, by the first implementation's rules
HALF_LIFE = 120.0
_FEW = 10
"""With fewer messages the style is unknown."""
_MEANS = {
    "command_driven": "mostly with slash commands",
    "conversational": "mostly in questions",
    "terse": "in few words",
    "detailed": "in detail",
    "balanced": "in a few sentences",
}


class WritingCounts(msgspec.Struct, frozen=True, gc=False):
    """What people typed in one session, counted."""

    messages: int = 0
    characters: int = 0
    questions: int = 0
    commands: int = 0


class SessionWriting(NamedTuple):
    """One session, as `learn_style` wants it."""

    session: str
    at: float | None
    counts: WritingCounts


def count_writing(seen: JudgedSession) -> WritingCounts:
    """Counts what people typed."""
    texts = [message.text for message in seen.human_messages()]
    return WritingCounts(
        len(texts),
        sum(map(len, texts)),
        sum("?" in text for text in texts),
        sum(text.startswith("/") for text in texts),
    )


def style_of(counts: WritingCounts) -> str:
    """The style of what was typed; the first rule that holds decides."""
    if not counts.messages:
        return "unknown"
    length = counts.characters / counts.messages
    if counts.commands > 0.3 * counts.messages:
        return "command_driven"
    if counts.questions > 0.5 * counts.messages:
        return "conversational"
    return "terse" if length < 50 else "detailed" if length > 200 else "balanced"


def learn_style(project: str, sessions: Sequence[SessionWriting]) -> list[Lesson]:
    """One small lesson; weak, because nothing shows yet that knowing it helps."""
    writing = [each for each in sessions if each.counts.messages]
    together = WritingCounts(
        sum(each.counts.messages for each in writing),
        sum(each.counts.characters for each in writing),
        sum(each.counts.questions for each in writing),
        sum(each.counts.commands for each in writing),
    )
    if together.messages < _FEW or len(writing) < 2:
        return []
    style, scope = style_of(together), Scope(project=project)
    evidence = [
        Evidence(each.session, None, each.at, style_of(each.counts) != style, style_of(each.counts)) for each in writing
    ]
    times = [each.at for each in writing if each.at is not None]
    return [
        Lesson(
            id=lesson_id("convention", scope, "style"),
            kind="convention",
            scope=scope,
            topic="style",
            text=f"People here ask {_MEANS[style]} (style `{style}`: {together.messages} messages of"
            f" {together.characters // together.messages} characters on average).",
            support=count_support(evidence),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            half_life=HALF_LIFE,
            evidence=select_evidence(evidence),
            status="weak",
            why="a style alone has not been shown to help",
        )
    ]


# The learner
MOST_ACTIVE = 40
"""More would not be read, and the rest is hardly ever needed."""
_TOPICS = {"correction": 2.0, "folder": 2.0, "missing": 1.5, "runner": 1.5, "test": 1.5, "run": 0.7, "other": 0.7}
"""How much a topic weighs: first what an agent cannot find out without failing."""


class ConventionNotes(msgspec.Struct, frozen=True):
    """What is kept of one session."""

    commands: CommandNotes = CommandNotes()
    made: tuple[NewFile, ...] = ()
    rules: tuple[Rule, ...] = ()
    written: WritingCounts = WritingCounts()
    committed: CommitNotes = NO_COMMITS
    servers: tuple[ServerStart, ...] = ()
    variables: tuple[MissingVariable, ...] = ()
    generated: tuple[GeneratorRun, ...] = ()


def take_notes(seen: JudgedSession) -> ConventionNotes | None:
    """What a session shows of its project's conventions; None where it shows none."""
    notes = ConventionNotes(
        collect_commands(seen),
        find_new_files(seen),
        find_rules(seen),
        count_writing(seen),
        collect_commits(seen),
        find_servers(seen),
        find_missing_variables(seen),
        find_generator_runs(seen),
    )
    return None if notes == ConventionNotes() else notes


def learn(project: str, noted: Sequence[SessionNotes[ConventionNotes]]) -> list[Lesson]:
    """The conventions of a project."""
    if not project:
        return []
    sessions = [
        SessionCommands(each.session, place, each.started_at, each.notes.commands, each.agent)
        for place, each in enumerate(noted)
    ]
    sources = learn_sources(project, [SessionGenerators(each.session, each.notes.generated) for each in noted])
    lessons = [
        *join_sources(learn_commands(project, sessions), sources),
        *learn_needs(project, sessions),
        *learn_placement(project, [SessionFiles(each.session, each.notes.made) for each in noted]),
        *learn_corrections(project, [SessionRules(each.session, each.notes.rules) for each in noted]),
        *learn_commit_forms(
            project, [SessionCommits(each.session, each.started_at, each.notes.committed) for each in noted]
        ),
        *learn_servers(project, [SessionServers(each.session, each.notes.servers) for each in noted]),
        *learn_variables(project, [SessionVariables(each.session, each.notes.variables) for each in noted]),
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


LEARN_CONVENTIONS = Learner("LearnConventions", 8, ConventionNotes, take_notes, learn, describe=describe)
