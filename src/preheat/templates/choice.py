"""Chooses the sessions that a template is built from: those that fit a rule, or the best. Pure; knows no archive.

The defaults of `SessionRule` are those of the user's documents; those of `BestRule` leave about a quarter of real sessions.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from preheat.model.profile import SessionProfile

LEARNABLE = frozenset(["human", "headless", "unknown"])
"""Who must have started a session; sessions that other programs run for themselves teach nothing."""


class SessionRule(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions on a session to be used for a template."""

    min_messages: int = 30
    max_sessions: int = 50
    max_error_rate: float = 0.5


class BestRule(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions on a session to be one of the best."""

    min_calls: int = 20
    max_mistakes: float = 0.1
    """The upper end of the 95 % interval of its mistake rate: a short session must be cleaner to prove as much."""
    min_sessions: int = 3
    max_sessions: int = 50


class Candidate(NamedTuple):
    """A session that may be chosen."""

    key: str
    profile: SessionProfile
    project: str
    """Its project's name; empty where it has none."""
    ended_at: float | None
    starter: str
    delegated: bool
    """Whether a subagent made it."""
    passed: bool | None
    """Whether its last check passed; None where it had none."""


class Choice(NamedTuple):
    """The sessions that were chosen, the newest first, and how many were not, by reason."""

    chosen: tuple[Candidate, ...]
    skipped: dict[str, int]


class Group(NamedTuple):
    """The best sessions of one project."""

    project: str
    choice: Choice
    enough: bool
    """Whether they are enough for a template."""


def choose_sessions(candidates: Iterable[Candidate], rule: SessionRule) -> Choice:
    """The newest sessions that fit."""

    def why_not(each: Candidate) -> str:
        if each.profile.messages < rule.min_messages:
            return f"shorter than {rule.min_messages} messages"
        if each.profile.errors.value is None:
            return "without tool calls"
        if each.profile.errors.value > rule.max_error_rate:
            return f"more than {rule.max_error_rate:.0%} of calls failed"
        return ""

    fitting, skipped = _filter(candidates, why_not)
    return _newest(fitting, rule.max_sessions, skipped)


def best_sessions(candidates: Iterable[Candidate], rule: BestRule) -> list[Group]:
    """The best sessions by project: long enough, few mistakes, and the last check passed. Projects with most of them first; also
    projects that have too few."""

    def why_not(each: Candidate) -> str:
        if each.profile.calls < rule.min_calls:
            return f"fewer than {rule.min_calls} calls"
        if each.profile.mistakes.high is None or each.profile.mistakes.high > rule.max_mistakes:
            return f"mistakes may be above {rule.max_mistakes:.0%}"
        if each.passed is None:
            return "no check at all"
        return "" if each.passed else "the last check failed"

    by_project: defaultdict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        if each.project:
            by_project[each.project].append(each)
    groups = []
    for project, sessions in by_project.items():
        fitting, skipped = _filter(sessions, why_not)
        enough = len(fitting) >= rule.min_sessions
        groups.append(Group(project, _newest(fitting, rule.max_sessions, skipped), enough))
    return sorted(groups, key=lambda group: (-len(group.choice.chosen), group.project))


def _filter(
    candidates: Iterable[Candidate], why_not: Callable[[Candidate], str]
) -> tuple[list[Candidate], Counter[str]]:
    fitting, skipped = [], Counter[str]()
    for each in candidates:
        if each.delegated:
            reason = "a subagent's"
        elif each.starter not in LEARNABLE:
            reason = "started by a program"
        else:
            reason = why_not(each)
        if reason:
            skipped[reason] += 1
        else:
            fitting.append(each)
    return fitting, skipped


def _newest(fitting: list[Candidate], most: int, skipped: Counter[str]) -> Choice:
    ordered = sorted(fitting, key=lambda each: (-(each.ended_at or 0.0), each.key))
    if len(ordered) > most:
        skipped[f"older than the newest {most}"] = len(ordered) - most
    return Choice(tuple(ordered[:most]), dict(sorted(skipped.items())))
