"""Dead ends: what was tried again and again, failed, and was given up (BuildDeadEndMemory). Knows no archive.

A success of the same thing in the same session, or in any later one, takes a dead end away; time does too. A failing test is
no dead end (the command works), nor is an error that many different commands meet (it is about none of them).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preheat.amounts import format_count
from preheat.calls.words import telling_words
from preheat.lessons.attempts import Attempt, AttemptNotes, take_notes
from preheat.lessons.learner import Learner, SessionNotes
from preheat.mistakes.identity import commonest, title
from preheat.model.lesson import DAY, Evidence, Lesson, LessonStatus, Scope, Support, lesson_id, select_evidence
from preheat.safe_text.letters import one_line
from preheat.safe_text.reasons import order_reason

EXPIRES = 30.0
"""Days. What the world around was to blame for (a network, a program that is not there) changes sooner."""
EXPIRES_ENVIRONMENT = 7.0
_TRIES = 2
_COMMON = 3
"""An error that so many different commands met is not about any of these commands."""
_MOST_LESSONS = 5


class _SessionAttempt(NamedTuple):
    session: SessionNotes[AttemptNotes]
    attempt: Attempt

    @property
    def at(self) -> float | None:
        return self.attempt.at if self.attempt.at is not None else self.session.ended_at or self.session.started_at


def learn(project: str, sessions: Sequence[SessionNotes[AttemptNotes]]) -> list[Lesson]:
    """What failed and never worked since."""
    if not project:
        return []
    tried: defaultdict[str, list[_SessionAttempt]] = defaultdict(list)
    worked: Counter[str] = Counter()
    for session in sessions:
        notes = session.notes
        for key in notes.worked:
            tried.pop(key, None)
            worked[key] += 1
        for attempt in notes.failed:
            if attempt.key not in notes.worked:
                tried[attempt.key].append(_SessionAttempt(session, attempt))
    common = _common_errors(tried.values())
    found = []
    for key, tries in tried.items():
        own = [each for each in tries if each.attempt.wall != "command" or _words(each.attempt) not in common]
        own = _with_same_error(own)
        if len(own) >= _TRIES:
            found.append(_lesson(project, key, own, worked[key]))
    return sorted(found, key=lambda each: (-each.support.sessions_for, -each.support.calls_for, each.id))


def _common_errors(tried: Iterable[list[_SessionAttempt]]) -> set[tuple[str, ...]]:
    commands_by_error: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for tries in tried:
        for _, attempt in tries:
            if attempt.wall == "command":
                commands_by_error[_words(attempt)].add(attempt.key)
    return {words for words, keys in commands_by_error.items() if len(keys) >= _COMMON}


def _with_same_error(tries: list[_SessionAttempt]) -> list[_SessionAttempt]:
    """The attempts of a command that met the same error: failing differently each time is no dead end."""
    if not tries or tries[0].attempt.wall != "command":
        return tries
    error_counts = Counter(_words(each.attempt) for each in tries)
    most = min(error_counts, key=lambda words: (-error_counts[words], words))
    return [each for each in tries if _words(each.attempt) == most]


def _words(attempt: Attempt) -> tuple[str, ...]:
    return telling_words(attempt.signature)


def _lesson(project: str, key: str, tries: list[_SessionAttempt], worked: int) -> Lesson:
    last = max(tries, key=lambda each: (each.at or 0.0, each.session.session, each.attempt.seq))
    attempt = last.attempt
    scope = Scope(agent=last.session.agent if attempt.wall == "tool" else "", project=project)
    sessions = {each.session.session for each in tries}
    times = [at for each in tries if (at := each.at) is not None]
    environment = sum(each.attempt.environment for each in tries) * 2 > len(tries) and attempt.wall != "denied"
    days = EXPIRES_ENVIRONMENT if environment else EXPIRES
    form = _most_usual(each.attempt.form for each in tries)
    shown = _common_text([each.attempt.shown for each in tries]) or form
    instead = _most_usual((each.attempt.instead for each in tries), form)
    evidence = [
        Evidence(each.session.session, each.attempt.seq, each.at, text=one_line(each.attempt.shown)) for each in tries
    ]
    error = _most_usual([each.attempt.signature for each in tries])
    status, why = _status(tries, error)
    return Lesson(
        id=lesson_id("dead_end", scope, key),
        kind="dead_end",
        scope=scope,
        topic=attempt.wall,
        text=_text(attempt, shown, len(tries), len(sessions), error if status != "quarantined" else "", instead),
        use=instead,
        avoid=shown,
        error=error,
        signatures=commonest((each.attempt.signature for each in tries), _MOST_LESSONS),
        forms=commonest((each.attempt.form for each in tries), _MOST_LESSONS)
        if _is_whole(attempt)
        else _describe_tool(attempt),
        files=(attempt.shown,) if attempt.wall == "file" else (),
        recheck=attempt.recheck,
        environment=_fingerprint(last.session),
        support=Support(len(tries), len(sessions), worked, worked),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=days,
        expires_at=max(times) + days * DAY if times else None,
        evidence=select_evidence(evidence),
        cost_seconds=round(sum(each.attempt.seconds for each in tries), 3),
        cost_tokens=sum(each.attempt.tokens for each in tries),
        status=status,
        why=why,
    )


def _status(tries: list[_SessionAttempt], error: str) -> tuple[LessonStatus, str]:
    reason = order_reason(error) or next((why for each in tries if (why := order_reason(each.attempt.signature))), "")
    if reason:
        return "quarantined", reason
    if len({each.session.session for each in tries}) < 2:
        return "weak", "from one session only"
    return "active", ""


def _text(attempt: Attempt, shown: str, count: int, sessions: int, error: str, instead: str) -> str:
    where = f"{count} times in {format_count(sessions, 'session')}"
    quoted = f" (`{title(error)}`)" if error else ""
    if attempt.wall == "denied":
        return f"`{shown}` was refused {where}, and never allowed since"
    if attempt.wall == "file":
        return f"`{shown}` does not exist: it was looked for {where}"
    if attempt.wall == "program":
        text = f"`{shown}` is not installed: it was tried {where}"
        return f"{text}; `{instead}` was used instead" if instead else text
    text = f"`{one_line(shown, 120)}` was tried {where} and failed{quoted}"
    return f"{text}; abandoned for `{one_line(instead, 80)}`" if instead else text


def _is_whole(attempt: Attempt) -> bool:
    """Whether the attempt is about a whole command or tool, not about one file or one set of arguments."""
    return attempt.wall != "file" and (attempt.wall != "tool" or attempt.shown == attempt.form)


def _describe_tool(attempt: Attempt) -> tuple[str, ...]:
    """The tool with its arguments."""
    return (attempt.shown,) if attempt.wall == "tool" else ()


def _common_text(shown: list[str]) -> str:
    """The text of the attempts, where all have the same."""
    return shown[0] if len(set(shown)) == 1 else ""


def _most_usual(texts: Iterable[str], but: str = "") -> str:
    """The commonest of the texts that say something."""
    return next(iter(commonest(text for text in texts if text != but)), "")


def _fingerprint(session: SessionNotes[AttemptNotes]) -> dict[str, str]:
    """The model, branch and program versions of the session in which it failed last."""
    notes = session.notes
    known = {"agent": session.agent, "model": notes.model, "branch": notes.branch, **notes.versions}
    return {name: value for name, value in known.items() if value}


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    if not lessons:
        return "nothing that was tried in vain"
    active = sum(each.status == "active" for each in lessons)
    return f"{format_count(active, 'dead end')} that several sessions met, {len(lessons) - active} that only one did"


BUILD_DEAD_END_MEMORY = Learner(
    name="BuildDeadEndMemory", version=3, notes_type=AttemptNotes, take_notes=take_notes, learn=learn, describe=describe
)
