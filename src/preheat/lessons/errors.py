"""Learns which errors come again: grouped by family of tool and by the words of the message, with what they cost.

Knows no archive, and not how they are put right: `repairs` learns that.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from preheat.amounts import format_count, format_seconds
from preheat.calls.files import file_of
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text, understand
from preheat.lessons.call_facts import find_own_script_runs
from preheat.lessons.learner import Learner, SessionNotes
from preheat.mistakes.failure import (
    Key,
    commonest,
    describe_call,
    form_of,
    forms_that_ran,
    is_mistake,
    mistake_key,
    signature_of,
    title,
    tool_family,
    why_unfit,
)
from preheat.model.lesson import (
    Evidence,
    Lesson,
    LessonStatus,
    Scope,
    Support,
    count_support,
    lesson_id,
    select_evidence,
)
from preheat.safe_text.reasons import hidden_reason, junk_reason

MOST = 200
"""Failures that are noted of one session."""
MOST_SIGNATURES = 12
MOST_FORMS = 6
MOST_SUBJECTS = 3
LONGEST_SUBJECT = 100
_FEWEST_SESSIONS, _FEWEST_CALLS = 2, 3
_TELLING_SHARE = 0.15
"""Share of the calls of its forms that an error of commands must meet to say something about them."""
_SESSIONS_UNTIL_OVER = 5
"""An error is over after so many sessions in a row that made the same calls without it."""
_HALF_LIFE, _SHORTER = 60.0, 30.0
_LOOKED_THROUGH = 1000
MOST_PRESENT = 150
_MODULE = re.compile(r"(?:No module named|Cannot find (?:module|package)) ['\"]?([\w.@/-]{2,60})")
_MISSING = re.compile(
    r"(?i)no such file|(?:does not|doesn't) exist|did not match any|ENOENT"
    r"|cannot (?:access|open|find|remove)|can't (?:read|open|cd)"
)
_FILE = re.compile(r"(?!-)(?=.*\w)(?=.*[./])[^\s*?\[{$'\"`|<>;]{3,100}")
"""A word that is a path, and neither an option nor a pattern."""
_NAMELESS = re.compile(rf"{_MISSING.pattern}|no module named \W|cannot find (?:module|package) \W")
"""A message that is worth knowing only with the name that was masked in it."""


class Failure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call that failed by the agent's mistake or by the environment."""

    seq: int
    at: float | None
    tool: str
    family: str
    signature: str
    form: str
    subject: str
    """The file, or the word of the command, that the message is about; empty where that is unknown."""
    shown: str
    seconds: float
    tokens: int
    environment: bool
    own_script: bool = False
    """The call ran a script that the session itself wrote."""


class ErrorNotes(msgspec.Struct, frozen=True):
    """What is kept of one session."""

    failures: tuple[Failure, ...] = ()
    ran: dict[str, int] = {}
    """How often each form of call was right."""
    present: tuple[str, ...] = ()
    """Files that calls worked on."""


class _Occurrence(NamedTuple):
    """One failure, with its session's notes."""

    noted: SessionNotes[ErrorNotes]
    failure: Failure


def take_notes(seen: JudgedSession) -> ErrorNotes | None:
    """The failures of a session, and what was right in it; None where it made no call."""
    if not seen.calls:
        return None
    own = find_own_script_runs(seen)
    failures = [
        _failure(seen, each, each.record.seq in own) for each in seen.calls if is_mistake(each) and signature_of(each)
    ]
    return ErrorNotes(tuple(failures[-MOST:]), forms_that_ran(seen), _present(seen))


def _failure(seen: JudgedSession, call: JudgedCall, own_script: bool) -> Failure:
    record = call.record
    return Failure(
        seq=record.seq,
        at=call.call.at,
        tool=record.tool,
        family=tool_family(record.tool, record.kind),
        signature=signature_of(call),
        form=form_of(call),
        subject=_subject(seen, call),
        shown=describe_call(seen, call),
        seconds=record.lost_seconds,
        tokens=record.lost_tokens,
        environment=record.cause == "environment",
        own_script=own_script,
    )


def _subject(seen: JudgedSession, call: JudgedCall) -> str:
    """The module or file that is missing, by the message."""
    result = seen.relative(call.result.model_text[:_LOOKED_THROUGH]) if call.result else ""
    module = _MODULE.search(result)
    if module is not None:
        return module[1]
    if not _MISSING.search(result):
        return ""
    lines = [line for line in result.splitlines() if _MISSING.search(line)]
    if call.call.kind == "shell":
        commands = understand(seen.relative(command_text(call.call.input))).commands
        named = [word for command in commands for word in command.words[1:]]
    else:
        named = [seen.relative(file_of(call.call))]
    for word in named:
        if (
            _FILE.fullmatch(word)
            and not word.startswith(".git/")
            and not junk_reason(word)
            and not hidden_reason(word)
            and any(word in line for line in lines)
        ):
            return word.rstrip("/")
    return ""


def _present(seen: JudgedSession) -> tuple[str, ...]:
    """Files and folders that calls worked on."""
    found = {seen.relative(path) for each in seen.calls if each.worked and (path := file_of(each.call))}
    return tuple(
        sorted(path for path in found if len(path) <= LONGEST_SUBJECT and not junk_reason(path))[:MOST_PRESENT]
    )


def learn(project: str, sessions: Sequence[SessionNotes[ErrorNotes]]) -> list[Lesson]:
    """The errors that at least two sessions met, and as weak ones those that one met often. Without a project only what
    several projects have."""
    ordered = sorted(sessions, key=lambda noted: (noted.started_at or 0.0, noted.session))
    groups: defaultdict[Key, list[_Occurrence]] = defaultdict(list)
    for noted in ordered:
        for failure in noted.notes.failures:
            key = mistake_key(failure.family, failure.signature)
            if key is not None:
                groups[key].append(_Occurrence(noted, failure))
    ran: Counter[str] = Counter()
    for noted in ordered:
        ran.update(noted.notes.ran)
    lessons = []
    for key, group in groups.items():
        number = len({occurrence.noted.session for occurrence in group})
        several = len({_project(occurrence.noted) for occurrence in group}) >= _FEWEST_SESSIONS
        if (number >= _FEWEST_SESSIONS or len(group) >= _FEWEST_CALLS) and (project or several):
            lessons.append(_lesson(project, key, group, ordered, ran))
    return sorted(lessons, key=lambda lesson: lesson.id)


def _lesson(
    project: str,
    key: Key,
    group: list[_Occurrence],
    ordered: Sequence[SessionNotes[ErrorNotes]],
    ran: Mapping[str, int],
) -> Lesson:
    signatures = commonest((occurrence.failure.signature for occurrence in group), MOST_SIGNATURES)
    forms = commonest((occurrence.failure.form for occurrence in group), MOST_FORMS)
    evidence = [
        Evidence(
            session=occurrence.noted.session,
            seq=occurrence.failure.seq,
            at=occurrence.failure.at,
            text=occurrence.failure.shown,
            failed=True,
        )
        for occurrence in group
    ]
    since = _sessions_since(group, forms, ordered)
    found = count_support(evidence)
    support = Support(found.calls_for, found.sessions_for, len(since), len(since))
    subjects = _subjects(group, general=not project)
    subjects = tuple(subject for subject in subjects if not _exists_somewhere(subject, ordered))
    status, why = _status(group, support, subjects, _share(group, forms, ran))
    unfit = why_unfit(signatures)
    times = [occurrence.failure.at for occurrence in group if occurrence.failure.at is not None]
    scope = _scope(project, group)
    environment = sum(occurrence.failure.environment for occurrence in group) * 2 > len(group)
    return Lesson(
        id=lesson_id("error", Scope(project=project), key[0], *key[1]),
        kind="error",
        scope=scope,
        topic=key[0],
        text=_text(group, forms, title(signatures[0]), subjects, support),
        error=title(signatures[0]),
        signatures=signatures,
        forms=forms,
        files=tuple(subject for subject in subjects if _FILE.fullmatch(subject)),
        support=support,
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=_SHORTER if environment else _HALF_LIFE,
        evidence=select_evidence(evidence),
        cost_seconds=sum(occurrence.failure.seconds for occurrence in group),
        cost_tokens=sum(occurrence.failure.tokens for occurrence in group),
        status="quarantined" if unfit else status,
        why=unfit or why,
    )


def _sessions_since(
    group: list[_Occurrence], forms: Sequence[str], ordered: Sequence[SessionNotes[ErrorNotes]]
) -> list[str]:
    """The sessions after the last occurrence that made calls of the same forms without the error."""
    met_in = {occurrence.noted.session for occurrence in group}
    last = max(place for place, noted in enumerate(ordered) if noted.session in met_in)
    return [noted.session for noted in ordered[last + 1 :] if any(form in noted.notes.ran for form in forms)]


def _subjects(group: Sequence[_Occurrence], general: bool) -> tuple[str, ...]:
    """The subjects that several sessions (or projects) have in common."""
    met_in: defaultdict[str, set[str]] = defaultdict(set)
    for occurrence in group:
        if occurrence.failure.subject:
            met_in[occurrence.failure.subject].add(_project(occurrence.noted) if general else occurrence.noted.session)
    again = [subject for subject in met_in if len(met_in[subject]) >= _FEWEST_SESSIONS]
    return tuple(sorted(again, key=lambda subject: (-len(met_in[subject]), subject))[:MOST_SUBJECTS])


def _exists_somewhere(subject: str, ordered: Sequence[SessionNotes[ErrorNotes]]) -> bool:
    """Whether some session worked on the subject, or on something below it."""
    below = subject + "/"
    return any(path == subject or path.startswith(below) for noted in ordered for path in noted.notes.present)


def _project(noted: SessionNotes[ErrorNotes]) -> str:
    """The project; the agent stands in for it in sessions without a project."""
    return noted.project or f"?{noted.agent}"


def _share(group: Sequence[_Occurrence], forms: Sequence[str], ran: Mapping[str, int]) -> float:
    """The share of the calls of these forms that met the error; `ran` has how often each form worked in all sessions."""
    counts = Counter(occurrence.failure.form for occurrence in group)
    failed = sum(counts[form] for form in forms)
    return failed / (failed + sum(ran.get(form, 0) for form in forms))


def _status(
    group: Sequence[_Occurrence], support: Support, subjects: Sequence[str], share: float
) -> tuple[LessonStatus, str]:
    if support.sessions_for < _FEWEST_SESSIONS:
        return "weak", "met in one session only"
    if support.sessions_against >= max(_SESSIONS_UNTIL_OVER, 2 * support.sessions_for):
        return "weak", f"not met in the last {support.sessions_against} sessions that did the same"
    if sum(occurrence.failure.own_script for occurrence in group) * 2 > len(group):
        return "weak", "met by scripts that the sessions wrote themselves"
    named = sum(occurrence.failure.subject in subjects for occurrence in group)
    if 2 * named < len(group) and any(_NAMELESS.search(occurrence.failure.signature) for occurrence in group):
        return "weak", "something was not there, another thing each time"
    if group[0].failure.family == "shell" and not subjects and share < _TELLING_SHARE:
        return "weak", "most calls of these forms do not meet it, and nothing tells which do"
    return "active", ""


def _scope(project: str, group: Sequence[_Occurrence]) -> Scope:
    agents = {occurrence.noted.agent for occurrence in group}
    tools = {occurrence.failure.tool for occurrence in group}
    own = group[0].failure.family != "shell"
    return Scope(
        agent=agents.pop() if len(agents) == 1 and (own or not project) else "",
        project=project,
        tool=tools.pop() if len(tools) == 1 and own else "",
    )


def _text(
    group: Sequence[_Occurrence], forms: Sequence[str], error: str, subjects: Sequence[str], support: Support
) -> str:
    seconds = sum(occurrence.failure.seconds for occurrence in group)
    cost = f", {format_seconds(seconds)} lost" if seconds >= 1 else ""
    counts = f"{format_count(support.calls_for, 'call')} in {format_count(support.sessions_for, 'session')}{cost}"
    about = f", again and again with {_list_in_backticks(subjects)}" if subjects else ""
    since = support.sessions_against
    over = (
        f"; not met in the last {format_count(since, 'session')} that did the same"
        if since >= _SESSIONS_UNTIL_OVER
        else ""
    )
    return f"{_list_in_backticks(forms[:2])} may fail with `{error}`{about} ({counts}{over})."


def _list_in_backticks(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    usable = [lesson for lesson in lessons if lesson.status == "active"]
    calls = sum(lesson.support.calls_for for lesson in usable)
    seconds = sum(lesson.cost_seconds for lesson in usable)
    return (
        f"{format_count(len(usable), 'error')} that came again in {format_count(calls, 'call')}, "
        f"{format_seconds(seconds)} lost"
    )


CLUSTER_ERRORS = Learner("ClusterErrors", 3, ErrorNotes, take_notes, learn, is_general=True, describe=describe)
