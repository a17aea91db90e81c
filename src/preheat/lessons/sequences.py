"""LearnSequences: orders of calls that come before passing checks more often than before failing ones. Knows no archive.

A stretch is the calls between a prompt or a check and the next check, as shapes (`shape_of`). The check or commit that ends a
stretch is not part of it, nor is a look at the repository right before a commit: both would be found again as what makes a
stretch good. Each session counts once on each side. Fisher's exact test, one-sided, over every order of two to four shapes
that occurs often enough to differ from chance; false discoveries are held at 5 % (Benjamini and Hochberg).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.shell import command_aim, command_form
from preheat.commands import CHECKS, command_text
from preheat.lessons.learner import Learner, SessionNotes
from preheat.model.lesson import Evidence, Lesson, Scope, Support, lesson_id, select_evidence
from preheat.model.session import ToolCall, UserMessage
from preheat.safe_text.reasons import junk_reason
from preheat.statistics.shares import benjamini_hochberg, fisher_one_sided

# Stretches of a session
LONGEST = 20
"""Calls of a stretch: what lies further back has little to do with its end."""
MOST_STEPS = 12
"""Only the last shapes of a stretch count, so that long stretches do not contain more of everything."""
_CHECKS = frozenset(f"shell:{purpose}" for purpose in CHECKS)
_NAMED = frozenset([*CHECKS, "vcs", "package", "format"])
"""Purposes whose commands are named by program and subcommand; other commands are named by their purpose."""
_SAME = {"shell:read": "read", "shell:search": "search", "shell:edit": "edit", "write": "edit", "shell:list": "list"}
"""One shape for the same activity, whether a tool or a command does it."""
_LONGEST_SHAPE = 40


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    """The calls that lead to a check."""

    steps: tuple[str, ...]
    first: int
    """The places of its first and its last call."""
    last: int
    at: float | None


class StretchNotes(msgspec.Struct, frozen=True, array_like=True):
    """The last stretch of each sort: one of each, so that every session counts once on either side, however long it is."""

    good: Stretch | None = None
    bad: Stretch | None = None
    forms: dict[str, str] = {}
    """By shape: the form of a call of that shape."""


def take_notes(seen: JudgedSession) -> StretchNotes | None:
    """What a session's last good and its last bad stretch looked like."""
    kept = {good: calls for calls, good in _stretches(seen) if len(_steps(calls)) > 1}
    if not kept:
        return None
    forms = {shape_of(each): _form(seen, each) for side in sorted(kept) for each in kept[side]}
    return StretchNotes(_stretch(kept.get(True)), _stretch(kept.get(False)), dict(sorted(forms.items())))


def shape_of(each: JudgedCall) -> str:
    """The shape of a call: one or two words that mean the same in every session."""
    activity = each.record.activity
    if each.call.kind == "shell":
        purpose, *words = command_aim(command_text(each.call.input))
        name = " ".join(words)
        if purpose in _NAMED and words and len(name) <= _LONGEST_SHAPE and not junk_reason(name):
            return name
    elif activity == "other":
        return each.record.tool
    return _SAME.get(activity, activity)


def _steps(calls: list[JudgedCall]) -> tuple[str, ...]:
    """The shapes of the calls; what is done several times in a row counts once."""
    steps: list[str] = []
    for each in calls:
        step = shape_of(each)
        if steps[-1:] != [step]:
            steps.append(step)
    return tuple(steps[-MOST_STEPS:])


def _stretch(calls: list[JudgedCall] | None) -> Stretch | None:
    if calls is None:
        return None
    return Stretch(_steps(calls), calls[0].record.seq, calls[-1].record.seq, calls[-1].call.at)


def _stretches(seen: JudgedSession) -> Iterator[tuple[list[JudgedCall], bool]]:
    """The calls between a prompt or a check and the next check, and whether it went well.

    Good: the check passed (or a commit was made) and no mistake was made twice. Bad: it failed, a mistake was made twice, or
    the stretch broke off with a failure or because a person stopped it. One that just ends is neither."""
    for calls in _between_prompts(seen):
        current: list[JudgedCall] = []
        for each in calls:
            commits = _is_commit(each)
            if not (commits or each.record.activity in _CHECKS) or not (each.worked or each.failed):
                current.append(each)
                continue
            while commits and current and current[-1].record.activity == "shell:vcs":
                current.pop()
            yield current[-LONGEST:], each.worked and not _same_mistake_twice(current[-LONGEST:])
            current = []
        if current and (current[-1].failed or current[-1].record.status in ("denied", "interrupted")):
            yield current[-LONGEST:], False


def _between_prompts(seen: JudgedSession) -> Iterator[list[JudgedCall]]:
    known = {each.call.call_id: each for each in seen.calls}
    current: list[JudgedCall] = []
    for event in seen.events():
        if isinstance(event, UserMessage) and event.origin == "human":
            if current:
                yield current
            current = []
        elif isinstance(event, ToolCall) and event.call_id in known:
            current.append(known[event.call_id])
    if current:
        yield current


def _is_commit(each: JudgedCall) -> bool:
    return each.record.activity == "shell:vcs" and "commit" in command_aim(command_text(each.call.input))[2:]


def _same_mistake_twice(calls: list[JudgedCall]) -> bool:
    mistakes = Counter(each.record.signature for each in calls if each.failed and each.record.cause == "mistake")
    return any(count > 1 for count in mistakes.values())


def _form(seen: JudgedSession, each: JudgedCall) -> str:
    if each.call.kind != "shell":
        return each.record.tool
    return command_form(seen.relative(command_text(each.call.input))) or each.record.tool


# Orders that good sessions have more often than bad ones
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
        found = [each for each in found if _in_several_projects(each.steps, units)]
    return [_lesson(project, each, sessions) for each in _drop_overlapping(found)]


def _in_several_projects(steps: Steps, units: Iterable[SessionSide]) -> bool:
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
