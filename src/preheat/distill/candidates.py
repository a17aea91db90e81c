"""What a person's own agent answered: read from its words, and each candidate verified against the calls that it cites.

A candidate is believed nothing: the cited calls must exist, show what it says, and no later call contradict it. Knows no agent
and no archive.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.lesson import LONGEST_TEXT, Evidence, Lesson, Scope, count_support, lesson_id, select_evidence
from preheat.safe_text.cleanup import make_harmless_line
from preheat.safe_text.reasons import danger_reason, hidden_reason
from preheat.stated import Statements, Words, command_parts, is_same_command

Kind: TypeAlias = Literal["convention", "repair", "dead_end"]
_CITATION = re.compile(r"(S\d{1,4})#(\d{1,6})")
_CODE = re.compile(r"`([^`]+)`")
_MOST = 50
"""Candidates that are looked at."""
_MOST_STARTS = 2_000
_TOPIC = re.compile(r"[a-z][a-z_ -]{0,30}")


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate in the form that is asked for."""

    text: str
    kind: Kind = "convention"
    topic: str = ""
    use: str = ""
    avoid: str = ""
    cites: list[str] = []


class CitedCall(NamedTuple):
    """A call of the archive that may be cited."""

    session: str
    """The key of its session."""
    seq: int
    command: str
    """The call on one line."""
    error: str
    works: bool
    """Whether the call itself was right, whatever it found."""
    at: float | None


class RejectedCandidate(NamedTuple):
    """A candidate that was thrown away, and why."""

    text: str
    why: str


class VerifiedAnswer(NamedTuple):
    """What is left of an answer."""

    lessons: tuple[Lesson, ...]
    """They wait for a review."""
    rejected: tuple[RejectedCandidate, ...]


class Known(NamedTuple):
    """What candidates are verified against."""

    project: str
    sessions: Mapping[str, str]
    """The key of each session by its label in the prompt."""
    calls: Mapping[tuple[str, int], CitedCall]
    """All calls of these sessions, by key of the session and place."""
    runs: Sequence[CitedCall]
    """The shell calls of the project in time order."""
    lessons: Sequence[Lesson]
    """What is known already, also what a person dropped."""
    stated: Statements
    """What the project's own files state."""


def read_answer(text: str) -> list[Any] | None:
    """The candidates in an answer, wherever they stand in it: the last JSON object with `candidates`; None if there is none."""
    decoder = json.JSONDecoder()
    starts = [found.start() for found in re.finditer(r"\{", text)][-_MOST_STARTS:]
    for start in reversed(starts):
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.get("candidates"), list):
            return list(value["candidates"])
    return None


def verify_answer(candidates: Sequence[Any], known: Known, now: float, redact: Callable[[str], str]) -> VerifiedAnswer:
    """Each candidate that its citations show, as a lesson that waits for a review; the others with the reason."""
    lessons: list[Lesson] = []
    rejected: list[RejectedCandidate] = []
    for raw in candidates[:_MOST]:
        try:
            candidate = _clean(msgspec.convert(raw, Candidate), redact)
        except msgspec.ValidationError as error:
            rejected.append(RejectedCandidate(make_harmless_line(str(raw), 120), f"not in the form asked for: {error}"))
            continue
        cited, why = _find_cited(candidate, known)
        why = (
            why or _find_fault(candidate, cited, known) or _find_duplicate(candidate, [*known.lessons, *lessons], known)
        )
        if why:
            rejected.append(RejectedCandidate(candidate.text, why))
        else:
            lessons.append(_make_lesson(candidate, cited, known.project, now))
    if len(candidates) > _MOST:
        rejected.append(RejectedCandidate("", f"{len(candidates) - _MOST:,} more than can be looked at"))
    return VerifiedAnswer(tuple(lessons), tuple(rejected))


def _clean(candidate: Candidate, redact: Callable[[str], str]) -> Candidate:
    return Candidate(
        text=make_harmless_line(redact(candidate.text), 2 * LONGEST_TEXT),
        kind=candidate.kind,
        topic=candidate.topic.strip().lower() if _TOPIC.fullmatch(candidate.topic.strip().lower()) else "",
        use=" ".join(redact(candidate.use).split()),
        avoid=" ".join(redact(candidate.avoid).split()),
        cites=candidate.cites,
    )


def _find_cited(candidate: Candidate, known: Known) -> tuple[list[CitedCall], str]:
    """The calls that a candidate cites, and what is wrong with the citations."""
    found: list[CitedCall] = []
    for cite in candidate.cites[:20]:
        match = _CITATION.fullmatch(cite.strip())
        key = known.sessions.get(match[1]) if match else None
        call = known.calls.get((key, int(match[2]) - 1)) if match and key is not None else None
        if call is None:
            return [], f"cites a call that does not exist: {make_harmless_line(cite, 30)}"
        found.append(call)
    return found, "" if found else "cites no call"


def _find_fault(candidate: Candidate, cited: Sequence[CitedCall], known: Known) -> str:
    """Why the cited calls do not show what a candidate says; empty if they do."""
    text = candidate.text
    if not text or len(text) > LONGEST_TEXT:
        return f"its text has {len(text):,} characters, not 1 to {LONGEST_TEXT}"
    suspicious = hidden_reason(text) or next(
        filter(None, (danger_reason(each) for each in (candidate.use, *_CODE.findall(text)) if each)), ""
    )
    if suspicious:
        return suspicious
    if candidate.use and not any(call.works and _runs(call, candidate.use) for call in cited):
        return "no cited call shows that its command works"
    if candidate.avoid and not any(not call.works and _runs(call, candidate.avoid) for call in cited):
        return "no cited call shows that the command to avoid fails"
    quoted = _CODE.findall(text)
    if not quoted and not candidate.use and not candidate.avoid:
        return "it names no command and no path that could be checked"
    shown = "\n".join(f"{call.command}\n{call.error}" for call in cited)
    missing = next((each for each in quoted if " ".join(each.split()) not in shown), "")
    if missing:
        return f"no cited call has `{make_harmless_line(missing, 60)}`"
    return _find_contradiction(candidate, cited, known.runs)


def _find_contradiction(candidate: Candidate, cited: Sequence[CitedCall], runs: Sequence[CitedCall]) -> str:
    """The later call that shows the opposite: the newest run of a command decides."""
    newest = max((call.at or 0.0 for call in cited), default=0.0)
    later = [run for run in runs if (run.at or 0.0) > newest]
    for command, works in ((candidate.use, True), (candidate.avoid, False)):
        mine = [run for run in later if command and _runs(run, command)]
        if mine and mine[-1].works != works:
            done = "fails" if works else "works"
            return f"a later call contradicts it: `{make_harmless_line(command, 60)}` {done} now"
    return ""


def _runs(call: CitedCall, command: str) -> bool:
    """Whether a call runs a command, alone or in a chain."""
    wanted, parts = command_parts(command), command_parts(call.command)
    return bool(wanted) and all(any(is_same_command(words, part) for part in parts) for words in wanted)


def _find_duplicate(candidate: Candidate, lessons: Sequence[Lesson], known: Known) -> str:
    if candidate.use and not candidate.avoid and known.stated.find_command(candidate.use) is not None:
        return "the project's own files say it"
    own = _key(candidate.use), _key(candidate.avoid)
    text = candidate.text.casefold()
    for lesson in lessons:
        if lesson.text.casefold() == text or (any(own) and own == (_key(lesson.use), _key(lesson.avoid))):
            return f"known already: `{lesson.id}`"
        if own[0] and not own[1] and _key(lesson.use) == own[0]:
            return f"known already: `{lesson.id}`"
    return ""


def _key(command: str) -> tuple[Words, ...]:
    return tuple(command_parts(command))


def _make_lesson(candidate: Candidate, cited: Sequence[CitedCall], project: str, now: float) -> Lesson:
    scope = Scope(project=project)
    evidence = [
        Evidence(call.session, call.seq, call.at, text=call.command if call.works else f"failed: {call.command}")
        for call in dict.fromkeys(cited)
    ]
    times = [call.at for call in cited if call.at is not None]
    return Lesson(
        id=lesson_id(candidate.kind, scope, "agent", candidate.text),
        kind=candidate.kind,
        scope=scope,
        topic=candidate.topic,
        text=candidate.text,
        use=candidate.use,
        avoid=candidate.avoid,
        support=count_support(evidence),
        evidence=select_evidence(evidence),
        first_seen=min(times, default=now),
        last_seen=max(times, default=now),
        half_life=120.0,
        score=0.5,
        status="waiting",
        why="distilled by your agent; `preheat lessons review` decides",
        author="agent",
    )
