"""Learns how mistakes are put right: a failed call, and what changed in the one that worked.

Knows no archive. Cases are one repair when the same thing changed, and, where that alone says little, after the same error.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from preheat.amounts import counted
from preheat.calls.words import telling_words
from preheat.lessons.learner import Learner, Noted
from preheat.mistakes.difference import ADDED, KINDS, VAGUE, Difference, in_words
from preheat.mistakes.identity import commonest, is_help, is_silent, title, why_unfit
from preheat.mistakes.tries import Mistaken, Notes, Try, note
from preheat.model.lesson import Evidence, Lesson, LessonStatus, Scope, Support, kept_evidence, lesson_id, support_of

HALF_LIFE = 90.0
MOST_SIGNATURES = 12
MOST_FORMS = 8
MOST_FILES = 6
_FEWEST = 2
_MANY = 3
_FORM_SAYS_IT = frozenset(["prefix", "program", "told", "option"])
"""Differences for which the form of the failed call is what is wrong, and so a call of that form that works speaks against."""

_PATH = re.compile(r"(?!-)(?=.*/)[\w@.+/-]+")

_Key: TypeAlias = tuple[str, ...]


class _Case(NamedTuple):
    """One try after one mistake."""

    noted: Noted[Notes]
    mistake: Mistaken
    tried: Try
    difference: Difference
    named: bool


def learn(project: str, sessions: Sequence[Noted[Notes]]) -> list[Lesson]:
    """The repairs that recur, and as weak ones those that were clean once. Without a project only what holds in several."""
    groups: defaultdict[_Key, list[_Case]] = defaultdict(list)
    for noted in sorted(sessions, key=lambda noted: (noted.started_at or 0.0, noted.session)):
        for mistake in noted.notes.mistakes:
            for tried in mistake.tries:
                case = _case(noted, mistake, tried)
                if case is not None:
                    groups[_key(case)].append(case)
    lessons = []
    for key, cases in groups.items():
        status = _status(_distinct(cases), project == "")
        if status is not None:
            lessons.append(_lesson(project, key, cases, status, sessions))
    return sorted(lessons, key=lambda lesson: lesson.id)


def _case(noted: Noted[Notes], mistake: Mistaken, tried: Try) -> _Case | None:
    """The try with the most telling of its differences: one that the error names, then by kind."""
    if not tried.differences:
        return None
    ranked = sorted(
        zip(tried.differences, tried.named, strict=True),
        key=lambda pair: (not pair[1], KINDS.index(pair[0].kind), pair[0].was, pair[0].now, pair[0].about),
    )
    difference, named = ranked[0]
    return _Case(noted, mistake, tried, difference, named)


def _key(case: _Case) -> _Key:
    difference = case.difference
    detail = (difference.kind, difference.was, difference.now, difference.about)
    words = telling_words(case.mistake.signature) if difference.kind in VAGUE else ()
    return (case.mistake.family, *detail, *words)


def _distinct(cases: Sequence[_Case]) -> list[_Case]:
    """Each try once, with the mistake right before it: one call that mends three is one call."""
    nearest = {(case.noted.session, case.tried.seq): case for case in cases}
    return list(nearest.values())


def _status(cases: Sequence[_Case], general: bool) -> LessonStatus | None:
    """Whether cases make a lesson, and how sure a one; None where they say nothing."""
    good = [case for case in cases if case.tried.ran]
    if not good:
        return None
    kind = good[0].difference.kind
    if general and len({case.noted.project or f"?{case.noted.agent}" for case in good}) < _FEWEST:
        return None
    sessions = len({case.noted.session for case in good})
    named = any(case.named for case in good)
    if kind == "again":
        return "active" if sessions >= _FEWEST and all(case.mistake.environment for case in good) else None
    if kind in VAGUE:
        if all(is_silent(case.mistake.signature) for case in good):
            return None
        fewest = _MANY if kind == "fewer" else _FEWEST
        return "active" if len(good) >= fewest else None
    if kind in ADDED and not named and sessions < _FEWEST:
        return "weak" if len(good) >= _FEWEST else None
    if len(good) >= _FEWEST:
        return "active"
    return "weak" if good[0].tried.clean and (named or kind not in ADDED) else None


def _lesson(
    project: str, key: _Key, cases: list[_Case], status: LessonStatus, sessions: Sequence[Noted[Notes]]
) -> Lesson:
    tries = _distinct(cases)
    good = [case for case in tries if case.tried.ran]
    difference, mistake = good[0].difference, good[0].mistake
    signatures = commonest((case.mistake.signature for case in cases if case.tried.ran), MOST_SIGNATURES)
    evidence = [_evidence(case) for case in tries]
    support = _with_contradictions(support_of(evidence), difference, good, sessions)
    avoid, use = _examples(good)
    error = next((title(signature) for signature in signatures if not is_help(signature)), "")
    scope = _scope(project, good)
    unfit = why_unfit(signatures)
    doubted = support.calls_against >= support.calls_for
    moments = [case.mistake.at for case in cases if case.mistake.at is not None]
    once = {(case.noted.session, case.mistake.seq): case.mistake for case in cases}.values()
    return Lesson(
        id=lesson_id("repair", Scope(project=project), *key),
        kind="repair",
        scope=scope,
        topic=mistake.family,
        text=_text(good, avoid, use, error, support),
        use=use,
        avoid=avoid,
        error=error,
        difference=in_words(difference),
        signatures=signatures,
        forms=_forms(difference, good),
        files=_files(difference, good),
        support=support,
        first_seen=min(moments, default=None),
        last_seen=max(moments, default=None),
        half_life=HALF_LIFE,
        evidence=kept_evidence(evidence),
        cost_seconds=sum(each.seconds for each in once),
        cost_tokens=sum(each.tokens for each in once),
        status="quarantined" if unfit else "weak" if doubted else status,
        why=unfit
        or ("it failed as often as it worked" if doubted else "seen in one session" if status == "weak" else ""),
    )


def _evidence(case: _Case) -> Evidence:
    return Evidence(
        session=case.noted.session,
        seq=case.tried.seq,
        at=case.mistake.at,
        against=not case.tried.ran,
        text=case.tried.worked or case.tried.form,
    )


def _with_contradictions(
    support: Support, difference: Difference, good: Sequence[_Case], sessions: Sequence[Noted[Notes]]
) -> Support:
    """Counts in the calls of the failed form that worked, where the form is what is said to be wrong."""
    forms = {case.mistake.started for case in good} - {case.tried.form for case in good}
    if difference.kind not in _FORM_SAYS_IT or not difference.was or "/" in difference.was:
        return support
    forms = {form for form in forms if set(difference.was.split()) <= set(form.split())}
    counts = [sum(noted.notes.ran.get(form, 0) for form in forms) for noted in sessions]
    return Support(
        support.calls_for,
        support.sessions_for,
        support.calls_against + sum(counts),
        support.sessions_against + sum(count > 0 for count in counts),
    )


def _scope(project: str, good: Sequence[_Case]) -> Scope:
    """A tool is its agent's own; a command is anybody's, unless nobody else was seen to meet it anywhere."""
    agents = {case.noted.agent for case in good}
    tools = {case.mistake.tool for case in good}
    own = good[0].mistake.family != "shell" or good[0].difference.kind == "fewer"
    return Scope(
        agent=agents.pop() if len(agents) == 1 and (own or not project) else "",
        project=project,
        tool=tools.pop() if len(tools) == 1 and own else "",
    )


def _examples(good: Sequence[_Case]) -> tuple[str, str]:
    """The failed and the worked call that show it best: the commonest pair, then the shortest. Where none can be shown, the
    difference alone, if it can be written; what failed is then left open, for calls of its form may well work."""
    difference = good[0].difference
    if difference.kind == "read":
        return "", f"read the file before {_called(good)}"
    pairs: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for case in good:
        if case.tried.failed and case.tried.worked and case.tried.failed != case.tried.worked:
            pairs[case.tried.failed, case.tried.worked].add(case.noted.session)
    if difference.kind == "without" and _files(difference, good):  # what else it was called with is the case
        return "", ""
    if pairs and difference.kind not in VAGUE:
        return min(pairs, key=lambda pair: (-len(pairs[pair]), len(pair[0]) + len(pair[1]), pair))
    if difference.kind in ("shape", "value"):
        return "", f"{_called(good)}({difference.about}={difference.now!r})"
    worked = commonest(case.tried.form for case in good)[0]
    if difference.kind == "variable":
        return "", f"{difference.now} {worked}"
    if difference.kind == "step" and good[0].mistake.family == "shell":
        return "", f"{difference.now} && {worked}"
    return "", ""


def _called(good: Sequence[_Case]) -> str:
    """The tool, or the form of command, that fails most."""
    shell = good[0].mistake.family == "shell" and good[0].difference.kind != "fewer"
    return commonest(case.mistake.form if shell else case.mistake.tool for case in good)[0]


def _forms(difference: Difference, good: Sequence[_Case]) -> tuple[str, ...]:
    """What it is about: of a tool the tool, whatever mended it; of one word that must not be there that word alone."""
    if difference.kind == "without" and _files(difference, good):
        return ()
    if good[0].mistake.family != "shell" or difference.kind == "fewer":
        return commonest((case.mistake.tool for case in good), MOST_FORMS)
    return commonest((form for case in good for form in (case.mistake.form, case.tried.form)), MOST_FORMS)


def _files(difference: Difference, good: Sequence[_Case]) -> tuple[str, ...]:
    if difference.kind == "without":
        return (difference.was,) if _PATH.fullmatch(difference.was) else ()
    if difference.kind == "moved":
        return (difference.now,)
    if difference.kind in ("path", "folder"):
        return tuple(place for place in (difference.now or difference.was,) if place not in ("", ".", ".."))
    if difference.kind in ("ending", "value"):
        return commonest((case.mistake.file for case in good), MOST_FILES)
    return ()


def _text(good: Sequence[_Case], avoid: str, use: str, error: str, support: Support) -> str:
    difference = good[0].difference
    total = support.calls_for + support.calls_against
    times = f"{support.calls_for} of {total} times" if total > 1 else "once"
    example = f": `{use}`" if avoid else ""
    complaint = f" with `{error}`" if error else ""
    return f"`{avoid or _called(good)}` fails{complaint}; {in_words(difference)} it works{example} ({times})."


def says(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    usable = [lesson for lesson in lessons if lesson.status == "active"]
    mended = sum(lesson.support.calls_for for lesson in usable)
    more = len(lessons) - len(usable)
    return f"{counted(len(usable), 'repair')} of {counted(mended, 'mistake')}, {more} more seen once or doubtful"


LEARN_REPAIR_PATTERNS = Learner("LearnRepairPatterns", 2, Notes, note, learn, general=True, says=says)
