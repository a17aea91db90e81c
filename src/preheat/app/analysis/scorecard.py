"""Scorecards: the counts behind a session's scores, and the scores of earlier sessions of its project beside them.

The formulas are in `live.scorecard`. Knows nothing of how a card is shown. Advice that needs lessons is left out: the scores of a
session must not change because of later sessions.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from preheat.app.analysis.assessment import assess
from preheat.app.lazy import LazyModule
from preheat.app.live.settings import load_thresholds
from preheat.app.projects import find_place
from preheat.app.sessions.archive import load_session
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.projects import load_session_projects
from preheat.calls.shell import read_shell
from preheat.commands import command_text, understand
from preheat.errors import PreheatError
from preheat.live.advice import step
from preheat.live.events import events_of
from preheat.live.output import shorten
from preheat.live.safety import Match, check_call
from preheat.live.scorecard import (
    TREND,
    Rank,
    RuleCount,
    Score,
    Scorecard,
    ScoreFacts,
    ScoreTerm,
    compute_scorecard,
    rank_scores,
)
from preheat.live.signal import DEFAULTS, Thresholds
from preheat.live.state import START, LiveState, reading
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.live import CallEvent, CompactionEvent, EndEvent, LiveEvent, PromptEvent
from preheat.model.profile import CallRecord
from preheat.model.session import Session, ToolCall, ToolResult, pair_calls_with_results, sum_usage

if TYPE_CHECKING:
    from preheat.archive import queries as _queries
    from preheat.model.analysis import Assessment
else:
    _queries = LazyModule("preheat.archive.queries")  # SQLAlchemy, which a daemon that scores a session does not need

__all__ = [
    "RankedScorecard",
    "Score",
    "ScoreTerm",
    "count_facts",
    "earlier_sessions",
    "matched_rules",
    "score_in_archive",
    "score_named",
    "score_session",
]

_READ_ONLY = frozenset(
    [
        "read",
        "search",
        "shell:read",
        "shell:search",
        "shell:list",
        "shell:test",
        "shell:build",
        "shell:lint",
        "shell:typecheck",
    ]
)
"""Activities that change nothing: made twice with the same result, the second call was needless."""


class RankedScorecard(msgspec.Struct, frozen=True, kw_only=True):
    """A session's scorecard, and its rank among the earlier sessions of its project."""

    key: str
    card: Scorecard
    standings: dict[str, Rank]
    earlier: int
    """How many earlier sessions could be scored."""


def score_in_archive(
    connection: ArchiveConnection, summary: SessionSummary, thresholds: Thresholds = DEFAULTS, trend: int = TREND
) -> RankedScorecard:
    """The scorecard of a session in the archive, compared with up to `trend` earlier ones of its project."""
    session = load_session(connection, summary.key)
    root = find_place(session).root
    card = score_session(session, thresholds, root)
    before = list(_earlier_cards(connection, summary, thresholds, root, trend)) if card.mean is not None else []
    return RankedScorecard(key=summary.key, card=card, standings=rank_scores(card, before), earlier=len(before))


def score_named(folder: str, name: str, trend: int = TREND) -> RankedScorecard:
    """The scorecard of a session by name, with the person's own thresholds."""
    with closing(connect(folder)) as connection:
        return score_in_archive(connection, _queries.find_session(connection, name), load_thresholds(folder), trend)


def score_session(session: Session, thresholds: Thresholds = DEFAULTS, root: str = "") -> Scorecard:
    """The scorecard of a session; `root` is its project's folder."""
    return compute_scorecard(count_facts(session, assess(session), thresholds, root))


def earlier_sessions(connection: ArchiveConnection, summary: SessionSummary) -> Iterator[SessionSummary]:
    """Earlier sessions of the same project, the newest first, without subagents. Clones and worktrees of the project count."""
    if not summary.project or summary.started_at is None:
        return
    projects = load_session_projects(connection)
    name = projects.get(summary.key, "")
    for each in _queries.list_sessions(connection, SessionFilter(until=summary.started_at, subagents=False)):
        is_same = projects.get(each.key) == name if name else each.project == summary.project
        if is_same and each.key != summary.key and each.calls:
            yield each


def _earlier_cards(
    connection: ArchiveConnection, summary: SessionSummary, thresholds: Thresholds, root: str, most: int
) -> Iterator[Scorecard]:
    scored = 0
    for each in earlier_sessions(connection, summary):
        if scored >= most:
            return
        try:
            card = score_session(load_session(connection, each.key), thresholds, root)
        except PreheatError:
            continue  # a session that cannot be read is skipped
        if card.mean is not None:
            scored += 1
            yield card


# Counting.
def count_facts(
    session: Session, assessed: "Assessment", thresholds: Thresholds = DEFAULTS, root: str = ""
) -> ScoreFacts:
    """The counts that the scores of a session are made of."""
    profile = assessed.profile
    tokens_used = sum_usage(session)
    counter = _SessionCounter(session, thresholds)
    for event in events_of(session, assessed.records, root):
        counter.take(event)
    rules, bypasses = _count_rules(session, assessed.records)
    return ScoreFacts(
        calls=profile.errors.total,
        turns=counter.state.turn,
        rules=rules,
        bypasses=bypasses,
        mistakes=profile.mistakes.count,
        repeated=counter.repeated,
        tokens=tokens_used.input + tokens_used.output + tokens_used.cache_write,
        lost_tokens=profile.lost_tokens,
        output=counter.output,
        surplus=counter.surplus,
        touches=len(counter.focus),
        mean_focus=sum(counter.focus) / len(counter.focus) if counter.focus else 100.0,
        mean_drift=sum(counter.drift) / len(counter.drift) if counter.drift else 0.0,
        switches=counter.state.focus.switches,
        advisories=counter.advisories,
        loops=counter.loops,
        broken_loops=counter.broken,
        debt=reading(counter.state, "debt", thresholds).value,
        debt_free=thresholds.debt_free,
        refused=profile.statuses.get("denied", 0) + profile.statuses.get("interrupted", 0),
    )


class _SessionCounter:
    """Folds the events of a session and counts what the scores need."""

    def __init__(self, session: Session, thresholds: Thresholds) -> None:
        self.state: LiveState = START
        self.focus: list[float] = []
        self.drift: list[float] = []
        self.advisories = self.loops = self.broken = self.repeated = self.output = self.surplus = 0
        self._thresholds = thresholds
        self._seen_calls: set[tuple[int, int]] = set()
        self._results = {
            call.call_id: result
            for call, result in pair_calls_with_results(session)
            if result is not None and call.kind == "shell"
        }

    def take(self, event: LiveEvent) -> None:
        before = self.state.loop_cause
        self.state, advisory = step(self.state, event, self._thresholds)
        self.advisories += advisory is not None
        after = self.state.loop_cause
        if before and not after and not isinstance(event, PromptEvent | CompactionEvent | EndEvent):
            self.broken += 1  # a new prompt also ends a loop, but the agent did not get out of it
        elif after and after != before:
            self.loops += 1
            self.broken += bool(before)
        if isinstance(event, CallEvent):
            self._fold_call(event)
        elif isinstance(event, CompactionEvent):
            self._seen_calls.clear()  # the agent has to read again what it has forgotten

    def _fold_call(self, event: CallEvent) -> None:
        if event.files:
            self.focus.append(reading(self.state, "focus", self._thresholds).value)
            self.drift.append(reading(self.state, "drift", self._thresholds).value)
        if event.edited or event.removed or event.activity not in _READ_ONLY:
            self._seen_calls.clear()
        elif not event.polling and event.status in ("ok", "empty", "failed", "partial"):
            look = (event.same_call, event.same_result)
            self.repeated += look in self._seen_calls and event.cause != "mistake"
            self._seen_calls.add(look)
        result = self._results.pop(event.call_id, None)
        if result is not None:
            self._measure(result)

    def _measure(self, result: ToolResult) -> None:
        lines = int(self._thresholds.output_lines.of(self.state.phase.phase))
        self.output += len(result.text)
        self.surplus += len(result.text) - len(shorten(result.text, result.exit_code, lines).text)


def matched_rules(session: Session, records: Sequence[CallRecord]) -> Iterator[tuple[CallRecord, ToolCall, Match]]:
    """Every match of a safety rule by a call of the session, with the call and its record."""
    by_seq = {record.seq: record for record in records if not record.bookkeeping}
    unsaved = False
    for seq, (call, _) in enumerate(pair_calls_with_results(session)):
        record = by_seq.get(seq)
        if record is None:
            continue
        for match in check_call(call, unsaved=unsaved):
            yield record, call, match
        unsaved = _has_unsaved(unsaved, call, record)


def _has_unsaved(before: bool, call: ToolCall, record: CallRecord) -> bool:
    """Whether the session has uncommitted changes after a call."""
    if record.status not in ("ok", "empty"):
        return before
    if call.kind in ("edit", "write"):
        return True
    text = command_text(call.input) if call.kind == "shell" else ""
    if text and any(
        each.program == "git" and not {"commit", "stash"}.isdisjoint(each.words[1:4])
        for each in understand(text).commands
    ):
        return False
    return before or (bool(text) and read_shell(text).writes)


def _count_rules(session: Session, records: Sequence[CallRecord]) -> tuple[tuple[RuleCount, ...], int]:
    """How often each safety rule matched, the worst and most frequent first; and how often one matched again after a refusal."""
    times: Counter[str] = Counter()
    denied: Counter[str] = Counter()
    first_match: dict[str, Match] = {}
    bypasses = 0
    for record, _, match in matched_rules(session, records):
        rule = f"{match.rule} {match.severity}"
        first_match.setdefault(rule, match)
        times[rule] += 1
        if record.status == "denied":
            denied[match.rule] += 1
            denied[rule] += 1
        elif denied[match.rule]:
            bypasses += 1
    order = {"critical": 0, "high": 1, "medium": 2}
    counts = [
        RuleCount(found.rule, found.severity, times[rule], denied[rule], found.shown)
        for rule, found in first_match.items()
    ]
    return tuple(sorted(counts, key=lambda each: (order[each.severity], -each.times, each.rule))), bypasses
