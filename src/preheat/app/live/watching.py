"""Sessions watched: those that run now, as the daemon heard of them, else out of their transcripts; and earlier ones again.

Knows nothing of how they are shown. Of those that run a transcript is read again only when it has grown.
"""

import os
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from preheat.agents import LIVE, places_of, reader_of
from preheat.agents.places import Found
from preheat.agents.sources import read as sessions_in
from preheat.app.analysis.assessment import assess
from preheat.app.live.advice import known_in
from preheat.app.live.replay import Explanation, Moment, Timeline, explain, watch
from preheat.app.live.running import Running, running_sessions
from preheat.app.live.settings import thresholds_in
from preheat.app.sessions.archive import Sessions
from preheat.archive.connect import connect
from preheat.archive.lessons import places
from preheat.errors import NotFound, PreheatError
from preheat.live.advise import step
from preheat.live.events import events_of
from preheat.live.fold import reading
from preheat.live.state import START, LiveState
from preheat.model.live import Advisory, Phase
from preheat.model.session import Session

__all__ = ["Explanation", "LiveSession", "Moment", "Timeline", "Watched", "Watching"]

WITHIN = 30 * 60.0
"""Seconds since something was last heard of a session that runs."""
_LARGEST = 50_000_000
"""Bytes of a transcript that is read for a look."""
_DATABASES = (".db", ".sqlite", ".sqlite3", ".vscdb")
"""Of many sessions: reading one costs too much for a look."""


class LiveSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that runs, and what is measured of it now."""

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
    """The last text that it was told; of a transcript, the last that it would have been told."""
    advised_at: float | None = None
    told: bool = False
    """It was really told."""


class Watched(NamedTuple):
    """A session of the archive and its timeline."""

    session: Session
    short: str
    """The name by which it can be asked for again."""
    timeline: Timeline

    def explain(self, turn: int | None = None) -> Explanation:
        """How every signal came to its value after a turn; the last one unless given. Raises UserError."""
        return explain(self.timeline, turn)


class Watching:
    """Watches with the person's own thresholds. Keep one to look again and again. Raises UserError where the settings are
    wrong."""

    def __init__(self, folder: str, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = os.environ if environment is None else environment
        self._thresholds = thresholds_in(folder)
        self._known: dict[str, tuple[str, list[LiveSession]]] = {}

    # Sessions of the archive.
    def replay(self, name: str) -> Watched:
        """A session by its name, watched again with what its project has learned by now."""
        archive = Sessions(self._folder)
        key = archive.find(name).key
        session = archive.load(key)
        connection = connect(self._folder)
        try:
            place = next((each for each in places(connection) if each.folder == session.project), None)
            known = known_in(connection, place.name if place else "", time.time())
        finally:
            connection.close()
        timeline = watch(session, known, self._thresholds, root=place.root if place else "")
        return Watched(session, archive.short_names([key])[key], timeline)

    def replay_turn(self, name: str) -> tuple[Watched, int | None]:
        """A session by a name that may end in a turn: `0f3c1a2b:12`."""
        before, _, turn = name.rpartition(":")
        if before and turn.isdigit():
            try:
                return self.replay(before), int(turn)
            except NotFound:
                pass  # an id that has such an end itself
        return self.replay(name), None

    # Sessions that run.
    def look(self, now: float | None = None, within: float = WITHIN) -> list[LiveSession]:
        """The sessions that were heard of lately, the newest first."""
        now = time.time() if now is None else now
        heard = [self._of_running(each) for each in running_sessions(self._folder, within, now)]
        known = {(each.agent, each.session) for each in heard}
        heard += [each for each in self._transcripts(now, within) if (each.agent, each.session) not in known]
        return sorted(heard, key=lambda each: (-each.last_at, each.agent, each.session))

    def _of_running(self, found: Running) -> LiveSession:
        return self._measured(
            found.agent,
            found.session,
            found.cwd,
            found.state,
            found.last_at,
            found.advisory,
            found.advised_at or None,
            True,
        )

    def _measured(
        self, agent: str, session: str, project: str, state: LiveState, last_at: float,
        advisory: Advisory | None, advised_at: float | None, told: bool,
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
            loop=bool(state.looping),
            last_at=last_at,
            advisory=advisory.text if advisory else "",
            advised_at=advised_at,
            told=told and advisory is not None,
        )

    # Transcripts.
    def _transcripts(self, now: float, within: float) -> Iterator[LiveSession]:
        fresh: dict[str, tuple[str, list[LiveSession]]] = {}
        for agent, found, at in self._recent(now, within):
            stamp, measured = self._known.get(found.path, ("", []))
            if stamp != found.stamp:
                measured = list(self._read(agent, found.path, at))
            fresh[found.path] = (found.stamp, measured)
            yield from measured
        self._known = fresh

    def _recent(self, now: float, within: float) -> Iterator[tuple[str, Found, float]]:
        for agent in LIVE:
            kept = places_of(agent)
            for root in kept.roots(self._environment):
                for found in kept.discover(root):
                    if found.size > _LARGEST or found.path.endswith(_DATABASES):
                        continue
                    try:
                        at = os.stat(found.path).st_mtime
                    except OSError:
                        continue
                    if abs(now - at) < within:
                        yield agent, found, at

    def _read(self, agent: str, path: str, at: float) -> Iterator[LiveSession]:
        try:
            sessions = sessions_in(path, reader_of(agent))
        except (PreheatError, OSError):
            return  # a look must not fail because one file cannot be read
        for session in sessions:
            if session.relation != "subagent" and session.events and session.starter not in ("background", "preheat"):
                yield self._watched(session, at)

    def _watched(self, session: Session, at: float) -> LiveSession:
        state: LiveState = START
        last: Advisory | None = None
        advised_at: float | None = None
        for event in events_of(session, assess(session).records, finished=False):
            state, advisory = step(state, event, self._thresholds)
            if advisory is not None:
                last, advised_at = advisory, event.at
        return self._measured(session.agent, session.id, session.project, state, at, last, advised_at, False)
