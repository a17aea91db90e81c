"""Builds a template from what sessions taught. Pure: the same lessons and profiles give the same template, in any order.

Knows no archive, no store and no learner.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from preheat.model.lesson import LESSON_KINDS, Lesson
from preheat.model.profile import SessionProfile
from preheat.model.template import Extraction, Template, UserPattern
from preheat.templates.digest import canonical
from preheat.templates.names import check_name

MOST_EXAMPLES = 15
MOST_LESSONS = 200
"""What is never handed out only makes the choice worse."""
MOST_MARKERS = 20
GOOD_TOOL = 0.7
"""The share of a tool's calls that must have worked for the tool to count as preferred."""
_PREFERRED = 5
_DOMAINS = 3
_SAYS = re.compile(r"[^\W_]")
_NOT_HERE = re.compile(r"```|[/~\\]|\.\.|[A-Za-z]:[\\/](?!/)")
"""Code, and paths that do not begin in the project."""
_DETAILED = 120
"""Characters of an average message above which feedback is detailed: halfway between the seeds' terse and detailed."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be built, beside the lessons."""

    name: str
    description: str = ""
    addendum: str = ""
    tags: tuple[str, ...] = ()
    project: str = ""
    weak: bool = False
    """Whether lessons of little support come in too, as if a person vouched for them."""
    skipped: dict[str, int] = {}
    """Sessions that were left out, by reason."""
    filters: dict[str, str] = {}
    created_at: float | None = None


class Built(NamedTuple):
    """A template, and what did not get into it."""

    template: Template
    left_out: dict[str, int]
    """Lessons, by reason."""


def build(
    request: Request,
    lessons: Iterable[Lesson],
    profiles: Mapping[str, SessionProfile],
    unfit: Callable[[str], str] = lambda text: "",
) -> Built:
    """A template of these lessons; `profiles` are those of the sessions that taught them, by key. `unfit` says why a marker
    means nothing elsewhere."""
    left_out: Counter[str] = Counter()
    kept = _without_doubles(_wanted(lessons, request.weak, left_out), left_out)
    kept = _most(_few_examples(kept, left_out), left_out)
    agents = {profile.agent for profile in profiles.values()}
    template = Template(
        name=check_name(request.name),
        description=request.description,
        addendum=request.addendum,
        lessons=tuple(sorted(kept, key=lambda lesson: (LESSON_KINDS.index(lesson.kind), lesson.id))),
        markers=_markers(profiles.values(), unfit),
        user=_user(profiles, kept),
        tags=tuple(sorted(set(request.tags))),
        agent=agents.pop() if len(agents) == 1 else "",
        project=request.project,
        sources=tuple(sorted(profiles)),
        extraction=_extraction(profiles.values(), request),
        created_at=request.created_at,
    )
    return Built(template, dict(sorted(left_out.items())))


def _wanted(lessons: Iterable[Lesson], weak: bool, left_out: Counter[str]) -> list[Lesson]:
    found = []
    for lesson in lessons:
        if lesson.kind == "resume":
            left_out["where one session stopped"] += (
                1  # the next session wants to know; a template is for all later ones
            )
        elif lesson.status == "active":
            found.append(lesson)
        elif lesson.status == "weak" and (weak or lesson.pinned):
            found.append(replace(lesson, status="active", why=""))
        else:
            left_out[lesson.status] += 1
    return found


def _rank(lesson: Lesson) -> tuple[object, ...]:
    """The better one comes first; the id decides between equals."""
    support = lesson.support
    return (
        not lesson.pinned, -lesson.score, -support.confidence, -support.sessions_for, -(lesson.last_seen or 0.0), lesson.id
    )  # fmt: skip


def _key(lesson: Lesson) -> tuple[str, ...]:
    """What two lessons must have in common to be one. The same repair of another error is another lesson."""
    if lesson.example is not None:
        return (lesson.kind, lesson.example.tool, canonical(lesson.example.arguments).decode())
    if lesson.use:
        return (lesson.kind, " ".join(lesson.use.split()), lesson.avoid, lesson.error)
    return (lesson.kind, lesson.text)


def _without_doubles(lessons: list[Lesson], left_out: Counter[str]) -> list[Lesson]:
    best: dict[tuple[str, ...], Lesson] = {}
    ids: set[str] = set()
    for lesson in sorted(lessons, key=_rank):
        if _key(lesson) in best or lesson.id in ids:
            left_out["double"] += 1
        else:
            best[_key(lesson)] = lesson
            ids.add(lesson.id)
    return list(best.values())


def _few_examples(lessons: list[Lesson], left_out: Counter[str]) -> list[Lesson]:
    """At most so many examples, and of many tools: the best of each tool, then the second best, and so on."""
    by_tool: defaultdict[str, list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        if lesson.example is not None:
            by_tool[lesson.example.tool].append(lesson)
    groups = sorted(by_tool.values(), key=lambda group: _rank(group[0]))
    ordered = [each for row in zip_longest(*groups) for each in row if each is not None]
    chosen = {each.id for each in ordered[:MOST_EXAMPLES]}
    left_out["more examples than needed"] += max(0, len(ordered) - MOST_EXAMPLES)
    return [lesson for lesson in lessons if lesson.example is None or lesson.id in chosen]


def _most(lessons: list[Lesson], left_out: Counter[str]) -> list[Lesson]:
    left_out["beyond the best"] += max(0, len(lessons) - MOST_LESSONS)
    for reason in [reason for reason, number in left_out.items() if not number]:
        del left_out[reason]
    return sorted(lessons, key=_rank)[:MOST_LESSONS]


def _markers(profiles: Iterable[SessionProfile], unfit: Callable[[str], str]) -> tuple[str, ...]:
    """Paths in the project and addresses that most sessions referred to; of several sessions, what only one did is its own."""
    profiles = list(profiles)
    counts = Counter(marker for profile in profiles for marker in set(profile.context_markers))
    least = min(2, len(profiles))
    fit = [
        (-number, marker)
        for marker, number in counts.items()
        if number >= least and _SAYS.search(marker) and not _NOT_HERE.match(marker) and not unfit(marker)
    ]
    return tuple(marker for _, marker in sorted(fit)[:MOST_MARKERS])


def _user(profiles: Mapping[str, SessionProfile], lessons: Iterable[Lesson]) -> UserPattern:
    styles: Counter[str] = Counter()
    domains: Counter[str] = Counter()
    tools: defaultdict[str, Counter[str]] = defaultdict(Counter)
    characters, messages = 0.0, 0
    for profile in profiles.values():
        if profile.user.messages:
            styles[profile.user.style] += profile.user.messages
            characters += profile.user.average_length * profile.user.messages
            messages += profile.user.messages
        domains[profile.dominant_tool_type] += profile.calls
        for tool, use in profile.tools.items():
            tools[tool].update(calls=use.calls, errors=use.errors.count)
    good = {tool: one["calls"] for tool, one in tools.items() if one["errors"] < (1 - GOOD_TOOL) * one["calls"]}
    corrections = {
        (each.session, each.at, each.text)
        for lesson in lessons
        if lesson.topic == "correction"
        for each in lesson.evidence
    }
    return UserPattern(
        style=_common(styles, 1)[0] if styles else "unknown",
        feedback=_feedback(messages, characters, len(profiles), len(corrections)),
        domains=_common(domains, _DOMAINS),
        preferred_tools=_common(good, _PREFERRED),
    )


def _feedback(messages: int, characters: float, sessions: int, corrections: int) -> str:
    """By what came after the first message of each session, as far as that can be told."""
    if not messages:
        return "unknown"
    later = messages - sessions
    if later >= 3 and corrections * 2 >= later:
        return "corrections_only"
    return "detailed" if characters / messages > _DETAILED else "terse"


def _common(counts: Mapping[str, int], most: int) -> tuple[str, ...]:
    return tuple(name for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most] if number)


def _extraction(profiles: Iterable[SessionProfile], request: Request) -> Extraction:
    sessions, calls, errors, mistakes = 0, 0, Counter[str](), Counter[str]()
    for profile in profiles:
        sessions += 1
        calls += profile.calls
        errors.update(count=profile.errors.count, total=profile.errors.total)
        mistakes.update(count=profile.mistakes.count, total=profile.mistakes.total)
    return Extraction(
        sessions=sessions,
        calls=calls,
        error_rate=_share(errors),
        mistake_rate=_share(mistakes),
        skipped=dict(sorted(request.skipped.items())),
        settings=dict(sorted(request.filters.items())),
    )


def _share(counts: Counter[str]) -> float | None:
    return round(counts["count"] / counts["total"], 6) if counts["total"] else None
