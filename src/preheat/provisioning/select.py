"""Which lessons are worth giving to a session with this task, and how much each is worth there. Knows no budget.

`value = worth × need × scope × freshness × effect`, each between 0 and 1 (the effect, where it was measured, up to 1.5):
- worth: what it saves a session that needs it, `Lesson.score`; where nobody has set that, the lower bound of its success;
- likely: that this session has to do with it: as often as the sessions so far had (`Lesson.reach`). Where that is not known,
  what sessions do (`USUAL` kinds) is taken to be done as often as it was, and of other kinds it is a constant, `KINDS`.
  Words in common with the task lift it. What is less likely than the kind's `least` is not handed out, and need is
  `likely / (2 × least)`, at most 1;
- scope: 1 of this project, `ELSEWHERE` of no project in particular;
- freshness: halves with every half-life since it was last seen; of what does not perish by itself (`LASTING` kinds) half of
  it stays, for a project that nobody worked on did not change; effect: what a randomised comparison found.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preheat.model.lesson import LESSON_KINDS, Lesson, LessonKind
from preheat.provisioning.similarity import Words, similarities, words

LEAST_VALUE = 0.15
"""Below it a lesson costs more attention than it is worth: nothing is better than something far-fetched."""
SELDOM = "seldom needed here"
LEAST_CHOSEN = 0.02
"""The same for a template: a person has chosen what is in it."""
ELSEWHERE = 0.5
"""The weight of what was learned over several projects, or is in a template of another one."""
LIFT = 0.25
"""How far words in common with the task can lift the likelihood. Not far: over the shared projects they told what a session
would have to do with only a little better than chance."""
ALIKE = 0.8
"""Two lessons of one kind that share so many of their words say the same."""
TASK_READ = 8000
"""Characters of a task that are looked at; what it is about stands at its beginning."""
_EFFECT = 10.0
"""How much one mistake spared per call raises the value: five in a hundred, by half."""


USUALLY, PREVENTS = 0.4, 0.15
"""How likely a session must have to do with a lesson. What three of five sessions have nothing to do with only distracts. But a
mistake of an agent costs 370 tokens (the median of 964 in the shared projects; 700 on average), and a line that spares it 30
to 45: that pays if one session in ten meets it."""


class Kind(NamedTuple):
    """How lessons of a kind are handed out."""

    likely: float
    """How likely a session has to do with one, where nobody has counted."""
    least: float
    """What is less likely is not handed out."""
    most: int
    """So many at most: more items lower success rather than raise it."""


KINDS: dict[LessonKind, Kind] = {
    "resume": Kind(0.4, USUALLY, 1),
    "convention": Kind(0.7, USUALLY, 12),
    "repair": Kind(0.5, PREVENTS, 12),
    "dead_end": Kind(0.3, PREVENTS, 5),
    "error": Kind(0.3, PREVENTS, 6),
    "example": Kind(0.4, USUALLY, 3),
    "working_set": Kind(0.4, USUALLY, 8),
    "sequence": Kind(0.5, USUALLY, 2),
}
USUAL: frozenset[LessonKind] = frozenset(["convention", "example", "working_set"])
"""Kinds whose support counts the sessions that did it. Measured on projects in time order: later sessions do it as often."""
RULES = frozenset(["correction", "placement", "style"])
"""Topics of conventions that hold for every session, however few made them known."""
LASTING: frozenset[LessonKind] = frozenset(["convention", "repair", "error", "example", "sequence"])
SAID = frozenset(["correction", "style"])
"""Of those, the ones that are about no command and no file, so that nobody can count how often they apply."""


class Candidate(NamedTuple):
    """A lesson with what it is worth for the task."""

    lesson: Lesson
    value: float
    likely: float
    why: str


class Selection(NamedTuple):
    """The candidates, best first, and why the others are none."""

    candidates: list[Candidate]
    left_out: Counter[str]
    best: float
    """The highest value there was, taken or not."""
    least: float
    """The value that was asked for."""


def select(
    lessons: Sequence[Lesson],
    *,
    task: str,
    agent: str,
    project: str,
    now: float,
    sessions: int = 0,
    template: bool = False,
    examples: bool = False,
) -> Selection:
    """The lessons for a task; those of a template were chosen by a person, and so may be of another project. With `examples`
    calls are wanted for themselves, also those of a command that a convention tells already."""
    left_out: Counter[str] = Counter()
    fit = []
    for lesson in {each.id: each for each in lessons}.values():
        reason = _unfit(lesson, agent, project, now, template)
        if reason:
            left_out[reason] += 1
        else:
            fit.append(lesson)

    def here(lesson: Lesson) -> bool:
        return bool(lesson.scope.project) and (lesson.scope.project == project or (template and not project))

    near = similarities(words(task[:TASK_READ]), [_words_of(lesson) for lesson in fit])
    valued = [
        _valued(lesson, _likely(lesson, close, sessions), here(lesson), now)
        for lesson, close in zip(fit, near, strict=True)
    ]
    valued.sort(key=lambda each: (not each.lesson.pinned, -each.value, each.lesson.id))
    least = LEAST_CHOSEN if template else LEAST_VALUE
    needed = [each for each in valued if template or each.likely >= _least(each.lesson) or each.lesson.pinned]
    if len(needed) < len(valued):
        left_out[SELDOM] += len(valued) - len(needed)
    worth = [each for each in needed if each.value >= least or each.lesson.pinned]
    if len(worth) < len(needed):
        left_out["worth too little for this task"] += len(needed) - len(worth)
    few = _few(worth, left_out, examples)
    return Selection(few, left_out, max((each.value for each in valued), default=0.0), least)


def _unfit(lesson: Lesson, agent: str, project: str, now: float, template: bool) -> str:
    """Why a lesson cannot be handed out here, whatever the task; empty if it can."""
    # Weak means little support, and a person may vouch for it; nobody vouches for the rest by pinning.
    if lesson.status != "active" and not (lesson.status == "weak" and lesson.pinned):
        return lesson.status
    if lesson.expires_at is not None and lesson.expires_at <= now:
        return "expired"
    if lesson.scope.project not in ("", project) and not template:
        return "of another project"
    whose = lesson.scope.agent or (lesson.example.agent if lesson.example else "")
    if agent and whose and whose != agent:
        return "of another agent's tools"
    if lesson.kind == "example" and (lesson.example is None or not lesson.example.arguments):
        return "an example without a call"
    if lesson.utility is not None and lesson.utility < 0 and not lesson.pinned:
        return "does harm"
    return ""


def _words_of(lesson: Lesson) -> Words:
    parts = [lesson.topic, lesson.text, lesson.use, lesson.avoid, lesson.error, lesson.difference, lesson.scope.tool]
    parts += (*lesson.files, *lesson.forms, *lesson.steps)
    if lesson.packet is not None:
        parts += (lesson.packet.goal, *lesson.packet.files)
    return words("\n".join(parts))


def _valued(lesson: Lesson, likely: float, here: bool, now: float) -> Candidate:
    scope = 1.0 if here else ELSEWHERE
    worth = max(0.0, min(1.0, lesson.score or lesson.support.confidence))
    fresh = lesson.freshness(now)
    if lesson.kind in LASTING:
        fresh = 0.5 + fresh / 2
    effect = 1.0 if lesson.utility is None else max(0.0, min(1.5, 1 + _EFFECT * lesson.utility))
    need = min(1.0, likely / (2 * _least(lesson)))
    why = f"worth {worth:.2f} × need {need:.2f} (likely {likely:.2f}) × scope {scope:g} × fresh {fresh:.2f}"
    if lesson.utility is not None:
        why += f" × effect {effect:.2f}"
    value = round(worth * need * scope * fresh * effect, 6)
    return Candidate(lesson, value, likely, f"{why}{', pinned' if lesson.pinned else ''}")


def _least(lesson: Lesson) -> float:
    return KINDS[lesson.kind].least


def _likely(lesson: Lesson, close: float, sessions: int) -> float:
    """How likely a session with this task needs it."""
    anyway = KINDS[lesson.kind].likely
    if lesson.reach is not None and lesson.topic not in SAID:
        anyway = lesson.reach
    elif lesson.kind in USUAL and lesson.topic not in RULES and lesson.scope.project and sessions:
        anyway = min(1.0, lesson.support.sessions_for / sessions)
    return anyway + LIFT * (1 - anyway) * close


def _few(candidates: Iterable[Candidate], left_out: Counter[str], examples: bool) -> list[Candidate]:
    """The best of each kind, and of those that say the same only the better, which comes first."""
    kept: list[Candidate] = []
    uses: set[tuple[str, ...]] = set()
    said: dict[LessonKind, list[Words]] = {}
    told: set[str] = set()
    candidates = list(candidates)
    if not examples:  # a convention says in a line what an example shows in ten
        told = {form for each in candidates if each.lesson.kind == "convention" for form in each.lesson.forms}
    for each in candidates:
        lesson = each.lesson
        others = said.setdefault(lesson.kind, [])
        use = _remedy(lesson)
        shown = lesson.kind == "example" and not told.isdisjoint(lesson.forms)
        if len(others) >= KINDS[lesson.kind].most and not lesson.pinned:
            left_out["enough of its kind"] += 1
        elif use in uses or (shown and not lesson.pinned) or _repeated(lesson, others):
            left_out["says the same as another"] += 1
        else:
            if any(use):
                uses.add(use)
            others.append(_words_of(lesson))
            kept.append(each)
    return kept


def _remedy(lesson: Lesson) -> tuple[str, ...]:
    """What two lessons have in common that say the same. The same remedy for another mistake is another thing to know, but
    not if it is what a tool always wants: that was learned here and elsewhere."""
    if lesson.kind == "repair" and lesson.difference and lesson.topic != "shell":
        return (lesson.topic, lesson.scope.tool, lesson.difference)
    if lesson.kind == "example":  # a call is another thing than a line that names it: see `told`
        return ("example", lesson.use) if lesson.use else ()
    return (lesson.use, lesson.avoid or lesson.error) if lesson.use else ()


def _repeated(lesson: Lesson, others: Iterable[Words]) -> bool:
    """Whether another lesson has nearly the same words. Files that lie together have, and are different files."""
    own = _words_of(lesson)
    return lesson.kind != "working_set" and any(len(own & other) >= ALIKE * len(own | other) for other in others)


def place(lesson: Lesson) -> tuple[int, str, float, str]:
    """Where it stands among others: an order that does not change with values, so that a prompt cache survives them."""
    return LESSON_KINDS.index(lesson.kind), lesson.topic, lesson.first_seen or 0.0, lesson.id


def sessions_of(lessons: Iterable[Lesson], project: str) -> int:
    """How many sessions were learned from, at least: as many as any lesson of the project counts."""
    return max(
        (_counted(each) for each in lessons if each.scope.project and project in ("", each.scope.project)), default=0
    )


def _counted(lesson: Lesson) -> int:
    support = lesson.support
    if lesson.kind == "working_set":  # a session touched the file or it did not
        return support.sessions_for + support.sessions_against
    return max(support.sessions_for, support.sessions_against)
