"""Which lessons a session with this task is given: similarity to the task, value of each lesson, and what fits the budget.

`value = worth × need × scope × freshness × effect`, each between 0 and 1 (the effect, where it was measured, up to 1.5):
- worth: what the lesson saves a session that needs it, `Lesson.score`; where that is not set, the lower bound of its success;
- likely: how likely this session needs it: the share of earlier sessions that did (`Lesson.reach`); where that is unknown, the
  share of sessions that did it (`USUAL` kinds) or a constant per kind (`KINDS`). Words in common with the task raise it. A
  lesson less likely than the `least` of its kind is left out; need is `likely / (2 × least)`, at most 1;
- scope: 1 for this project, `ELSEWHERE` for no project in particular;
- freshness: halves with every half-life since the lesson was last seen; kinds in `LASTING` keep at least half;
- effect: what a randomised comparison found.

Knows no wording and no clock.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log, sqrt
from typing import NamedTuple

from preheat.calls.words import words_in
from preheat.model.context import ContextLesson
from preheat.model.lesson import LESSON_KINDS, Lesson, LessonKind
from preheat.provisioning.fact_text import is_fact

# Similarity of a lesson to a task
Words = frozenset[str]

_ENDINGS = ("ing", "ed", "s")
_LEAST_STEM = 4
_SATURATION, _LENGTH = 1.2, 0.6
"""The two constants of BM25; each word counts once here."""
_SHORT_TASK = 20
"""Words up to which the length of a task is not corrected for."""


@lru_cache(maxsize=16384)
def content_words(text: str) -> Words:
    """The telling words of a text, in lower case and without endings."""
    return frozenset(map(_stem, words_in(text)))


def similarities(task: Words, documents: Sequence[Words]) -> list[float]:
    """For each document, from 0 (no word in common) towards 1; one word that no other document has gives about 0.5.

    Independent of the number of documents (a word is weighed against the rarest possible word) and of the length of the task."""
    shared = [task & document for document in documents]
    frequency = Counter(word for common in shared for word in common)
    count = len(documents)
    rarity = {word: _rarity(times, count) for word, times in frequency.items()}
    unit = _rarity(1, count) * max(1.0, sqrt(len(task) / _SHORT_TASK))
    usual = sum(map(len, documents)) / count if count else 0.0
    found = []
    for document, common in zip(documents, shared, strict=True):
        if not common:
            found.append(0.0)
            continue
        length = 1 - _LENGTH + _LENGTH * len(document) / usual
        weight = (_SATURATION + 1) / (1 + _SATURATION * length)
        # Sorted, because the order of addition changes the last digit.
        score = weight * sum([rarity[word] for word in sorted(common)]) / unit
        found.append(score / (1 + score))
    return found


def _rarity(documents: int, count: int) -> float:
    return log(1 + (count - documents + 0.5) / (documents + 0.5))


def _stem(word: str) -> str:
    """`parse`, `parses`, `parsed` and `parsing` are one word."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if word.endswith("e") and len(word) > _LEAST_STEM else word


# Chooses the items with the most value that fit a budget of tokens.
def pack(items: Sequence[ContextLesson], budget: int, first: frozenset[str] = frozenset()) -> list[ContextLesson]:
    """The items that fit, in their original order; items of the lessons in `first` are chosen before all others."""
    by_density = _fill(
        sorted(items, key=lambda each: (each.lesson not in first, -each.value / each.tokens, each.lesson)), budget
    )
    by_value = _fill(sorted(items, key=lambda each: (each.lesson not in first, -each.value, each.lesson)), budget)
    chosen = {each.lesson for each in (by_density if _total_value(by_density) >= _total_value(by_value) else by_value)}
    return [each for each in items if each.lesson in chosen]


def _fill(ordered: Sequence[ContextLesson], budget: int) -> list[ContextLesson]:
    taken = []
    for each in ordered:
        if each.tokens <= budget:
            taken.append(each)
            budget -= each.tokens
    return taken


def _total_value(items: Sequence[ContextLesson]) -> float:
    return sum(each.value for each in items)


# Which lessons a session with this task should get, and the value of each.
LEAST_VALUE = 0.15
"""The value below which a lesson is left out: it would cost more attention than it is worth."""
SELDOM_NEEDED = "seldom needed here"
LEAST_TEMPLATE_VALUE = 0.02
"""The same for lessons of a template, which a person has chosen."""
ELSEWHERE = 0.5
"""The scope of a lesson from several projects, or from a template of another project."""
LIFT = 0.25
"""How far words in common with the task can raise the likelihood. Not far: in the shared projects they predicted need only a
little better than chance."""
DUPLICATE_SHARE = 0.8
"""Two lessons of one kind that share so many of their words are duplicates."""
TASK_CHARACTERS = 8000
"""Characters of a task that are read; its subject stands at the beginning."""
_EFFECT_WEIGHT = 10.0
"""How much one prevented mistake per call raises the value: five in a hundred calls, by half."""


LEAST_IF_USUAL, LEAST_IF_PREVENTING = 0.4, 0.15
"""How likely a session must need a lesson. One that three of five sessions do not need only distracts. But a mistake of an agent
costs 370 tokens (median of 964 in the shared projects; 700 on average), and a line that prevents it 30 to 45: that pays if one
session in ten needs it."""


_LEAST_AT_START: defaultdict[str, float] = defaultdict(lambda: 0.3, convention=0.5, resume=0.0)
"""How likely a session must need what it is told before anything is asked."""
_AT_START = frozenset(["convention", "repair", "resume"])
"""Kinds of lessons that are told before anything is asked. That something never worked is said before it is tried again: it names
no other way."""
_ONE_CASE = ("&&", "|", "…", ";")
"""What makes a command one for a single case, or leaves a gap in it."""
_OF_FOLDER = "the shell stays"
"""In the difference of a repair: it depends on where earlier calls of the session went."""
_CHECKING = re.compile(r"\b(?:tests?|\w*test|spec|lint\w*|type-?check|check|build|compile|tsc|mypy|ruff|clippy|vet)\b")
"""A command by which a project is checked, by its words: no parser is loaded for the start of a session."""
_FEWEST_REPAIRS = 3
"""Times that a repair was seen to work, for it to be said before anything is asked."""
_LEAST_OF_CHECKS = 0.6
"""The same for a check: a session that changes code is told of it then."""
_CHECKS = frozenset(["test", "build", "lint", "typecheck", "format", "check"])
_ONE_FOLDER = re.compile(r"\s\./\w|\b(?:FOLDER|VALUE)\b")
"""An argument that makes a check one of a part of the project, or one that nobody can run as it stands."""
_ASKED = 0.8
"""How likely a session needs a fact that its task asks for."""
_LEAST_OF_OWN_TOOLS = 0.35
_AT_CHANGES = frozenset(["generate"])
"""Topics that are told when a file is changed that they are about."""
_GOES_BELOW = (" files go below ", " tests stand below ")
"""Where new files of a kind go: told before one is made elsewhere."""
_VAGUE_TOPICS = frozenset(["", "other", "run"])
"""Topics of commands that were run, for whatever aim."""


class Kind(NamedTuple):
    """How lessons of a kind are chosen."""

    likely: float
    """How likely a session needs one, where it was not counted."""
    least: float
    """The likelihood below which a lesson is left out."""
    most: int
    """The most lessons of the kind: more items lower success."""


KINDS: dict[LessonKind, Kind] = {
    "resume": Kind(0.4, LEAST_IF_USUAL, 1),
    "convention": Kind(0.7, LEAST_IF_USUAL, 12),
    "repair": Kind(0.5, LEAST_IF_PREVENTING, 12),
    "dead_end": Kind(0.3, LEAST_IF_PREVENTING, 5),
    "error": Kind(0.3, LEAST_IF_PREVENTING, 6),
    "example": Kind(0.4, LEAST_IF_USUAL, 3),
    "working_set": Kind(0.4, LEAST_IF_USUAL, 8),
    "sequence": Kind(0.5, LEAST_IF_USUAL, 2),
}
USUAL: frozenset[LessonKind] = frozenset(["convention", "example", "working_set"])
"""Kinds whose support counts the sessions that did it; later sessions do it as often (measured on projects in time order)."""
RULE_TOPICS = frozenset(["correction", "placement", "style"])
"""Topics of conventions that hold for every session, however few sessions showed them."""
LASTING: frozenset[LessonKind] = frozenset(["convention", "repair", "error", "example", "sequence"])
UNCOUNTED_TOPICS = frozenset(["correction", "style"])
"""Topics about no command and no file, so that their need cannot be counted."""


class Candidate(NamedTuple):
    """A lesson with its value for the task."""

    lesson: Lesson
    value: float
    likely: float
    why: str


class Selection(NamedTuple):
    """The candidates, best first, and why other lessons were left out."""

    candidates: list[Candidate]
    left_out: Counter[str]
    best: float
    """The highest value of all lessons, chosen or not."""
    least: float
    """The least value that was required."""


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
    asked: frozenset[str] = frozenset(),
    at_start: bool = False,
) -> Selection:
    """The lessons for a task. Lessons of a template were chosen by a person, and may be of another project. With `examples`,
    examples are chosen even if a convention names the same command. `asked`: ids of the facts that are said to every session of
    the project or that the task's words or files ask for; no others are. `at_start`: for every task; what a prompt or a call will
    ask for comes then."""
    left_out: Counter[str] = Counter()
    fit = []
    in_use = {name for each in lessons if project and each.scope.project == project for name in _programs_of(each)}
    for lesson in {each.id: each for each in lessons}.values():
        reason = _unfit_reason(lesson, agent, project, now, template)
        if not template and not lesson.pinned and _is_of_other_programs(lesson, in_use):
            reason = reason or "of programs that are not in use here"
        if not lesson.pinned and (
            _is_left_to_moments(lesson, asked, template)
            or (at_start and lesson.id not in asked and not _is_for_every_task(lesson))
        ):
            reason = reason or "said when a prompt or a call asks for it"
        if reason:
            left_out[reason] += 1
        else:
            fit.append(lesson)

    def here(lesson: Lesson) -> bool:
        return bool(lesson.scope.project) and (lesson.scope.project == project or (template and not project))

    near = similarities(content_words(task[:TASK_CHARACTERS]), [_words_of(lesson) for lesson in fit])
    valued = [
        _make_candidate(
            lesson, max(_estimate_likelihood(lesson, close, sessions), _ASKED * (lesson.id in asked)), here(lesson), now
        )
        for lesson, close in zip(fit, near, strict=True)
    ]
    valued.sort(key=lambda each: (not each.lesson.pinned, -each.value, each.lesson.id))
    least = LEAST_TEMPLATE_VALUE if template else LEAST_VALUE
    needed = [
        each
        for each in valued
        if template
        or each.lesson.pinned
        or each.lesson.id in asked
        or each.likely >= max(_least_likelihood(each.lesson), _least_at_start(each.lesson) if at_start else 0.0)
    ]
    if len(needed) < len(valued):
        left_out[SELDOM_NEEDED] += len(valued) - len(needed)
    worth = [each for each in needed if each.value >= least or each.lesson.pinned or each.lesson.id in asked]
    if len(worth) < len(needed):
        left_out["worth too little for this task"] += len(needed) - len(worth)
    few = _best_of_each_kind(worth, left_out, examples)
    return Selection(few, left_out, max((each.value for each in valued), default=0.0), least)


def _unfit_reason(lesson: Lesson, agent: str, project: str, now: float, template: bool) -> str:
    """Why a lesson cannot be given here, whatever the task; empty if it can."""
    # Weak means little support: a person may pin such a lesson, but none of another status.
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


def _is_of_other_programs(lesson: Lesson, in_use: set[str]) -> bool:
    """Whether a lesson on commands comes from other projects and none of its programs is in use here. It is not lost: when such a
    command is about to run, or fails, the live signals know it."""
    is_foreign = not lesson.scope.project and lesson.topic == "shell"
    return is_foreign and in_use.isdisjoint(_programs_of(lesson))


def _programs_of(lesson: Lesson) -> set[str]:
    """The programs of a lesson's commands."""
    return {command.split()[0] for command in (*lesson.forms, lesson.use, lesson.avoid) if command.strip()}


def _words_of(lesson: Lesson) -> Words:
    parts = [lesson.topic, lesson.text, lesson.use, lesson.avoid, lesson.error, lesson.difference, lesson.scope.tool]
    parts += (*lesson.files, *lesson.forms, *lesson.steps)
    if lesson.packet is not None:
        parts += (lesson.packet.goal, *lesson.packet.files)
    return content_words("\n".join(parts))


def _make_candidate(lesson: Lesson, likely: float, here: bool, now: float) -> Candidate:
    scope = 1.0 if here else ELSEWHERE
    worth = max(0.0, min(1.0, lesson.score or lesson.support.confidence))
    fresh = lesson.freshness(now)
    if lesson.kind in LASTING:
        fresh = 0.5 + fresh / 2
    effect = 1.0 if lesson.utility is None else max(0.0, min(1.5, 1 + _EFFECT_WEIGHT * lesson.utility))
    need = min(1.0, likely / (2 * _least_likelihood(lesson)))
    why = f"worth {worth:.2f} × need {need:.2f} (likely {likely:.2f}) × scope {scope:g} × fresh {fresh:.2f}"
    if lesson.utility is not None:
        why += f" × effect {effect:.2f}"
    value = round(worth * need * scope * fresh * effect, 6)
    return Candidate(lesson, value, likely, f"{why}{', pinned' if lesson.pinned else ''}")


def _least_likelihood(lesson: Lesson) -> float:
    """A repair of an agent's own tool says what the tool's error says: only where many sessions here fall for it."""
    return max(KINDS[lesson.kind].least, _LEAST_OF_OWN_TOOLS if _is_of_own_tool(lesson) else 0.0)


def _least_at_start(lesson: Lesson) -> float:
    is_check = lesson.kind == "convention" and lesson.topic in _CHECKS
    return _LEAST_OF_CHECKS if is_check else _LEAST_AT_START[lesson.kind]


def _is_left_to_moments(lesson: Lesson, asked: frozenset[str], template: bool) -> bool:
    """Whether a lesson is a fact that nothing asks for yet; a person's own words, and what a person chose, wait for nothing."""
    return is_fact(lesson) and lesson.id not in asked and lesson.author != "person" and not template


def _is_for_every_task(lesson: Lesson) -> bool:
    """Whether a lesson may be told before anything is asked: nothing that an agent's own tool says itself, that a lock file
    shows, or of which only is known that it was run."""
    is_vague = lesson.kind == "convention" and lesson.topic in _VAGUE_TOPICS and not lesson.avoid
    if lesson.kind == "convention" and (
        lesson.topic in _AT_CHANGES or any(each in lesson.text for each in _GOES_BELOW)
    ):
        return False
    if lesson.kind == "convention" and _ONE_FOLDER.search(lesson.use) and lesson.topic in _CHECKS:
        return False
    if lesson.kind == "repair" and not _is_repair_for_all(lesson):
        return False
    return lesson.kind in _AT_START and lesson.topic != "runner" and not is_vague and not _is_of_own_tool(lesson)


def _is_repair_for_all(lesson: Lesson) -> bool:
    """Whether a repair holds for a session that has done nothing yet and was seen more than by chance: how the project's checks
    are run. What else failed is said before it is tried again."""
    is_of_case = any(sign in lesson.avoid for sign in _ONE_CASE) or _OF_FOLDER in lesson.difference
    is_seen = lesson.support.calls_for >= _FEWEST_REPAIRS and not lesson.use.startswith("/")
    return is_seen and not is_of_case and _CHECKING.search(lesson.use) is not None


def _is_of_own_tool(lesson: Lesson) -> bool:
    """Whether a lesson says of an agent's own tool what that says itself when it fails."""
    return lesson.kind in ("repair", "error") and lesson.topic != "shell" and bool(lesson.scope.tool)


def _estimate_likelihood(lesson: Lesson, close: float, sessions: int) -> float:
    """How likely a session with this task needs a lesson."""
    anyway = KINDS[lesson.kind].likely
    if lesson.reach is not None and lesson.topic not in UNCOUNTED_TOPICS:
        anyway = lesson.reach
    elif lesson.kind in USUAL and lesson.topic not in RULE_TOPICS and lesson.scope.project and sessions:
        anyway = min(1.0, lesson.support.sessions_for / sessions)
    return anyway + LIFT * (1 - anyway) * close


def _best_of_each_kind(candidates: Iterable[Candidate], left_out: Counter[str], examples: bool) -> list[Candidate]:
    """The best candidates of each kind, without duplicates; the better candidate comes first."""
    kept: list[Candidate] = []
    uses: set[tuple[str, ...]] = set()
    words_by_kind: dict[LessonKind, list[Words]] = {}
    covered_forms: set[str] = set()
    candidates = list(candidates)
    if not examples:  # a convention needs one line where an example needs ten
        covered_forms = {form for each in candidates if each.lesson.kind == "convention" for form in each.lesson.forms}
    for each in candidates:
        lesson = each.lesson
        others = words_by_kind.setdefault(lesson.kind, [])
        use = _content_key(lesson)
        is_covered = lesson.kind == "example" and not covered_forms.isdisjoint(lesson.forms)
        if len(others) >= KINDS[lesson.kind].most and not lesson.pinned:
            left_out["enough of its kind"] += 1
        elif use in uses or (is_covered and not lesson.pinned) or _is_duplicate(lesson, others):
            left_out["says the same as another"] += 1
        else:
            if any(use):
                uses.add(use)
            others.append(_words_of(lesson))
            kept.append(each)
    return kept


def _content_key(lesson: Lesson) -> tuple[str, ...]:
    """A key that is equal for lessons with the same content. The same remedy for another mistake is another lesson, except for
    what a tool always requires."""
    if lesson.kind == "repair" and lesson.difference and lesson.topic != "shell":
        return (lesson.topic, lesson.scope.tool, lesson.difference)
    if lesson.kind == "example":  # never equal to a convention: see `covered_forms`
        return ("example", lesson.use) if lesson.use else ()
    return (lesson.use, lesson.avoid or lesson.error) if lesson.use else ()


def _is_duplicate(lesson: Lesson, others: Iterable[Words]) -> bool:
    """Whether another lesson has nearly the same words; never for files, whose paths are alike."""
    own = _words_of(lesson)
    return lesson.kind != "working_set" and any(
        len(own & other) >= DUPLICATE_SHARE * len(own | other) for other in others
    )


_SAID = (
    "check", "test", "lint", "typecheck", "format", "build", "checks", "serve", "generate", "setup", "variable", "hook", "commit",
    "release", "branch", "pull_request", "missing",
)  # fmt: skip
"""Topics of facts in the order in which they are read: how the work is checked, made, committed and handed in."""
_PLACES = {topic: place for place, topic in enumerate(_SAID)}


def display_order(lesson: Lesson) -> tuple[bool, int, int, bool, str, float, str]:
    """The sort key of a lesson in a context, a person's own first: independent of values, so that a prompt cache stays valid."""
    place = _PLACES.get(lesson.topic, len(_SAID)) if lesson.kind == "convention" else 0
    is_learned = lesson.author != "person"
    is_part = lesson.details.get("about", lesson.topic) != lesson.topic
    return (
        is_learned,
        LESSON_KINDS.index(lesson.kind),
        place,
        is_part,
        lesson.topic,
        lesson.first_seen or 0.0,
        lesson.id,
    )


def sessions_of(lessons: Iterable[Lesson], project: str) -> int:
    """The least number of sessions that were learned from: the most that any lesson of the project counts."""
    return max(
        (_session_count(each) for each in lessons if each.scope.project and project in ("", each.scope.project)),
        default=0,
    )


def _session_count(lesson: Lesson) -> int:
    support = lesson.support
    if lesson.kind == "working_set":  # every session counts for or against the file
        return support.sessions_for + support.sessions_against
    return max(support.sessions_for, support.sessions_against)
