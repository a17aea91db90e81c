"""Replays a recorded session event by event, as if hooks had sent it: what `replay` and `why` show.

Knows neither the archive nor how it is shown.
"""

import msgspec

from preheat.app.analysis.assessment import assess
from preheat.app.live.advice import advisory_for_mistake, step
from preheat.errors import UserError
from preheat.live.advise import record_advice
from preheat.live.events import events_of
from preheat.live.fold import readings
from preheat.live.known import NO_KNOWN_MISTAKES, KnownMistakes
from preheat.live.mistake import read_planned_command
from preheat.live.state import START
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import Advisory, CallEvent, LiveEvent, Phase, SignalReading
from preheat.model.session import Session


class ReplayMoment(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a session, with the signals and advisories after it."""

    event: LiveEvent
    turn: int
    phase: Phase
    reason: str = ""
    """Why the phase changed; empty if it did not."""
    readings: tuple[SignalReading, ...] = ()
    """Every signal after the event."""
    advisories: tuple[Advisory, ...] = ()
    """At most two: one before a call, one after it."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """All moments of a replayed session."""

    session: str
    agent: str
    project: str
    turns: int
    moments: tuple[ReplayMoment, ...]

    @property
    def advisories(self) -> list[Advisory]:
        return [advisory for moment in self.moments for advisory in moment.advisories]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The readings of all signals at one moment of a session."""

    session: str
    turn: int
    turns: int
    """The turns of the whole session."""
    phase: Phase
    event: LiveEvent
    readings: tuple[SignalReading, ...]
    advisories: tuple[Advisory, ...]


def replay(
    session: Session,
    known: KnownMistakes = NO_KNOWN_MISTAKES,
    thresholds: Thresholds = DEFAULTS,
    *,
    root: str = "",
    finished: bool = True,
) -> Timeline:
    """Replay a session from its beginning, as if hooks had sent its events."""
    state = START
    moments: list[ReplayMoment] = []
    for event in events_of(session, assess(session).records, root, finished=finished):
        advisories: list[Advisory] = []
        if isinstance(event, CallEvent) and event.kind == "shell":
            warning = advisory_for_mistake(
                state, read_planned_command(state.mistake, known, event.summary, session.agent), thresholds
            )
            if warning is not None:
                advisories.append(warning)
                state = record_advice(state, warning)
        phase = state.phase.phase
        state, advisory = step(state, event, known, thresholds, session.agent)
        if advisory is not None:
            advisories.append(advisory)
        now = state.phase
        moments.append(
            ReplayMoment(
                event=event,
                turn=state.turn,
                phase=now.phase,
                reason=now.reason if now.phase != phase else "",
                readings=readings(state, thresholds),
                advisories=tuple(advisories),
            )
        )
    return Timeline(
        session=session.id, agent=session.agent, project=session.project, turns=state.turn, moments=tuple(moments)
    )


def explain_turn(timeline: Timeline, turn: int | None = None) -> Explanation:
    """The readings at the end of a turn, by default the last one. Raises UserError if there is no such turn."""
    turn_number = timeline.turns if turn is None else turn
    moments = [moment for moment in timeline.moments if moment.turn == turn_number]
    if not moments:
        existing = f"it has {timeline.turns}" if timeline.turns else "it has none"
        raise UserError(f"there is no turn {turn_number} in `{timeline.session}`; {existing}")
    moment = ([each for each in moments if isinstance(each.event, CallEvent)] or moments)[-1]
    return Explanation(
        session=timeline.session,
        turn=moment.turn,
        turns=timeline.turns,
        phase=moment.phase,
        event=moment.event,
        readings=moment.readings,
        advisories=moment.advisories,
    )
