"""Scorecards: what is counted of a session, its scores, and the project's earlier sessions beside it.

The formulas are `live.scorecard`'s; nothing is shown here. Advice that needs what was learned is left out: a session's scores
must not change because others came after it.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from preheat.app.analysis.assessment import assess
from preheat.app.later import Later
from preheat.app.live.settings import thresholds_in
from preheat.app.sessions.archive import load
from preheat.archive.connect import connect
from preheat.archive.lessons import places
from preheat.calls.shell import shell
from preheat.commands import text_of, understand
from preheat.errors import PreheatError
from preheat.live.advise import step
from preheat.live.events import events_of
from preheat.live.fold import reading
from preheat.live.safety import Match, check_call
from preheat.live.scorecard import TREND, Facts, Line, RuleCount, Score, Scorecard, Standing, scorecard, standings
from preheat.live.shorten import shorten
from preheat.live.state import START, LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.listing import Filter, Summary
from preheat.model.live import Asked, Called, Compacted, Ended, LiveEvent
from preheat.model.profile import CallRecord
from preheat.model.session import Session, ToolCall, ToolResult, joined, usage

if TYPE_CHECKING:
    from preheat.archive import queries as _queries
    from preheat.model.analysis import Assessment
else:
    _queries = Later("preheat.archive.queries")  # SQLAlchemy, which a daemon that scores a session does not need

__all__ = ["Line", "Score", "Scored", "earlier", "facts_of", "met", "score", "score_named", "score_session"]

_LOOKS = frozenset(
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
"""Activities that change nothing by themselves: made twice with the same result, the second one was needless."""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A session's scorecard, and where it stands among the earlier sessions of its project."""

    key: str
    card: Scorecard
    standings: dict[str, Standing]
    earlier: int
    """Earlier sessions that could be scored."""


def score(
    connection: sqlite3.Connection, summary: Summary, thresholds: Thresholds = DEFAULTS, trend: int = TREND
) -> Scored:
    """The scorecard of a session in the archive, beside up to `trend` earlier ones of the project."""
    root = next((each.root for each in places(connection) if each.folder == summary.project), "")
    card = score_session(load(connection, summary.key), thresholds, root)
    before = list(_earlier_cards(connection, summary, thresholds, root, trend)) if card.mean is not None else []
    return Scored(key=summary.key, card=card, standings=standings(card, before), earlier=len(before))


def score_named(folder: str, name: str, trend: int = TREND) -> Scored:
    """The same of a session by its name, with the person's own thresholds."""
    connection = connect(folder)
    try:
        return score(connection, _queries.find(connection, name), thresholds_in(folder), trend)
    finally:
        connection.close()


def score_session(session: Session, thresholds: Thresholds = DEFAULTS, root: str = "") -> Scorecard:
    """The scorecard of a session; `root` is its project's folder."""
    return scorecard(facts_of(session, assess(session), thresholds, root))


def earlier(connection: sqlite3.Connection, summary: Summary) -> Iterator[Summary]:
    """The sessions of the project that began before, the newest first; without what agents delegated.

    Folders that are known to belong to one project (clones, worktrees) are one.
    """
    if not summary.project or summary.started_at is None:
        return
    known = places(connection)
    name = next((each.name for each in known if each.folder == summary.project), "")
    folders = {summary.project, *(each.folder for each in known if name and each.name == name)}
    for each in _queries.sessions(connection, Filter(until=summary.started_at, subagents=False)):
        if each.project in folders and each.key != summary.key and each.calls:
            yield each


def _earlier_cards(
    connection: sqlite3.Connection, summary: Summary, thresholds: Thresholds, root: str, most: int
) -> Iterator[Scorecard]:
    number = 0
    for each in earlier(connection, summary):
        if number >= most:
            return
        try:
            card = score_session(load(connection, each.key), thresholds, root)
        except PreheatError:
            continue  # one that cannot be read takes nothing from the others
        if card.mean is not None:
            number += 1
            yield card


# Counting.
def facts_of(session: Session, assessed: "Assessment", thresholds: Thresholds = DEFAULTS, root: str = "") -> Facts:
    """What a scorecard is made of."""
    profile = assessed.profile
    used = usage(session)
    watched = _Watching(session, thresholds)
    for event in events_of(session, assessed.records, root):
        watched.take(event)
    rules, bypasses = _rules(session, assessed.records)
    return Facts(
        calls=profile.errors.total,
        turns=watched.state.turn,
        rules=rules,
        bypasses=bypasses,
        mistakes=profile.mistakes.count,
        repeated=watched.repeated,
        tokens=used.input + used.output + used.cache_write,
        lost_tokens=profile.lost_tokens,
        output=watched.output,
        surplus=watched.surplus,
        touches=len(watched.focus),
        mean_focus=sum(watched.focus) / len(watched.focus) if watched.focus else 100.0,
        mean_drift=sum(watched.drift) / len(watched.drift) if watched.drift else 0.0,
        switches=watched.state.focus.switches,
        advisories=watched.advisories,
        loops=watched.loops,
        broken_loops=watched.broken,
        debt=reading(watched.state, "debt", thresholds).value,
        debt_free=thresholds.debt_free,
        refused=profile.statuses.get("denied", 0) + profile.statuses.get("interrupted", 0),
    )


class _Watching:
    """One walk over the events of a session."""

    def __init__(self, session: Session, thresholds: Thresholds) -> None:
        self.state: LiveState = START
        self.focus: list[float] = []
        self.drift: list[float] = []
        self.advisories = self.loops = self.broken = self.repeated = self.output = self.surplus = 0
        self._thresholds = thresholds
        self._looks: set[tuple[int, int]] = set()
        self._results = {
            call.call_id: result for call, result in joined(session) if result is not None and call.kind == "shell"
        }

    def take(self, event: LiveEvent) -> None:
        before = self.state.looping
        self.state, advisory = step(self.state, event, self._thresholds)
        self.advisories += advisory is not None
        after = self.state.looping
        if before and not after and not isinstance(event, Asked | Compacted | Ended):
            self.broken += 1  # a new prompt also ends one, but nobody got out of it
        elif after and after != before:
            self.loops += 1
            self.broken += bool(before)
        if isinstance(event, Called):
            self._called(event)
        elif isinstance(event, Compacted):
            self._looks.clear()  # what is forgotten has to be read again

    def _called(self, event: Called) -> None:
        if event.files:
            self.focus.append(reading(self.state, "focus", self._thresholds).value)
            self.drift.append(reading(self.state, "drift", self._thresholds).value)
        if event.edited or event.removed or event.activity not in _LOOKS:
            self._looks.clear()
        elif not event.polling and event.status in ("ok", "empty", "failed", "partial"):
            look = (event.same_call, event.same_result)
            self.repeated += look in self._looks and event.cause != "mistake"
            self._looks.add(look)
        result = self._results.pop(event.call_id, None)
        if result is not None:
            self._measure(result)

    def _measure(self, result: ToolResult) -> None:
        lines = int(self._thresholds.output_lines.of(self.state.phase.phase))
        self.output += len(result.text)
        self.surplus += len(result.text) - len(shorten(result.text, result.exit_code, lines).text)


def met(session: Session, records: Sequence[CallRecord]) -> Iterator[tuple[CallRecord, ToolCall, Match]]:
    """Every safety rule that a call of the session met, with the call and the verdict on it."""
    by_seq = {record.seq: record for record in records if not record.bookkeeping}
    unsaved = False
    for seq, (call, _) in enumerate(joined(session)):
        record = by_seq.get(seq)
        if record is None:
            continue
        for match in check_call(call, unsaved=unsaved):
            yield record, call, match
        unsaved = _unsaved(unsaved, call, record)


def _unsaved(before: bool, call: ToolCall, record: CallRecord) -> bool:
    """Whether the session has changes that are not committed, after a call."""
    if record.status not in ("ok", "empty"):
        return before
    if call.kind in ("edit", "write"):
        return True
    text = text_of(call.input) if call.kind == "shell" else ""
    if text and any(
        each.program == "git" and not {"commit", "stash"}.isdisjoint(each.words[1:4])
        for each in understand(text).commands
    ):
        return False
    return before or (bool(text) and shell(text).writes)


def _rules(session: Session, records: Sequence[CallRecord]) -> tuple[tuple[RuleCount, ...], int]:
    """How often each rule was met, the worst and most frequent first; and how often one was met after a refusal."""
    times: Counter[str] = Counter()
    denied: Counter[str] = Counter()
    worst: dict[str, Match] = {}
    bypasses = 0
    for record, _, match in met(session, records):
        rule = f"{match.rule} {match.severity}"
        worst.setdefault(rule, match)
        times[rule] += 1
        if record.status == "denied":
            denied[match.rule] += 1
            denied[rule] += 1
        elif denied[match.rule]:
            bypasses += 1
    order = {"critical": 0, "high": 1, "medium": 2}
    counted = [
        RuleCount(found.rule, found.severity, times[rule], denied[rule], found.shown) for rule, found in worst.items()
    ]
    return tuple(sorted(counted, key=lambda each: (order[each.severity], -each.times, each.rule))), bypasses
