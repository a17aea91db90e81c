"""What a lesson means beyond its wording: whether two say the same, or the opposite; and how lessons of others join ours. Pure.

The order of who is right: what a person of this machine wrote, kept, approved or pinned; then, of what was learned here and what
others learned, the one that was seen last. What loses is kept, and says why.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from preheat.calls.words import telling_words
from preheat.model.lesson import Lesson
from preheat.model.received import Kept, LessonConflict
from preheat.safe_text.command_slot import fit_command
from preheat.safe_text.lesson_sentences import CONVENTION_TEXTS
from preheat.safe_text.sentences import fit_slot, rewrite_any
from preheat.safe_text.words import CUT

Meaning: TypeAlias = tuple[str, ...]
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_DAY = 86400.0


def meaning_of(lesson: Lesson) -> Meaning:
    """A key that two lessons share if they say the same: the kind, and the commands, paths or words that it is about. What counts
    how often is no part of it."""
    use, avoid = _plain(lesson.use), _plain(lesson.avoid)
    if lesson.kind == "error":
        return lesson.kind, fit_slot("error", lesson.error) or " ".join(telling_words(lesson.error))
    if lesson.kind == "repair":
        failed = avoid or _plain(next(iter(lesson.forms), ""))
        return lesson.kind, lesson.scope.tool, failed, use or fit_slot("difference", lesson.difference)
    if lesson.kind == "dead_end":
        return lesson.kind, avoid
    if use or avoid:
        return lesson.kind, lesson.details.get("package", ""), use, avoid
    if lesson.details:
        return lesson.kind, lesson.topic, lesson.details.get("about", ""), lesson.details.get("path", "")
    return lesson.kind, lesson.topic, _IN_BRACKETS.sub("", rewrite_any(CONVENTION_TEXTS, lesson.text) or lesson.text)


def _plain(command: str) -> str:
    """A command as others may be told of it: what is ours and what came back are then the same."""
    return fit_command(command) or " ".join(command.split())


# Contradictions.
def contradict(one: Lesson, other: Lesson) -> bool:
    """Whether one lesson says to use what the other says not to."""
    return _is_used_against(one, other) or _is_used_against(other, one)


def _is_used_against(one: Lesson, other: Lesson) -> bool:
    """Whether one uses what the other avoids, alone or with further arguments. Where the remedy itself only adds arguments, the
    command must be the same one."""
    used, avoided = _words(one.use), _words(other.avoid)
    if not avoided or used[: len(avoided)] != avoided or any(CUT in word for word in avoided):
        return False
    remedy = _words(other.use)
    return used == avoided or remedy[: len(avoided)] != avoided


@lru_cache(maxsize=4096)
def _words(command: str) -> tuple[str, ...]:
    return tuple(_plain(command).split()) if command else ()


def find_conflicts(
    ours: Iterable[Lesson], theirs: Sequence[Lesson], decided: frozenset[str] = frozenset()
) -> list[LessonConflict]:
    """The contradictions between usable lessons of this machine and usable ones of others, with who is right. `decided`: ids of
    lessons that a person kept or approved."""
    by_program: dict[str, list[Lesson]] = {}
    for other in theirs:
        for program in _programs(other) if other.status == "active" else ():
            by_program.setdefault(program, []).append(other)
    found: list[LessonConflict] = []
    for own in ours if by_program else ():
        if own.status != "active":
            continue
        near = {other.id: other for program in _programs(own) for other in by_program.get(program, ())}
        found += (
            LessonConflict(own, other, *_choose(own, other, decided))
            for other in near.values()
            if contradict(own, other) and own.scope.project in (other.scope.project, *_anywhere(own))
        )
    return found


def _programs(lesson: Lesson) -> set[str]:
    """The first words of what a lesson says to use and not to use: only lessons with one in common can contradict each other."""
    return {words[0] for words in (_words(lesson.use), _words(lesson.avoid)) if words}


def _anywhere(own: Lesson) -> tuple[str, ...]:
    """What was learned in other projects says nothing of this one; what a person wrote for all does."""
    return ("",) if own.author == "person" else ()


def _choose(own: Lesson, other: Lesson, decided: frozenset[str]) -> tuple[Kept, str]:
    if own.author == "person" or own.pinned or own.id in decided:
        return "ours", "you said so"
    if other.pinned or other.id in decided:
        return "theirs", "you said so"
    if int((other.last_seen or 0.0) / _DAY) > int((own.last_seen or 0.0) / _DAY):
        return "theirs", "it was seen later"
    return "ours", "it was seen last" if own.last_seen else "it was learned here"


# Joining.
def join_received(
    ours: Sequence[Lesson], theirs: Sequence[Lesson], decided: frozenset[str] = frozenset()
) -> list[Lesson]:
    """Our lessons and those of others, one for each meaning: ours stands where it may be handed out, and where a person retired
    it theirs is retired too. Of two that contradict each other one is put aside."""
    if not theirs:
        return list(ours)
    known: dict[tuple[str, Meaning], Lesson] = {}
    for own in ours:
        key = own.scope.project, meaning_of(own)
        if key not in known or own.status == "active":
            known[key] = own
    added: dict[tuple[str, Meaning], Lesson] = {}
    names = {own.id for own in ours}
    for other in theirs:
        key = other.scope.project, meaning_of(other)
        if key in added or other.id in names:  # whatever others call a lesson, it takes the place of none of ours
            continue
        same = known.get(key)
        if same is not None and same.status == "active":
            continue
        if same is not None and same.status in ("retired", "quarantined"):
            other = _put_aside(other, f"`{same.id}` says the same and is {same.status}", "retired")
        added[key] = other
    joined = list(added.values())
    conflicts = find_conflicts(ours, joined, decided)
    aside = {
        (each.theirs if each.kept == "ours" else each.ours).id: (
            f"contradicts `{(each.ours if each.kept == 'ours' else each.theirs).id}`: {each.why}"
        )
        for each in reversed(conflicts)
    }
    return [_put_aside(each, aside[each.id]) if each.id in aside else each for each in (*ours, *joined)]


def _put_aside(lesson: Lesson, why: str, status: str = "weak") -> Lesson:
    return msgspec.structs.replace(lesson, status=status, why=why)


_USUAL_BASES = ("main", "master")


def hardly_passes(lesson: Lesson) -> bool:
    """Whether a check ran often and nearly always found something: it may be the wrong command."""
    runs = lesson.support.calls_for + lesson.support.calls_against
    passed = lesson.details.get("passed", "")
    return passed.isdigit() and runs >= _LEAST_RUNS and int(passed) < _LEAST_PASSES * runs


_LEAST_RUNS, _LEAST_PASSES = 5, 0.2


def is_usual_pull_request(lesson: Lesson) -> bool:
    """Whether a lesson on pull requests says no more than everybody does: made by the plain command, against the usual branch,
    merged as git merges."""
    is_plain = lesson.use in ("", "gh pr create") and lesson.details.get("merge", "") in ("", "gh pr merge --merge")
    return lesson.topic == "pull_request" and is_plain and lesson.details.get("base", "main") in _USUAL_BASES
