"""A proposal for a project's instructions file: the lines that it lacks and the lines that are stale.

Pure: the text of the file, the lessons and the record of its commands go in, the changed text comes out. Knows no file, no git.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from preheat.amounts import format_count
from preheat.commands.common import is_common_command
from preheat.lesson_meaning import hardly_passes, is_usual_pull_request
from preheat.model.lesson import Lesson, LessonKind, Support
from preheat.provisioning.lesson_text import VAGUE_TOPICS, describe_lesson
from preheat.stated import NO_STATEMENTS, Statements, Words, read_statements

HEADING = "## How things are done here"
_KINDS: tuple[LessonKind, ...] = ("convention", "repair", "dead_end")
"""What is worth a line in a file: no state of one session, no statistics of files."""
_MOST_LINES = 15
_EVERYWHERE = frozenset(["hook", "commit", "release", "setup"])
"""Topics of facts that hold for every change, whether or not a session has met them."""
_OF_THE_MACHINE = frozenset(["missing", "pattern"])
"""Topics of facts about one person's shell: they are not for everybody who reads the file."""
_LEAST_SESSIONS = 2
_PACKAGE_SESSIONS = 4
"""Sessions after which a command of one package is worth a line of the project's file."""
_LEAST_FAILURES = 3
"""A command that failed this many times in a row, in two sessions or more, is stale."""
_PACKAGE = "PACKAGE"
"""What stands for the name of a package in a command for any of them."""
_MARK = "<!-- Preheat: "
_STATISTICS = {"hook": ("failed", "all"), "pull_request": ("good", "all")}
"""By topic, details of facts that count what was seen so far."""
_OF_THE_CALL = "timeout"
"""What agents ask of their own tool for a command: no property of the project, as how long it takes is."""
_CHECKS = frozenset(["build", "test", "lint", "typecheck", "format"])
_FOLDER = re.compile(r"cd (\S+) && ")
_EVERYBODYS_STARTERS = frozenset(["npx", "npm", "pnpm", "yarn", "bunx"])
"""What starts the programs of a project's packages in every project with such packages."""
_PLACE_OF_MACHINE = re.compile(r"(?:^|[;&|])\s*(?:\w+=\S*\s+)*(?:sudo\s+|cd\s+)?(?:~|/|[A-Za-z]:[\\/])")
"""A program that is started by its whole path, or a whole path that is gone to: so on one person's machine."""
_SYSTEM_OPTION = re.compile(r"(?:illegal|invalid) option -- ")
"""How a program of the system refuses an option: that it has another form of it is so on one person's machine."""
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
    elsewhere: Statements = NO_STATEMENTS,
    stated_ids: frozenset[str] = frozenset(),
    topics: Sequence[str] = (),
    evidence: bool = False,
) -> Proposal:
    """The proposal for a file with this text. `days` names the days of the runs, `removed` the paths that are gone with the day
    on which they went, `elsewhere` what other instruction files of the project state, `stated_ids` the facts that any of them
    states by its meaning, `topics` the order of facts; with `evidence` each new line has its evidence in a comment."""
    statements = read_statements(before)
    usable = [each for each in lessons if each.scope.project == project and each.is_usable(now)]
    worthy = _choose_one_of_each([each for each in usable if _is_worth_a_line(each)])
    worthy.sort(key=lambda lesson: _place(lesson, topics))
    is_stated = {each.id: each.id in stated_ids or any(_is_stated(text, each) for text in (statements, elsewhere))
                 for each in worthy}  # fmt: skip
    lines, stated = _compare(before, is_stated, worthy, approved, days)
    stale = (*_find_stale(statements, runs, days), *_find_removed(statements, removed))
    after = _insert(_mark_stale(before, statements, stale), lines, evidence)
    return Proposal(after, lines, stale, stated)


def _is_worth_a_line(lesson: Lesson) -> bool:
    """Whether a lesson is for everybody who reads the file, on any machine and with any agent."""
    if lesson.kind not in _KINDS:
        return False
    if lesson.author == "person" or lesson.pinned:
        return True
    if _PLACE_OF_MACHINE.search(lesson.use):
        return False
    if lesson.kind != "convention":
        is_of_an_agent = (bool(lesson.scope.tool) and lesson.topic != "shell") or lesson.topic == "tool"
        is_of_the_system = bool(_SYSTEM_OPTION.search(lesson.error))
        return not is_of_an_agent and not is_of_the_system and lesson.support.sessions_for >= _LEAST_SESSIONS
    if lesson.topic in _OF_THE_MACHINE:
        return lesson.details.get("manager", "npx") not in _EVERYBODYS_STARTERS
    is_idle = lesson.topic in VAGUE_TOPICS or is_common_command(lesson.use) or is_usual_pull_request(lesson)
    if hardly_passes(lesson) or is_idle:
        return False
    least = _PACKAGE_SESSIONS if lesson.details.get("package") else _LEAST_SESSIONS
    is_variant = lesson.topic != "test" and lesson.details.get("about", lesson.topic) != lesson.topic
    is_main = bool(lesson.details.get("main")) and not lesson.details.get("package") and not is_variant
    return lesson.support.sessions_for >= least or is_main or lesson.topic in _EVERYWHERE


def _choose_one_of_each(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Of several commands for the same, the project's own for the whole of it, else the one that most sessions used; what a
    person wrote or pinned, all of it, and then nothing else for the same."""
    best: dict[tuple[str, ...], Lesson] = {}
    kept = []
    by_person = {lesson.topic for lesson in lessons if lesson.author == "person" and lesson.use}
    for lesson in sorted(lessons, key=_preference):
        details = lesson.details
        is_free = lesson.author == "person" or lesson.pinned or not lesson.use or not _is_one_of_several(lesson)
        about, package = (
            details.get("about", lesson.topic),
            details.get("package", "") or (_folder_of(lesson.use) if lesson.topic != "setup" else ""),
        )
        if not is_free and not package and about == lesson.topic and lesson.topic in by_person:
            continue
        if is_free or best.setdefault((lesson.topic, about, package), lesson) is lesson:
            kept.append(lesson)
    commands = {lesson.use for lesson in kept if lesson.topic not in ("correction", "runner")}
    patterns = [re.compile(re.escape(use).replace(_PACKAGE, r"\S+")) for use in commands if _PACKAGE in use]
    return [lesson for lesson in kept if not _is_implied(lesson, commands, patterns)]


def _is_one_of_several(lesson: Lesson) -> bool:
    """Whether there may be another command for the same purpose."""
    return lesson.kind == "convention" and (bool(lesson.details) or lesson.topic in _CHECKS)


def _folder_of(command: str) -> str:
    """The folder that a command goes to first; empty where it goes to none."""
    found = _FOLDER.match(command)
    return found[1] if found is not None else ""


def _preference(lesson: Lesson) -> tuple[bool, bool, int, float, str]:
    """What is named first of several commands for the same: the project's own script, at the root, the one that was used."""
    is_own = bool(lesson.details.get("main")) and not lesson.details.get("package")
    is_inside = lesson.use.startswith("cd ")
    return not is_own, is_inside, -lesson.support.sessions_for, -(lesson.reach or 0.0), lesson.id


def _is_implied(lesson: Lesson, commands: Iterable[str], patterns: Iterable[re.Pattern[str]]) -> bool:
    """Whether the commands of other lines say what a lesson says: how this package is checked like any, that somebody wants one
    of them, or which runner is used."""
    if lesson.author == "person" or lesson.pinned:
        return False
    if lesson.details.get("package") and any(each.fullmatch(lesson.use) for each in patterns):
        return True
    if lesson.topic == "runner":
        name = lesson.details.get("name") or next(iter(lesson.forms), "").partition(" ")[0]
        return any(command.partition(" ")[0] == name for command in commands)
    return lesson.topic == "correction" and not lesson.avoid and lesson.use in commands


def _compare(
    before: str,
    is_stated: Mapping[str, bool],
    lessons: Sequence[Lesson],
    approved: frozenset[str],
    days: Mapping[float, str],
) -> tuple[tuple[ProposedLine, ...], int]:
    known = {" ".join(line.strip(" -*").split()).casefold() for line in before.splitlines()}
    lines: list[ProposedLine] = []
    stated = 0
    for lesson in lessons:
        text = describe_lesson(_without_statistics(lesson), approved)
        if not text or "\n" in text:
            continue
        text = _without_counts(text) if lesson.author == "preheat" else text
        text = text[0].upper() + text[1:]
        if " ".join(text.split()).casefold() in known or is_stated[lesson.id]:
            stated += 1
        elif len(lines) < _MOST_LINES:
            lines.append(ProposedLine(lesson.id, text, _describe_evidence(lesson, days)))
            known.add(text.casefold())
    return tuple(lines), stated


def _without_statistics(lesson: Lesson) -> Lesson:
    """A lesson without its counts: they would be out of date with the next session."""
    left_out = (*_STATISTICS.get(lesson.topic, ()), _OF_THE_CALL)
    details = {name: value for name, value in lesson.details.items() if name not in left_out}
    return msgspec.structs.replace(lesson, support=Support(), details=details)


def _without_counts(text: str) -> str:
    """A sentence without the counts in brackets: they would be out of date with the next session."""
    return _COUNTS.sub("", text)


def _place(lesson: Lesson, topics: Sequence[str]) -> tuple[bool, int, int, bool, float, str]:
    """Where a line stands: a person's first, then how things are done in the order of the topics, the whole before its packages,
    then what fails."""
    topic = topics.index(lesson.topic) if lesson.topic in topics else len(topics)
    is_part = bool(lesson.details.get("package"))
    return lesson.author != "person", _KINDS.index(lesson.kind), topic, is_part, -lesson.score, lesson.id


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
    place = f"read from `{lesson.files[0]}`" if lesson.files else ""
    if not total:
        return place or "read from the project's files"
    seen = f", last {days[lesson.last_seen]}" if lesson.last_seen is not None and lesson.last_seen in days else ""
    sessions = format_count(support.sessions_for, "session")
    runs = f"{support.calls_for:,} of {format_count(total, 'call')} in {sessions}{seen}"
    return f"{place}; {runs}" if place else runs


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
