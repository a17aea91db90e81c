"""A proposal for a project's instructions file: the lines that it lacks and the lines that are stale.

Pure: the text of the file, the lessons and the record of its commands go in, the changed text comes out. Knows no file, no git.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from preheat.amounts import format_count
from preheat.model.lesson import Lesson, LessonKind, Support
from preheat.provisioning.lesson_text import describe_lesson
from preheat.stated import Statements, Words, read_statements

HEADING = "## How things are done here"
_KINDS: tuple[LessonKind, ...] = ("convention", "repair", "dead_end")
"""What is worth a line in a file: no state of one session, no statistics of files."""
_MOST_LINES = 25
_LEAST_FAILURES = 3
"""A command that failed this many times in a row, in two sessions or more, is stale."""
_MARK = "<!-- Preheat: "
_COUNTS = re.compile(r" \((?:not found )?(?:once|twice|[\d,]+ times|[\d,]+ of [\d,]+)\b[^()`]*\)")


class CommandRun(NamedTuple):
    """One call of a single command in the project, in time order."""

    words: Words
    works: bool
    """Whether the command itself worked, whatever it found."""
    session: str
    at: float | None


class ProposedLine(NamedTuple):
    """A line that the file lacks."""

    lesson: str
    """The id of the lesson."""
    text: str
    evidence: str
    """`8 of 8 calls in 4 sessions, last 2026-05-03`."""


class StaleLine(NamedTuple):
    """A line of the file whose command fails, or whose path is gone."""

    line: int
    """Its number, from 1."""
    command: str
    """The command, or the path."""
    why: str
    """"`npm test` has failed 8 of 8 times since 2026-05-03"."""


class Proposal(NamedTuple):
    """What should change in the file."""

    after: str
    """The whole text with the changes."""
    lines: tuple[ProposedLine, ...]
    stale: tuple[StaleLine, ...]
    stated: int
    """Lessons that the file states already."""


def propose(
    before: str,
    lessons: Sequence[Lesson],
    runs: Sequence[CommandRun],
    *,
    project: str,
    approved: frozenset[str],
    now: float,
    days: Mapping[float, str],
    removed: Mapping[str, str] = MappingProxyType({}),
    evidence: bool = False,
) -> Proposal:
    """The proposal for a file with this text. `days` names the days of the runs, `removed` the paths that are gone with the day
    on which they went; with `evidence` each new line has its evidence in a comment."""
    statements = read_statements(before)
    lines, stated = _compare(before, statements, lessons, project, approved, now, days)
    stale = (*_find_stale(statements, runs, days), *_find_removed(statements, removed))
    after = _insert(_mark_stale(before, statements, stale), lines, evidence)
    return Proposal(after, lines, stale, stated)


def _compare(
    before: str,
    statements: Statements,
    lessons: Sequence[Lesson],
    project: str,
    approved: frozenset[str],
    now: float,
    days: Mapping[float, str],
) -> tuple[tuple[ProposedLine, ...], int]:
    known = {" ".join(line.strip(" -*").split()).casefold() for line in before.splitlines()}
    lines: list[ProposedLine] = []
    stated = 0
    for lesson in sorted(lessons, key=_rank):
        if lesson.kind not in _KINDS or lesson.scope.project != project or not lesson.is_usable(now):
            continue
        text = describe_lesson(msgspec.structs.replace(lesson, support=Support()), approved)
        if not text or "\n" in text:
            continue
        text = _without_counts(text) if lesson.author == "preheat" else text
        text = text[0].upper() + text[1:]
        if " ".join(text.split()).casefold() in known or _is_stated(statements, lesson):
            stated += 1
        elif len(lines) < _MOST_LINES:
            lines.append(ProposedLine(lesson.id, text, _describe_evidence(lesson, days)))
            known.add(text.casefold())
    return tuple(lines), stated


def _without_counts(text: str) -> str:
    """A sentence without the counts in brackets: they would be out of date with the next session."""
    return _COUNTS.sub("", text)


def _rank(lesson: Lesson) -> tuple[bool, int, float, str]:
    place = _KINDS.index(lesson.kind) if lesson.kind in _KINDS else len(_KINDS)
    return lesson.author != "person", place, -lesson.score, lesson.id


def _is_stated(statements: Statements, lesson: Lesson) -> bool:
    """Whether the file says already what a lesson says: its command, or, where it has none, its paths."""
    if lesson.use:
        return statements.find_command(lesson.use) is not None
    return bool(lesson.files) and not lesson.avoid and statements.has_paths(lesson.files)


def _describe_evidence(lesson: Lesson, days: Mapping[float, str]) -> str:
    if lesson.author == "person":
        return "written by a person"
    support = lesson.support
    total = support.calls_for + support.calls_against
    seen = f", last {days[lesson.last_seen]}" if lesson.last_seen is not None and lesson.last_seen in days else ""
    sessions = format_count(support.sessions_for, "session")
    return f"{support.calls_for:,} of {format_count(total, 'call')} in {sessions}{seen}"


def _find_stale(statements: Statements, runs: Sequence[CommandRun], days: Mapping[float, str]) -> tuple[StaleLine, ...]:
    """The stated commands whose last runs have all failed."""
    found: list[StaleLine] = []
    for stated in statements.commands:
        if len(stated.words) < 2:
            continue
        mine = [run for run in runs if run.words[: len(stated.words)] == stated.words]
        streak: list[CommandRun] = []
        for run in reversed(mine):
            if run.works:
                break
            streak.append(run)
        if len(streak) < _LEAST_FAILURES or len({run.session for run in streak}) < 2:
            continue
        since = next(
            (f" since {days[run.at]}" for run in reversed(streak) if run.at is not None and run.at in days), ""
        )
        often = f"{len(streak):,} of {len(mine):,}" if len(streak) == len(mine) else f"the last {len(streak):,}"
        why = f"`{stated.text}` has failed {often} times{since}"
        if all((each.line, each.command) != (stated.line + 1, stated.text) for each in found):
            found.append(StaleLine(stated.line + 1, stated.text, why))
    return tuple(found)


def _find_removed(statements: Statements, removed: Mapping[str, str]) -> list[StaleLine]:
    """The stated paths that were removed."""
    found: dict[tuple[int, str], StaleLine] = {}
    for stated in statements.places:
        if stated.path in removed:
            why = f"`{stated.path}` was removed on {removed[stated.path]}"
            found.setdefault((stated.line, stated.path), StaleLine(stated.line + 1, stated.path, why))
    return list(found.values())


def _mark_stale(before: str, statements: Statements, stale: Sequence[StaleLine]) -> list[str]:
    """The lines of the file, each stale one with a comment: after it, or before the block that it stands in."""
    lines = before.splitlines()
    marks: dict[int, list[str]] = {}
    fences = {stated.line + 1: stated.fence for stated in statements.commands if stated.fence is not None}
    for each in stale:
        comment = f"{_MARK}{each.why.replace('-->', '-- >')} -->"
        fence = fences.get(each.line)
        place = fence if fence is not None else each.line
        if comment not in before:
            marks.setdefault(place, []).append(comment)
    found: list[str] = []
    for number, line in enumerate(lines):
        found += marks.get(number, ())  # before the line `number + 1`: after the stale one, or before its fence
        found.append(line)
    return [*found, *marks.get(len(lines), ())]


def _insert(lines: list[str], new: Sequence[ProposedLine], evidence: bool) -> str:
    """The text with the new lines at the end of our section, which is made if the file has none."""
    if new:
        bullets = []
        for each in new:
            bullets.append(f"- {each.text}")
            if evidence:
                bullets.append(f"  <!-- {each.evidence} ({each.lesson}) -->")
        start = next((place for place, line in enumerate(lines) if line.strip() == HEADING), None)
        if start is None:
            lines = [*_without_blank_end(lines), *([""] if lines else []), HEADING, "", *bullets]
        else:
            following = (place for place in range(start + 1, len(lines)) if lines[place].startswith("#"))
            end = next(following, len(lines))
            section = _without_blank_end(lines[:end])
            lines = [*section, *([""] if len(section) == start + 1 else []), *bullets, *([""] if end < len(lines) else []),
                     *lines[end:]]  # fmt: skip
    return "\n".join(lines) + "\n" if lines else ""


def _without_blank_end(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines
