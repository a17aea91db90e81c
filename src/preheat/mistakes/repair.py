"""What usually puts a mistake right. Knows no archive and no lesson: mistakes with their tries come in, from any sessions.

Each try after a mistake is a case of what made the difference: the most telling thing that changed in the call, or what was done
on the way to it. The way counts where at least half of the recoveries from the same mistake went it, twice or more, and where
what changed in the call says little by itself and not in more of them: an edit that works after the file was read was mended by
the read, whatever else became of its text. Cases in which the same made the difference are one repair; one lucky case is none.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from preheat.calls.words import telling_words
from preheat.commands import understand
from preheat.mistakes.difference import ADDED, KINDS, VAGUE, Difference, describe_difference
from preheat.mistakes.failure import Key, commonest, is_silent, mistake_key
from preheat.mistakes.tries import MistakenCall, Try
from preheat.model.mistake import Repair

FEWEST = 2
"""Recoveries that must look alike before they are called usual."""
MOST_FILES = 6
_MANY = 3
_PATH = re.compile(r"(?!-)(?=.*/)[\w@.+/-]+")
_ON_THE_WAY = frozenset(["read", "step"])
_VAGUE_PURPOSES = frozenset(["other", "run", "unknown"])
"""Purposes that two commands may share and still do different things."""

_WORK = frozenset(["test", "build", "lint", "typecheck", "format"])

RepairKey: TypeAlias = tuple[str, ...]
Certainty: TypeAlias = Literal["active", "weak"]


class Origin(NamedTuple):
    """Whose mistake it was."""

    session: str
    agent: str
    project: str


class Case(NamedTuple):
    """One try after one mistake, and what made the difference."""

    origin: Origin
    mistake: MistakenCall
    tried: Try
    difference: Difference
    named: bool
    """The failed call's result names it."""


# What made the difference
def list_cases(mistakes: Iterable[tuple[Origin, MistakenCall]]) -> list[Case]:
    """Every try after these mistakes, in their order; without tries that show no difference."""
    tries = [(origin, mistake, tried) for origin, mistake in mistakes for tried in mistake.tries]
    ways = _usual_ways(tries)
    found = []
    for origin, mistake, tried in tries:
        difference, named = _most_telling(tried)
        way = ways.get(mistake_key(mistake.family, mistake.signature) or ("", ()))
        if way is not None and way.shared in tried.way and way.replaces(difference, named):
            difference, named = way.shared, False
        if difference is not None:
            found.append(Case(origin, mistake, tried, difference, named))
    return found


def _most_telling(tried: Try) -> tuple[Difference | None, bool]:
    """Of what changed in the call: what the error names, then by kind."""
    ranked = sorted(
        zip(tried.differences, tried.named, strict=True),
        key=lambda pair: (not pair[1], KINDS.index(pair[0].kind), pair[0].was, pair[0].now, pair[0].about),
    )
    return ranked[0] if ranked else (None, False)


class _Way(NamedTuple):
    """What most recoveries from a mistake did on the way."""

    shared: Difference
    times: int
    """Recoveries of this way."""
    changes: Counter[Difference]
    """In how many recoveries each change of the call was the most telling."""

    def replaces(self, difference: Difference | None, named: bool) -> bool:
        """Whether it explains more than what changed in the call."""
        if difference is None:
            return True
        if difference.kind in _ON_THE_WAY:  # the whole text of a step that is common by itself says more than its form
            return difference.kind == "step" and self.changes[difference] < FEWEST
        weak = difference.kind in VAGUE or (difference.kind in ADDED and not named)
        return weak and self.changes[difference] <= self.times


def _usual_ways(tries: Sequence[tuple[Origin, MistakenCall, Try]]) -> dict[Key, _Way]:
    recoveries: defaultdict[Key, dict[tuple[str, int], Try]] = defaultdict(dict)
    for origin, mistake, tried in tries:
        key = mistake_key(mistake.family, mistake.signature)
        if key is not None and tried.ran:
            recoveries[key][origin.session, tried.seq] = tried
    found = {}
    for key, alike in recoveries.items():
        counts = Counter(way for tried in alike.values() for way in tried.way)
        shared = min(counts, key=lambda way: (-counts[way], way.kind, way.now), default=None)
        if shared is not None and counts[shared] >= FEWEST and 2 * counts[shared] >= len(alike):
            changes = Counter(each for tried in alike.values() if (each := _most_telling(tried)[0]) is not None)
            found[key] = _Way(shared, counts[shared], changes)
    return found


# Which cases are one repair, and whether they are enough
def repair_key(case: Case) -> RepairKey:
    """The key of a repair: the difference and, where the difference is vague, the error."""
    difference = case.difference
    detail = (difference.kind, difference.was, difference.now, difference.about)
    words = telling_words(case.mistake.signature) if difference.kind in VAGUE else ()
    return (case.mistake.family, *detail, *words)


def distinct_tries(alike: Iterable[Case]) -> list[Case]:
    """Each try once, with the mistake right before it: a call that repairs three mistakes counts once."""
    return list({(case.origin.session, case.tried.seq): case for case in alike}.values())


def certainty_of(alike: Sequence[Case], general: bool = False) -> Certainty | None:
    """Whether cases (each try once) make a repair, and how sure a repair; None where they say nothing. `general`: of several
    projects."""
    good = [case for case in alike if case.tried.ran]
    if not good:
        return None
    kind = good[0].difference.kind
    if general and len({case.origin.project or f"?{case.origin.agent}" for case in good}) < FEWEST:
        return None
    sessions = len({case.origin.session for case in good})
    named = any(case.named for case in good)
    if kind == "again":
        return "active" if sessions >= FEWEST and all(case.mistake.environment for case in good) else None
    if kind in VAGUE:
        if all(is_silent(case.mistake.signature) for case in good):
            return None
        return "active" if len(good) >= (_MANY if kind == "fewer" else FEWEST) else None
    if kind in ADDED and not named and sessions < FEWEST:
        return "weak" if len(good) >= FEWEST else None
    if len(good) >= FEWEST:
        return "active"
    return "weak" if good[0].tried.clean and (named or kind not in ADDED) else None


def usual_repair(mistakes: Iterable[tuple[Origin, MistakenCall]]) -> Repair | None:
    """What put most occurrences of one mistake right; None where no two recoveries look alike, or it failed as often."""
    groups: defaultdict[RepairKey, list[Case]] = defaultdict(list)
    for case in list_cases(mistakes):
        if _has_same_aim(case):
            groups[repair_key(case)].append(case)
    found: list[tuple[int, RepairKey, list[Case]]] = []
    for key, alike in groups.items():
        tries = distinct_tries(alike)
        good = [case for case in tries if case.tried.ran]
        mended = {(case.origin.session, case.mistake.seq) for case in alike if case.tried.ran}
        if certainty_of(tries) == "active" and 2 * len(good) > len(tries) and len(mended) >= FEWEST:
            found.append((len(mended), key, good))
    if not found:
        return None
    count, _, good = min(found, key=lambda each: (-each[0], KINDS.index(each[2][0].difference.kind), each[1]))
    failed, worked = choose_examples(good)
    return Repair(form=describe_difference(good[0].difference).rstrip(","), count=count, failed=failed, worked=worked)


def usual_alternative(command: str, alternatives: Sequence[tuple[str, str]]) -> Repair | None:
    """The command for which a failing one was usually given up, from what each session used instead (key of the session and
    form, which may be empty); None unless several sessions did, and most of those that used anything the same."""
    used = [
        (session, form) for session, form in alternatives if form not in ("", command) and _has_same_end(command, form)
    ]
    if not used:
        return None
    best = commonest(form for _, form in used)[0]
    sessions = [session for session, form in used if form == best]
    if len(set(sessions)) < FEWEST or 2 * len(sessions) <= len(used):
        return None
    form = f"with `{best}` instead of `{command}`"
    return Repair(form=form, count=len(sessions), failed="", worked="", instead=best)


def _has_same_end(command: str, other: str) -> bool:
    """Whether two forms of commands do the same work, of the kinds that a project has one right way for: its tests, its build."""
    purpose = understand(command).purpose
    return purpose in _WORK and purpose == understand(other).purpose


def _has_same_aim(case: Case) -> bool:
    """Whether the call that worked is another try at what failed: with the same program, or for the same known purpose. A
    `git checkout` after a failed `rm` is something else, whatever it did."""
    tried = case.tried
    if case.mistake.family != "shell" or not (tried.failed and tried.worked):
        return True
    before, after = understand(tried.failed), understand(tried.worked)
    programs = [{each.program for each in understood.commands} for understood in (before, after)]
    if not programs[0].isdisjoint(programs[1]):
        return True
    return before.purpose == after.purpose and before.purpose not in _VAGUE_PURPOSES


# How a repair is shown
def choose_examples(good: Sequence[Case]) -> tuple[str, str]:
    """The failed and the worked call that show a repair best: the commonest pair, then the shortest. Where none can be shown,
    the difference alone, if it can be written; what failed is then left open, for calls of its form may well work."""
    difference = good[0].difference
    if difference.kind == "read":
        return "", f"read the file before {name_failing_call(good)}"
    pairs: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for case in good:
        if case.tried.failed and case.tried.worked and case.tried.failed != case.tried.worked:
            pairs[case.tried.failed, case.tried.worked].add(case.origin.session)
    if difference.kind == "without" and files_of(difference, good):  # what else it was called with is the case
        return "", ""
    if pairs and difference.kind not in VAGUE:
        return min(pairs, key=lambda pair: (-len(pairs[pair]), len(pair[0]) + len(pair[1]), pair))
    if difference.kind in ("shape", "value"):
        return "", f"{name_failing_call(good)}({difference.about}={difference.now!r})"
    worked = commonest(case.tried.form for case in good)[0]
    if difference.kind == "variable":
        return "", f"{difference.now} {worked}"
    if difference.kind == "step" and good[0].mistake.family == "shell" and "…" not in difference.now:
        return "", f"{difference.now} && {worked}"
    return "", ""


def name_failing_call(good: Sequence[Case]) -> str:
    """The tool, or the form of command, that fails most."""
    shell = good[0].mistake.family == "shell" and good[0].difference.kind != "fewer"
    return commonest(case.mistake.form if shell else case.mistake.tool for case in good)[0]


def files_of(difference: Difference, good: Sequence[Case]) -> tuple[str, ...]:
    """The files that a repair is about."""
    if difference.kind == "without":
        return (difference.was,) if _PATH.fullmatch(difference.was) else ()
    if difference.kind == "moved":
        return (difference.now,)
    if difference.kind in ("path", "folder"):
        return tuple(place for place in (difference.now or difference.was,) if place not in ("", ".", ".."))
    if difference.kind in ("ending", "value"):
        return commonest((case.mistake.file for case in good), MOST_FILES)
    return ()
