"""Builds a template from lessons. Pure: the same lessons and profiles give the same template, in any order.

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
from preheat.model.template import Template, TemplateOrigin, UserPattern
from preheat.templates.names import canonical_json, check_name

MOST_EXAMPLES = 15
MOST_LESSONS = 200
"""More lessons than are ever handed out only make the choice worse."""
MOST_MARKERS = 20
GOOD_TOOL = 0.7
"""The share of successful calls from which a tool counts as preferred."""
_MOST_TOOLS = 5
_MOST_DOMAINS = 3
_LETTER = re.compile(r"[^\W_]")
_FOREIGN = re.compile(r"```|[/~\\]|\.\.|[A-Za-z]:[\\/](?!/)")
"""Code, and paths that are not relative to the project."""
_DETAILED_LENGTH = 120
"""Characters of an average message above which feedback is detailed: halfway between the seeds' terse and detailed."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of a template to be built, beside its lessons."""

    name: str
    description: str = ""
    addendum: str = ""
    tags: tuple[str, ...] = ()
    project: str = ""
    weak: bool = False
    """Whether lessons of little support get in too."""
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
    """Build a template of these lessons; `profiles` are those of the sessions that taught them, by key. `unfit` says why a marker
    must not get in."""
    left_out: Counter[str] = Counter()
    kept = _unique(_usable(lessons, request.weak, left_out), left_out)
    kept = _limit_lessons(_limit_examples(kept, left_out), left_out)
    agents = {profile.agent for profile in profiles.values()}
    template = Template(
        name=check_name(request.name),
        description=request.description,
        addendum=request.addendum,
        lessons=tuple(sorted(kept, key=lambda lesson: (LESSON_KINDS.index(lesson.kind), lesson.id))),
        markers=_markers(profiles.values(), unfit),
        user=_user_pattern(profiles, kept),
        tags=tuple(sorted(set(request.tags))),
        agent=agents.pop() if len(agents) == 1 else "",
        project=request.project,
        sources=tuple(sorted(profiles)),
        extraction=_extraction(profiles.values(), request),
        created_at=request.created_at,
    )
    return Built(template, dict(sorted(left_out.items())))


def _usable(lessons: Iterable[Lesson], weak: bool, left_out: Counter[str]) -> list[Lesson]:
    found = []
    for lesson in lessons:
        if lesson.kind == "resume":
            left_out["where one session stopped"] += 1  # of use to the next session only
        elif lesson.status == "active":
            found.append(lesson)
        elif lesson.status == "weak" and (weak or lesson.pinned):
            found.append(replace(lesson, status="active", why=""))
        else:
            left_out[lesson.status] += 1
    return found


def _rank(lesson: Lesson) -> tuple[object, ...]:
    """The sort key of lessons, the best first; the id decides between equals."""
    support = lesson.support
    return (
        not lesson.pinned, -lesson.score, -support.confidence, -support.sessions_for, -(lesson.last_seen or 0.0), lesson.id
    )  # fmt: skip


def _key(lesson: Lesson) -> tuple[str, ...]:
    """The key by which two lessons are the same. The same repair of another error is another lesson."""
    if lesson.example is not None:
        return (lesson.kind, lesson.example.tool, canonical_json(lesson.example.arguments).decode())
    if lesson.use:
        return (lesson.kind, " ".join(lesson.use.split()), lesson.avoid, lesson.error)
    return (lesson.kind, lesson.text)


def _unique(lessons: list[Lesson], left_out: Counter[str]) -> list[Lesson]:
    best: dict[tuple[str, ...], Lesson] = {}
    ids: set[str] = set()
    for lesson in sorted(lessons, key=_rank):
        if _key(lesson) in best or lesson.id in ids:
            left_out["double"] += 1
        else:
            best[_key(lesson)] = lesson
            ids.add(lesson.id)
    return list(best.values())


def _limit_examples(lessons: list[Lesson], left_out: Counter[str]) -> list[Lesson]:
    """The best `MOST_EXAMPLES` examples, spread over the tools: the best of each, then the second best, and so on."""
    by_tool: defaultdict[str, list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        if lesson.example is not None:
            by_tool[lesson.example.tool].append(lesson)
    groups = sorted(by_tool.values(), key=lambda group: _rank(group[0]))
    ordered = [each for row in zip_longest(*groups) for each in row if each is not None]
    chosen = {each.id for each in ordered[:MOST_EXAMPLES]}
    left_out["more examples than needed"] += max(0, len(ordered) - MOST_EXAMPLES)
    return [lesson for lesson in lessons if lesson.example is None or lesson.id in chosen]


def _limit_lessons(lessons: list[Lesson], left_out: Counter[str]) -> list[Lesson]:
    left_out["beyond the best"] += max(0, len(lessons) - MOST_LESSONS)
    for reason in [reason for reason, number in left_out.items() if not number]:
        del left_out[reason]
    return sorted(lessons, key=_rank)[:MOST_LESSONS]


def _markers(profiles: Iterable[SessionProfile], unfit: Callable[[str], str]) -> tuple[str, ...]:
    """The paths in the project and addresses that sessions referred to most; of several sessions, at least two must."""
    profiles = list(profiles)
    counts = Counter(marker for profile in profiles for marker in set(profile.context_markers))
    least = min(2, len(profiles))
    fit = [
        (-number, marker)
        for marker, number in counts.items()
        if number >= least and _LETTER.search(marker) and not _FOREIGN.match(marker) and not unfit(marker)
    ]
    return tuple(marker for _, marker in sorted(fit)[:MOST_MARKERS])


def _user_pattern(profiles: Mapping[str, SessionProfile], lessons: Iterable[Lesson]) -> UserPattern:
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
        style=_most_common(styles, 1)[0] if styles else "unknown",
        feedback=_feedback(messages, characters, len(profiles), len(corrections)),
        domains=_most_common(domains, _MOST_DOMAINS),
        preferred_tools=_most_common(good, _MOST_TOOLS),
    )


def _feedback(messages: int, characters: float, sessions: int, corrections: int) -> str:
    """The person's style of feedback, by the messages after the first of each session."""
    if not messages:
        return "unknown"
    later = messages - sessions
    if later >= 3 and corrections * 2 >= later:
        return "corrections_only"
    return "detailed" if characters / messages > _DETAILED_LENGTH else "terse"


def _most_common(counts: Mapping[str, int], most: int) -> tuple[str, ...]:
    return tuple(name for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most] if number)


def _extraction(profiles: Iterable[SessionProfile], request: Request) -> TemplateOrigin:
    sessions, calls, errors, mistakes = 0, 0, Counter[str](), Counter[str]()
    for profile in profiles:
        sessions += 1
        calls += profile.calls
        errors.update(count=profile.errors.count, total=profile.errors.total)
        mistakes.update(count=profile.mistakes.count, total=profile.mistakes.total)
    return TemplateOrigin(
        sessions=sessions,
        calls=calls,
        error_rate=_share(errors),
        mistake_rate=_share(mistakes),
        skipped=dict(sorted(request.skipped.items())),
        settings=dict(sorted(request.filters.items())),
    )


def _share(counts: Counter[str]) -> float | None:
    return round(counts["count"] / counts["total"], 6) if counts["total"] else None
