"""Live signals: of the sessions that run now, from the daemon or from their transcripts; and of recorded ones replayed.

Knows nothing of how they are shown. The transcript of a running session is read again only when it has grown.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

import msgspec

from preheat.agents import LIVE, places_of, reader_of
from preheat.agents.places import SourceFile
from preheat.agents.sources import read as read_sessions
from preheat.app.analysis.assessment import assess
from preheat.app.live.advice import advisory_for_mistake, load_known_mistakes, step
from preheat.app.live.hooks import Hooks
from preheat.app.live.running import RunningSession, load_running_sessions
from preheat.app.live.settings import load_thresholds
from preheat.app.projects import find_place
from preheat.app.sessions.archive import Sessions
from preheat.archive.connect import connect
from preheat.archive.projects import load_session_projects
from preheat.errors import NotFound, PreheatError, UserError
from preheat.live.advice import record_advice
from preheat.live.advice import step as step_signals
from preheat.live.events import events_of
from preheat.live.mistake import NO_KNOWN_MISTAKES, KnownMistakes, read_planned_command
from preheat.live.signal import DEFAULTS, Thresholds
from preheat.live.state import START, LiveState, reading, readings
from preheat.model.live import Advisory, CallEvent, HookEvent, LiveEvent, Phase, SignalReading
from preheat.model.session import Session, ToolCall

__all__ = ["Explanation", "LiveSession", "LiveSignals", "ReplayMoment", "ReplayedSession", "Timeline"]


# A recorded session, replayed event by event as if hooks had sent it.
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
    for event in events_of(session, assess(session, hindsight=False).records, root, finished=finished):
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


# Running sessions.
RUNNING_SECONDS = 30 * 60.0
"""Seconds after its last event for which a session counts as running."""
_LARGEST = 50_000_000
"""The largest transcript, in bytes, that is read."""
_DATABASES = (".db", ".sqlite", ".sqlite3", ".vscdb")
"""Endings of databases with many sessions, which take too long to read."""


class LiveSession(msgspec.Struct, frozen=True, kw_only=True):
    """A running session and its present signals."""

    agent: str
    session: str
    project: str
    turn: int
    phase: Phase
    trust: float
    focus: float
    debt: float
    loop: bool
    last_at: float
    advisory: str = ""
    """The last advisory that was sent; of a transcript, the last that would have been sent."""
    advised_at: float | None = None
    was_sent: bool = False
    """Whether the advisory was really sent."""


class ReplayedSession(NamedTuple):
    """A session of the archive, replayed."""

    session: Session
    short: str
    """A short name of the session."""
    timeline: Timeline

    def explain(self, turn: int | None = None) -> Explanation:
        """The readings of all signals after a turn, by default the last one. Raises UserError."""
        return explain_turn(self.timeline, turn)


class LiveSignals:
    """Live signals with the person's own thresholds. Keep one object to poll. Raises UserError if the settings are wrong."""

    def __init__(self, folder: str, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = os.environ if environment is None else environment
        self._thresholds = load_thresholds(folder)
        self._measured_files: dict[str, tuple[str, list[LiveSession]]] = {}

    # Sessions of the archive.
    def replay(self, name: str) -> ReplayedSession:
        """Replay a session by name, with the lessons that its project has now."""
        archive = Sessions(self._folder)
        key = archive.find(name).key
        session = archive.load(key)
        with closing(connect(self._folder)) as connection:
            name = load_session_projects(connection).get(key, "")
            root = find_place(session).root
            known = load_known_mistakes(connection, name, time.time(), root)
        timeline = replay(session, known, self._thresholds, root=root)
        return ReplayedSession(session, archive.short_names([key])[key], timeline)

    def replay_turn(self, name: str) -> tuple[ReplayedSession, int | None]:
        """Replay a session by a name that may end in a turn: `0f3c1a2b:12`; the turn, if there is one."""
        before, _, turn = name.rpartition(":")
        if before and turn.isdigit():
            try:
                return self.replay(before), int(turn)
            except NotFound:
                pass  # the id itself ends like this
        return self.replay(name), None

    def advise_before_call(self, session: Session, call: ToolCall) -> Advisory | None:
        """What a session that begins in the same folder would be told before this call, from all that is known now."""
        hooks = Hooks(self._folder)
        hooks.prepare_folder(session.project)
        event = HookEvent(
            agent=session.agent,
            session="",
            name="before_tool",
            cwd=session.project,
            tool=call.tool,
            arguments=call.input,
        )
        return hooks.advise_before_call(START, event)

    # Running sessions.
    def sessions(self, now: float | None = None, within: float = RUNNING_SECONDS) -> list[LiveSession]:
        """The running sessions with their signals, the newest first."""
        now = time.time() if now is None else now
        sessions = [self._measure_running(each) for each in load_running_sessions(self._folder, within, now)]
        known_keys = {(each.agent, each.session) for each in sessions}
        sessions += [
            each for each in self._measure_transcripts(now, within) if (each.agent, each.session) not in known_keys
        ]
        return sorted(sessions, key=lambda each: (-each.last_at, each.agent, each.session))

    def _measure_running(self, found: RunningSession) -> LiveSession:
        return self._live_session(
            found.agent,
            found.session,
            found.cwd,
            found.state,
            found.last_at,
            found.advisory,
            found.advised_at or None,
            True,
        )

    def _live_session(
        self, agent: str, session: str, project: str, state: LiveState, last_at: float,
        advisory: Advisory | None, advised_at: float | None, was_sent: bool,
    ) -> LiveSession:  # fmt: skip
        thresholds = self._thresholds
        return LiveSession(
            agent=agent,
            session=session,
            project=project,
            turn=state.turn,
            phase=state.phase.phase,
            trust=reading(state, "trust", thresholds).value,
            focus=reading(state, "focus", thresholds).value,
            debt=reading(state, "debt", thresholds).value,
            loop=bool(state.loop_cause),
            last_at=last_at,
            advisory=advisory.text if advisory else "",
            advised_at=advised_at,
            was_sent=was_sent and advisory is not None,
        )

    # Transcripts.
    def _measure_transcripts(self, now: float, within: float) -> Iterator[LiveSession]:
        current: dict[str, tuple[str, list[LiveSession]]] = {}
        for agent, found, at in self._recent_files(now, within):
            stamp, sessions = self._measured_files.get(found.path, ("", []))
            if stamp != found.stamp:
                sessions = list(self._measure_file(agent, found.path, at))
            current[found.path] = (found.stamp, sessions)
            yield from sessions
        self._measured_files = current

    def _recent_files(self, now: float, within: float) -> Iterator[tuple[str, SourceFile, float]]:
        for agent in LIVE:
            places = places_of(agent)
            for root in places.roots(self._environment):
                for found in places.discover(root):
                    if found.size > _LARGEST or found.path.endswith(_DATABASES):
                        continue
                    try:
                        at = os.stat(found.path).st_mtime
                    except OSError:
                        continue
                    if abs(now - at) < within:
                        yield agent, found, at

    def _measure_file(self, agent: str, path: str, at: float) -> Iterator[LiveSession]:
        try:
            sessions = read_sessions(path, reader_of(agent))
        except (PreheatError, OSError):
            return  # one unreadable file must not hide the other sessions
        for session in sessions:
            if session.relation != "subagent" and session.events and session.starter not in ("background", "preheat"):
                yield self._measure_session(session, at)

    def _measure_session(self, session: Session, at: float) -> LiveSession:
        state: LiveState = START
        last: Advisory | None = None
        advised_at: float | None = None
        for event in events_of(session, assess(session, hindsight=False).records, finished=False):
            state, advisory = step_signals(state, event, self._thresholds)
            if advisory is not None:
                last, advised_at = advisory, event.at
        return self._live_session(session.agent, session.id, session.project, state, at, last, advised_at, False)
