"""Adds the records of one session up to its profile.

Knows nothing of how calls are judged or traced. Where there is too little to go on, a measure is None.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from preheat.model.outcome import CAUSES, FAILURES, JUDGED, RUNGS, STATUSES, Outcome
from preheat.model.profile import CallRecord, Rate, SessionProfile, ToolType, ToolUse
from preheat.model.session import Session, ToolKind
from preheat.profiles.conversation import Conversation
from preheat.profiles.markers import find_context_markers
from preheat.profiles.style import user_style
from preheat.statistics.rates import fit_trend, rate_of

FEWEST_FOR_FIFTHS = 5
SHORTEST_SCORED = 10
"""Messages; the seeds give a shorter session the score 0."""
FULL_LENGTH = 100
"""Messages from which on length adds nothing to the seeds' score."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUNS_CODE = frozenset(["code", "repl", "ipython", "jupyter", "interpreter"])
_TYPES: dict[ToolKind, ToolType] = {
    "shell": "terminal",
    "edit": "file",
    "write": "file",
    "read": "file",
    "search": "research",
    "web": "research",
    "plan": "meta",
    "delegate": "meta",
    "other": "general",
}
_ORDER: tuple[ToolType, ...] = ("terminal", "code", "file", "research", "meta", "general")


class _Tally:
    """The calls of a session counted once, by what they are and what came of them: all that the sums need."""

    def __init__(self, counted: Sequence[CallRecord]) -> None:
        self.statuses: dict[str, int] = dict.fromkeys(STATUSES, 0)
        self.rungs: dict[str, int] = dict.fromkeys(RUNGS, 0)
        self.types = dict.fromkeys(_ORDER, 0)
        self._tools: dict[str, list[int]] = {}
        self.repeated = self.reads = self.reread = 0
        alike = Counter(
            [
                (each.tool, each.kind, each.activity, each.status, each.rung, each.cause, each.repeated, each.reread)
                for each in counted
            ]
        )
        for (tool, kind, activity, status, rung, cause, repeated, reread), number in alike.items():
            if repeated:
                self.repeated += number
            if kind == "read" or activity == "shell:read":
                self.reads += number
                self.reread += number if reread else 0
            self.statuses[status] += number
            self.rungs[rung] += number
            self.types[_type(tool, kind)] += number
            numbers = self._tools.setdefault(tool, [0, 0, 0, 0])
            numbers[0] += number
            if status in JUDGED:
                numbers[1] += number
            if status in FAILURES:
                numbers[2] += number
                numbers[3] += number if cause == "mistake" else 0

    @property
    def tools(self) -> dict[str, ToolUse]:
        """The most used first."""
        ordered = sorted(self._tools.items(), key=lambda item: (-item[1][0], item[0]))
        return {
            name: ToolUse(calls, rate_of(failed, judged), rate_of(mistakes, judged))
            for name, (calls, judged, failed, mistakes) in ordered
        }

    @property
    def dominant(self) -> ToolType:
        """What most calls are; of two with as many, the one that stands first in the order."""
        return max(_ORDER, key=self.types.__getitem__) if any(self.types.values()) else "general"


def profile_session(session: Session, outcomes: Sequence[Outcome], records: Sequence[CallRecord]) -> SessionProfile:
    """The measures of a session; `records` are its traced calls, and hold everything that `outcomes` says."""
    talk = Conversation(session)
    counted = [record for record in records if not record.bookkeeping]
    judged = [record for record in counted if record.status in JUDGED]
    places = [place for place, record in enumerate(judged) if record.status in FAILURES]
    failures = [judged[place] for place in places]
    tally = _Tally(counted)
    errors = rate_of(len(failures), len(judged))
    early, late = _fifths(places, len(judged))
    slope = fit_trend(places, len(judged))
    recovered = [record.recovered_in for record in failures if record.recovered_in is not None]
    return SessionProfile(
        agent=session.agent,
        session=session.id,
        model=session.model,
        project=session.project,
        messages=talk.messages,
        prompts=len(talk.prompts),
        calls=len(counted),
        bookkeeping_calls=len(records) - len(counted),
        statuses=_nonzero(tally.statuses),
        causes=_causes(failures),
        rungs=_nonzero(tally.rungs),
        errors=errors,
        mistakes=rate_of(sum([record.cause == "mistake" for record in failures]), len(judged)),
        tools=tally.tools,
        early=early,
        late=late,
        proficiency_gain=None if late.value is None or early.value is None else late.value - early.value,
        slope=slope.slope if slope else None,
        slope_low=slope.low if slope else None,
        slope_high=slope.high if slope else None,
        recovery=rate_of(len(recovered), len(failures)),
        recovery_calls=sum(recovered) / len(recovered) if recovered else None,
        repeats=rate_of(tally.repeated, len(counted)),
        repeated_failures=rate_of(_seen_before(failures), len(failures)),
        rereads=rate_of(tally.reread, tally.reads),
        lost_seconds=sum([record.lost_seconds for record in failures]),
        lost_tokens=sum([record.lost_tokens for record in failures]),
        seconds=talk.seconds,
        tokens=talk.tokens,
        context_peak=talk.context_peak,
        context_window=talk.context_window,
        compactions=talk.compactions,
        user=user_style(talk.prompts),
        dominant_tool_type=tally.dominant,
        context_markers=find_context_markers(talk.texts, session.project),
        proficiency=_proficiency(errors, talk.messages),
    )


def _nonzero(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts above zero, in the order of the model."""
    return {name: number for name, number in counts.items() if number}


def _causes(failures: Sequence[CallRecord]) -> dict[str, int]:
    counts: dict[str, int] = {**dict.fromkeys(CAUSES, 0), "unknown": 0}
    for record in failures:
        counts[record.cause or "unknown"] += 1
    return _nonzero(counts)


def _fifths(places: Sequence[int], total: int) -> tuple[Rate, Rate]:
    """Errors in the first and in the last fifth of the judged calls; two empty rates where there are too few."""
    fifth = total // 5 if total >= FEWEST_FOR_FIFTHS else 0
    return (
        rate_of(sum(place < fifth for place in places), fifth),
        rate_of(sum(place >= total - fifth for place in places), fifth),
    )


def _seen_before(failures: Sequence[CallRecord]) -> int:
    """Failures with a signature that an earlier one had."""
    signatures = [record.signature for record in failures if record.signature]
    return len(signatures) - len(set(signatures))


@lru_cache(4096)
def _type(tool: str, kind: ToolKind) -> ToolType:
    if kind in ("shell", "other") and not _RUNS_CODE.isdisjoint(word.lower() for word in _WORDS.findall(tool[:200])):
        return "code"
    return _TYPES[kind]


def _proficiency(errors: Rate, messages: int) -> float:
    """The seeds' score. Calls that nobody could judge show nothing, so without any the first part is 0."""
    if messages < SHORTEST_SCORED:
        return 0.0
    success = 0.0 if errors.value is None else 1.0 - errors.value
    return 0.7 * success + 0.3 * min(1.0, messages / FULL_LENGTH)
