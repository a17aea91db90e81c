"""Replays a recorded session event by event, as if hooks had sent it: what `replay` and `why` show.

Knows neither the archive nor how it is shown.
"""

import msgspec

from preheat.app.analysis.assessment import assess
from preheat.app.live.advice import advisory_of, step
from preheat.errors import UserError
from preheat.live.advise import told
from preheat.live.events import events_of
from preheat.live.fold import readings
from preheat.live.known import NOTHING, Known
from preheat.live.mistake import about_to
from preheat.live.state import START
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import Advisory, Called, LiveEvent, Phase, Reading
from preheat.model.session import Session


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a session, with the signals and advisories after it."""

    event: LiveEvent
    turn: int
    phase: Phase
    reason: str = ""
    """Why the phase changed; empty if it did not."""
    readings: tuple[Reading, ...] = ()
    """Every signal after the event."""
    advisories: tuple[Advisory, ...] = ()
    """At most two: one before a call, one after it."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """All moments of a replayed session."""

    session: str
    agent: str
    project: str
    turns: int
    moments: tuple[Moment, ...]

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
    readings: tuple[Reading, ...]
    advisories: tuple[Advisory, ...]


def watch(
    session: Session,
    known: Known = NOTHING,
    thresholds: Thresholds = DEFAULTS,
    *,
    root: str = "",
    finished: bool = True,
) -> Timeline:
    """Replay a session from its beginning, as if hooks had sent its events."""
    state = START
    moments: list[Moment] = []
    for event in events_of(session, assess(session).records, root, finished=finished):
        advisories: list[Advisory] = []
        if isinstance(event, Called) and event.kind == "shell":
            warning = advisory_of(state, about_to(state.mistake, known, event.summary, session.agent), thresholds)
            if warning is not None:
                advisories.append(warning)
                state = told(state, warning)
        phase = state.phase.phase
        state, advisory = step(state, event, known, thresholds, session.agent)
        if advisory is not None:
            advisories.append(advisory)
        now = state.phase
        moments.append(
            Moment(
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


def explain(timeline: Timeline, turn: int | None = None) -> Explanation:
    """The readings at the end of a turn, by default the last one. Raises UserError if there is no such turn."""
    turn_number = timeline.turns if turn is None else turn
    moments = [moment for moment in timeline.moments if moment.turn == turn_number]
    if not moments:
        existing = f"it has {timeline.turns}" if timeline.turns else "it has none"
        raise UserError(f"there is no turn {turn_number} in `{timeline.session}`; {existing}")
    moment = ([each for each in moments if isinstance(each.event, Called)] or moments)[-1]
    return Explanation(
        session=timeline.session,
        turn=moment.turn,
        turns=timeline.turns,
        phase=moment.phase,
        event=moment.event,
        readings=moment.readings,
        advisories=moment.advisories,
    )
