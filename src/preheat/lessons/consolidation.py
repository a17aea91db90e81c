"""ConsolidateEvents: settles what several lessons say about one thing, measures how often each lesson applies, and limits how
many of a kind are active. Knows no archive.

In this order: a dead end and a working command that contradict each other are settled by the newer evidence; repairs of one
tool by the same step become one lesson; an error whose repair is known becomes weak; every lesson gets its reach
(`occurrences`), and an error that is hardly ever met becomes weak; above the limit of its kind, the lessons with the lowest
scores become weak. Doing it twice changes nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec

from preheat.amounts import format_count
from preheat.calls.words import telling_words
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.occurrences import OccurrenceNotes, need, occurrence_share, reach, take_notes
from preheat.model.lesson import MOST_EVIDENCE, Lesson, Support, select_evidence
from preheat.safe_text.cleanup import one_line

# Joins repairs that have the tool and the remedy in common and differ in the error message
_ERRORS, _LONGEST = 3, 60
"""Error messages that are quoted, and characters of each."""


def join_repairs(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Active repairs of one tool by the same remedy become one, under the first of their ids. Commands are left alone: what
    mends one of them mends no other."""
    groups: defaultdict[tuple[str, ...], list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        if lesson.kind == "repair" and lesson.status == "active" and lesson.topic != "shell" and lesson.difference:
            scope = lesson.scope
            groups[scope.project, scope.agent, scope.tool, lesson.topic, lesson.difference, lesson.use].append(lesson)
    joined: dict[str, Lesson] = {}
    merged: set[str] = set()
    for group in groups.values():
        if len(group) > 1 and not any(lesson.pinned for lesson in group):
            ordered = sorted(group, key=lambda lesson: lesson.id)
            joined[ordered[0].id] = _join_group(ordered)
            merged |= {lesson.id for lesson in ordered[1:]}
    return [joined.get(lesson.id, lesson) for lesson in lessons if lesson.id not in merged]


def _join_group(group: Sequence[Lesson]) -> Lesson:
    first = group[0]
    common = sorted(group, key=lambda lesson: (-lesson.support.calls_for, lesson.id))
    errors = list(dict.fromkeys(one_line(lesson.error, _LONGEST) for lesson in common if lesson.error))
    evidence = [each for lesson in group for each in lesson.evidence]
    sessions = {each.session for each in evidence if not each.against}
    support = Support(
        calls_for=sum(lesson.support.calls_for for lesson in group),
        sessions_for=max(len(sessions), *(lesson.support.sessions_for for lesson in group)),
        calls_against=sum(lesson.support.calls_against for lesson in group),
        sessions_against=max(lesson.support.sessions_against for lesson in group),
    )
    times = [lesson.first_seen for lesson in group if lesson.first_seen is not None]
    named = ", ".join(f"`{error}`" for error in errors[:_ERRORS])
    total = support.calls_for + support.calls_against
    return msgspec.structs.replace(
        first,
        text=f"`{first.scope.tool or first.topic}` fails with {named}; {first.difference} it works "
        f"({support.calls_for} of {total} times).",
        error=errors[0] if errors else first.error,
        signatures=tuple(dict.fromkeys(each for lesson in common for each in lesson.signatures)),
        forms=tuple(dict.fromkeys(each for lesson in common for each in lesson.forms)),
        files=tuple(dict.fromkeys(each for lesson in common for each in lesson.files)),
        support=support,
        first_seen=min(times, default=None),
        last_seen=max((lesson.last_seen for lesson in group if lesson.last_seen is not None), default=None),
        evidence=select_evidence(evidence),
        cost_seconds=sum(lesson.cost_seconds for lesson in group),
        cost_tokens=sum(lesson.cost_tokens for lesson in group),
        score=max(lesson.score for lesson in group),
    )


# Settles what lessons say about one thing, and limits their number
CAPS: dict[tuple[str, str], int] = {
    ("resume", ""): 1,
    ("convention", ""): 40,
    ("repair", ""): 30,
    ("dead_end", ""): 15,
    ("error", ""): 20,
    ("working_set", ""): 25,
    ("working_set", "folder"): 8,
    ("sequence", ""): 10,
    ("example", ""): 20,
}
"""By kind, and by a topic of its own where it has one: how many of a project are handed out at most."""
_WORKING = ("convention", "repair", "example")
"""Kinds whose `use` is a way that works."""
_COVERING = ("repair", "dead_end", "convention")
"""Kinds that say more of an error than that it may occur."""
_CASE = "…"
"""In a form: something was left out, so two calls of that form may be quite different."""

_SELDOM = 0.05
"""The share of sessions below which an error is hardly ever met."""

_replace: Callable[..., Lesson] = msgspec.structs.replace


def consolidate(lessons: list[Lesson], noted: Sequence[SessionNotes[OccurrenceNotes]] = ()) -> list[Lesson]:
    """The lessons of a project (or of all of them) as they may be handed out."""
    settled = _settle(sorted(map(_shorten, lessons), key=lambda lesson: lesson.id))
    settled = join_repairs(settled)
    # Before errors are weakened: a repair that is not handed out replaces no error.
    settled = _limit(settled, ("repair",))
    # Again and again: a repair that takes over signatures may cover another error, too.
    while (weakened := _weaken_covered(settled)) != settled:
        settled = weakened
    if noted:
        changing = sum(each.notes.changed_code for each in noted)
        settled = [_with_reach(lesson, noted, changing) for lesson in settled]
    return _limit(settled, tuple(kind for kind, _ in CAPS))


def _with_reach(lesson: Lesson, noted: Sequence[SessionNotes[OccurrenceNotes]], changing: int) -> Lesson:
    """With its reach; an error without a remedy that is hardly ever met is not worth telling."""
    lesson = _replace(lesson, reach=reach(lesson, noted))
    if lesson.kind == "convention":
        lesson = _replace(lesson, need=need(lesson, noted), changing=changing)
    if lesson.kind != "error" or lesson.status != "active" or lesson.pinned:
        return lesson
    often = occurrence_share(lesson, noted)
    if often is None or often >= _SELDOM:
        return lesson
    return _replace(lesson, status="weak", why=f"met in {often:.0%} of the newest sessions")


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what is handed out."""
    active = sum(1 for lesson in lessons if lesson.status == "active")
    return f"{format_count(active, 'lesson')} to hand out, {len(lessons) - active} put aside"


def _shorten(lesson: Lesson) -> Lesson:
    if len(lesson.evidence) <= MOST_EVIDENCE:
        return lesson
    return _replace(lesson, evidence=select_evidence(lesson.evidence))


def _settle(lessons: list[Lesson]) -> list[Lesson]:
    """Without the dead ends that work again, and with the ways that no longer work put aside."""
    ways = [lesson for lesson in lessons if lesson.kind in _WORKING and lesson.status == "active"]
    by_way: defaultdict[tuple[str, str], list[Lesson]] = defaultdict(list)
    for way in ways:
        for name in _names(way.use, way.forms):
            by_way[way.scope.project, name].append(way)
    removed: set[str] = set()
    failed: dict[str, str] = {}
    for dead in lessons:
        if dead.kind != "dead_end" or dead.status not in ("active", "weak"):
            continue
        opposed = [way for name in _names(dead.avoid, dead.forms) for way in by_way.get((dead.scope.project, name), ())]
        if any((way.last_seen or 0.0) >= (dead.last_seen or 0.0) for way in opposed) and not dead.pinned:
            removed.add(dead.id)
        elif dead.status == "active":
            failed.update((way.id, dead.id) for way in opposed if _is_same(way.use, dead.avoid) and not way.pinned)
    return [
        _replace(lesson, status="weak", why=f"failed since: see {failed[lesson.id]}") if lesson.id in failed else lesson
        for lesson in lessons
        if lesson.id not in removed
    ]


def _weaken_covered(lessons: list[Lesson]) -> list[Lesson]:
    """Errors whose repair is known, or that a dead end or a convention covers, become weak, and so do repairs of which a
    convention tells more; the best of those takes over what they cost and their signatures."""
    by_kind: defaultdict[str, defaultdict[tuple[str, tuple[str, ...]], list[Lesson]]]
    by_kind = defaultdict(lambda: defaultdict(list))
    for lesson in lessons:
        if lesson.kind in _COVERING and lesson.status == "active":
            for words in _words(lesson):
                by_kind[lesson.kind][lesson.scope.project, words].append(lesson)
    found = {lesson.id: lesson for lesson in lessons}
    for error in lessons:
        kinds = _covering_kinds(error)
        if not kinds or error.status != "active" or error.pinned:
            continue
        candidates = [
            [each for words in _words(error) for each in by_kind[kind].get((error.scope.project, words), ())]
            for kind in kinds
        ]
        covering = next(filter(None, candidates), None)
        if covering is None:
            continue
        best = found[min(covering, key=_worth).id]
        found[best.id] = _replace(
            best,
            cost_seconds=max(best.cost_seconds, error.cost_seconds),
            cost_tokens=max(best.cost_tokens, error.cost_tokens),
            signatures=tuple(dict.fromkeys((*best.signatures, *error.signatures))),
        )
        found[error.id] = _replace(error, status="weak", why=f"covered by {best.id}")
    return [found[lesson.id] for lesson in lessons]


def _covering_kinds(lesson: Lesson) -> tuple[str, ...]:
    """The kinds of lessons that may cover what this lesson says, the best first."""
    if lesson.kind == "error":
        return _COVERING
    bare = lesson.kind == "repair" and lesson.topic == "shell" and not (lesson.use or lesson.avoid or lesson.files)
    return ("convention",) if bare else ()


def _limit(lessons: list[Lesson], kinds: Iterable[str]) -> list[Lesson]:
    groups: defaultdict[tuple[str, str, str], list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        if lesson.status == "active" and lesson.kind in kinds:
            topic = lesson.topic if (lesson.kind, lesson.topic) in CAPS else ""
            groups[lesson.scope.project, lesson.kind, topic].append(lesson)
    surplus: dict[str, int] = {}
    for (_, kind, topic), group in groups.items():
        most = CAPS.get((kind, topic))
        if most is not None:
            surplus.update((lesson.id, most) for lesson in sorted(group, key=_worth)[most:] if not lesson.pinned)
    return [
        _replace(lesson, status="weak", why=f"{surplus[lesson.id]} others of its kind are worth more")
        if lesson.id in surplus
        else lesson
        for lesson in lessons
    ]


def _worth(lesson: Lesson) -> tuple[bool, float, float, float, str]:
    """Sorts what is worth most first."""
    return (not lesson.pinned, -lesson.score, -lesson.support.confidence, -(lesson.last_seen or 0.0), lesson.id)


def _names(command: str, forms: Iterable[str]) -> set[str]:
    """The names of a way: its command, and its forms that leave out no operand."""
    return {" ".join(name.split()) for name in (command, *forms) if name.strip() and _CASE not in name}


def _is_same(one: str, other: str) -> bool:
    return bool(one.strip()) and one.split() == other.split()


def _words(lesson: Lesson) -> set[tuple[str, ...]]:
    return {words for signature in lesson.signatures if (words := telling_words(signature))}


def learn(project: str, noted: Sequence[SessionNotes[OccurrenceNotes]]) -> list[Lesson]:
    """Nothing by itself: what occurred is for weighing what the others learned."""
    return []


CONSOLIDATE_EVENTS = Learner(
    "ConsolidateEvents",
    3,
    OccurrenceNotes,
    take_notes,
    learn,
    is_general=True,
    revise=consolidate,
    describe=describe,
    is_reviewer=True,
)
