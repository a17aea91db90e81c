"""Sequences: orders of calls that good stretches have more often than bad ones (LearnSequences). Knows no archive.

Each session counts once on each side. Fisher's exact test, one-sided, over every order of two to four shapes that occurs
often enough to be told from chance at all; false discoveries held at 5 % among them (Benjamini and Hochberg). Where nothing
is left, nothing is learned.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.stretches import Stretch, StretchNotes, take_notes
from preheat.model.lesson import Evidence, Lesson, Scope, Support, lesson_id, select_evidence
from preheat.statistics.fisher import fisher_one_sided
from preheat.statistics.multiplicity import benjamini_hochberg

LEVEL = 0.05
LENGTHS = (2, 3, 4)
_FEWEST = 5
"""Sessions on either side; with fewer no order can be distinguished from chance."""
_PROJECTS = 2

Steps: TypeAlias = tuple[str, ...]


class SessionSide(NamedTuple):
    """One session on one side."""

    session: str
    project: str
    good: bool
    steps: Steps


class SequenceFinding(NamedTuple):
    """One order of shapes that good sessions have more often."""

    steps: Steps
    good: int
    """Good sessions with this order, and all good sessions; then the bad ones."""
    all_good: int
    bad: int
    all_bad: int
    p_value: float
    q_value: float
    """The false discovery rate at which it is found."""
    orders_tested: int


def orders_in(steps: Steps) -> set[Steps]:
    """Every run of two to four neighbouring shapes."""
    return {steps[start : start + length] for length in LENGTHS for start in range(len(steps) - length + 1)}


def find_sequences(units: Iterable[SessionSide]) -> list[SequenceFinding]:
    """The orders that good sessions have more often than chance explains, the surest first."""
    has: tuple[Counter[Steps], Counter[Steps]] = (Counter(), Counter())
    count = [0, 0]
    for unit in units:
        count[unit.good] += 1
        has[unit.good].update(orders_in(unit.steps))
    if min(count) < _FEWEST:
        return []
    bad, good = has
    tested = _testable(
        {steps: good[steps] + bad[steps] for steps in good.keys() | bad.keys()}, count[True], count[False]
    )
    chances = [fisher_one_sided(good[steps], count[True], bad[steps], count[False]) for steps in tested]
    rates = benjamini_hochberg(chances)
    found = [
        SequenceFinding(steps, good[steps], count[True], bad[steps], count[False], chance, rate, len(tested))
        for steps, chance, rate in zip(tested, chances, rates, strict=True)
        if rate <= LEVEL
    ]
    return sorted(found, key=lambda each: (each.p_value, -len(each.steps), each.steps))


def _testable(totals: dict[Steps, int], good: int, bad: int) -> list[Steps]:
    """The orders that are frequent enough to pass if all who had them were good (after Tarone). That depends on how often they
    occur, not on where, and so choosing by it does no harm to the test."""
    best = {
        total: fisher_one_sided(min(total, good), good, max(0, total - good), bad) for total in set(totals.values())
    }
    kept = sorted(totals)
    while True:
        fewer = [steps for steps in kept if best[totals[steps]] <= LEVEL / len(kept)]
        if len(fewer) == len(kept):
            return kept
        kept = fewer


def learn(project: str, sessions: Sequence[SessionNotes[StretchNotes]]) -> list[Lesson]:
    """The orders of calls that stand out; over all projects only those that stand out in several."""
    units = [
        SessionSide(each.session, each.project, good, stretch.steps)
        for each in sessions
        for good, stretch in ((True, each.notes.good), (False, each.notes.bad))
        if stretch is not None
    ]
    found = find_sequences(units)
    if not project:
        found = [each for each in found if _in_several(each.steps, units)]
    return [_lesson(project, each, sessions) for each in _drop_overlapping(found)]


def _in_several(steps: Steps, units: Iterable[SessionSide]) -> bool:
    """Whether the good sessions of several projects have an order more often than the bad ones of the same project."""
    has: defaultdict[str, list[list[bool]]] = defaultdict(lambda: [[], []])
    for unit in units:
        has[unit.project][unit.good].append(steps in orders_in(unit.steps))
    return sum(bool(good) and bool(bad) and _share(good) > _share(bad) for bad, good in has.values()) >= _PROJECTS


def _share(values: list[bool]) -> float:
    return sum(values) / len(values)


def _drop_overlapping(found: Iterable[SequenceFinding]) -> list[SequenceFinding]:
    """The findings without those that contain, or are part of, one with a smaller p-value."""
    kept: list[SequenceFinding] = []
    for each in found:
        if not any(_is_part(each.steps, other.steps) or _is_part(other.steps, each.steps) for other in kept):
            kept.append(each)
    return kept


def _is_part(part: Steps, whole: Steps) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _lesson(project: str, found: SequenceFinding, sessions: Sequence[SessionNotes[StretchNotes]]) -> Lesson:
    scope = Scope(project=project)
    evidence: list[Evidence] = []
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in sessions:
        for against, stretch in ((False, each.notes.good), (True, each.notes.bad)):
            if stretch is not None and _is_part(found.steps, stretch.steps):
                evidence.append(_evidence(each, stretch, against))
                for step in found.steps:
                    forms[step][each.notes.forms.get(step, "")] += 1
    times = [each.at for each in evidence if each.at is not None]
    return Lesson(
        id=lesson_id("sequence", scope, *found.steps),
        kind="sequence",
        scope=scope,
        topic="before a check",
        text=_text(found),
        steps=found.steps,
        forms=tuple(dict.fromkeys(form for step in found.steps if (form := _commonest(forms[step])))),
        support=Support(found.good, found.good, found.bad, found.bad),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        evidence=select_evidence(evidence),
    )


def _evidence(each: SessionNotes[StretchNotes], stretch: Stretch, against: bool) -> Evidence:
    text = f"calls {stretch.first} to {stretch.last}, then {'a check failed' if against else 'it passed'}"
    return Evidence(each.session, stretch.last, stretch.at or each.ended_at, against, text)


def _commonest(counts: Counter[str]) -> str:
    return min(counts, key=lambda form: (-counts[form], form)) if counts else ""


def _text(found: SequenceFinding) -> str:
    shown = " → ".join(f"`{step}`" for step in found.steps)
    return (
        f"{shown}: before a check that passed in {found.good} of {found.all_good} sessions, before one that failed in "
        f"{found.bad} of {found.all_bad} (p {found.p_value:.2g}, q {found.q_value:.2g}, {found.orders_tested} orders tested)"
    )


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    if not lessons:
        return f"no order of calls stands out before checks that pass, at a false discovery rate of {LEVEL:.0%}"
    longest = max(len(each.steps) for each in lessons)
    return f"{len(lessons)} orders of up to {longest} calls that stand out before checks that pass"


LEARN_SEQUENCES = Learner(
    name="LearnSequences",
    version=1,
    notes_type=StretchNotes,
    take_notes=take_notes,
    learn=learn,
    is_general=True,
    describe=describe,
)
