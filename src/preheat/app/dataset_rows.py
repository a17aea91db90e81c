"""Measures a session for a dataset: everything in its row, and what its calls have that several projects may share.

Knows nothing of names, nor of what may be told.
"""

from collections import Counter
from typing import Any, NamedTuple

from preheat.app.assessment import assess
from preheat.app.compression import compress_all
from preheat.app.scorecard import facts_of
from preheat.calls.form import command_form
from preheat.commands import text_of
from preheat.dataset.markers import Watched, measured
from preheat.dataset.rows import SessionRow, Share, Shortened
from preheat.live.advise import step
from preheat.live.events import events_of
from preheat.live.scorecard import scorecard
from preheat.live.state import START
from preheat.model.analysis import Assessment
from preheat.model.live import Called
from preheat.model.profile import CallRecord
from preheat.model.session import AssistantMessage, Session, ToolCall, joined


class Measured(NamedTuple):
    """A session's row with its own names in it, and its calls."""

    row: SessionRow
    models: list[str]
    calls: list[tuple[CallRecord, str]]
    """Each with the form of its shell command."""


def measure(session: Session) -> Measured:
    """All that a dataset counts of a session."""
    assessed = assess(session)
    models = {session.model, *(event.model for event in session.events if isinstance(event, AssistantMessage))}
    by_seq = {record.seq: record for record in assessed.records}
    calls = [(by_seq[seq], _form_of(call)) for seq, (call, _) in enumerate(joined(session)) if seq in by_seq]
    row = measured(session, assessed.profile, assessed.records, _watched(session, assessed))
    return Measured(row, sorted(models - {""}), calls)


def _form_of(call: ToolCall) -> str:
    """The form of a shell command; empty for other calls."""
    return command_form(text_of(call.input)) if call.kind == "shell" else ""


def _watched(session: Session, assessed: Assessment) -> Watched:
    card = scorecard(facts_of(session, assessed))
    phases, changes = _phases(session, assessed)
    shortened = {
        each.strategy: Shortened(
            each.ratio, {sort: Share(kept.kept, kept.total) for sort, kept in each.markers.items()}
        )
        for each in compress_all(session)
        if each.strategy != "none"
    }
    scores: dict[str, float | None] = {score.dimension: score.value for score in card.scores}
    rules: Counter[str] = Counter()
    for rule in card.facts.rules:
        rules[rule.rule] += rule.times
    return Watched(phases, changes, {**scores, "mean": card.mean}, rules, shortened)


def _phases(session: Session, assessed: Assessment) -> tuple[dict[str, int], int]:
    """How many calls were made in each phase, and how often it changed."""
    state = START
    counted: Counter[str] = Counter()
    changes = 0
    for event in events_of(session, assessed.records):
        before = state.phase.phase
        state, _ = step(state, event)
        changes += state.phase.phase != before
        if isinstance(event, Called):
            counted[state.phase.phase] += 1
    return dict(counted), changes


def outcomes(session: Session) -> list[dict[str, Any]]:
    """What came of each call, in their order: a reader of a trajectory without texts could not tell."""
    return [
        {
            "status": record.status,
            "rung": record.rung,
            "activity": record.activity,
            **({"cause": record.cause} if record.cause else {}),
        }
        for record in assess(session).records
    ]
