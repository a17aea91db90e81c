"""The sessions that run now, each with what is measured of it: as the daemon heard of them, else out of their transcripts.

Knows nothing of how they are shown. A transcript is read again only when it has grown.
"""

import os
import time
from collections.abc import Iterator, Mapping

import msgspec

from preheat.agents import LIVE, places_of, reader_of
from preheat.agents.places import Found
from preheat.agents.sources import read
from preheat.app.assessment import assess
from preheat.daemon.sessions import Running, running
from preheat.errors import PreheatError
from preheat.live.advise import step
from preheat.live.events import events_of
from preheat.live.fold import reading
from preheat.live.state import START, LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import Advisory, Phase
from preheat.model.session import Session

WITHIN = 30 * 60.0
"""Seconds since something was last heard of a session that runs."""
_LARGEST = 50_000_000
"""Bytes of a transcript that is read for a look."""
_DATABASES = (".db", ".sqlite", ".sqlite3", ".vscdb")
"""Of many sessions: reading one costs too much for a look."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """One running session."""

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


class Looking:
    """Looks again and again."""

    def __init__(
        self, folder: str, environment: Mapping[str, str] | None = None, thresholds: Thresholds = DEFAULTS
    ) -> None:
        self._folder = folder
        self._environment = os.environ if environment is None else environment
        self._thresholds = thresholds
        self._known: dict[str, tuple[str, list[Glance]]] = {}

    def look(self, now: float | None = None, within: float = WITHIN) -> list[Glance]:
        """The sessions that were heard of lately, the newest first."""
        now = time.time() if now is None else now
        heard = [self._of_running(each) for each in running(self._folder, within, now)]
        known = {(each.agent, each.session) for each in heard}
        heard += [each for each in self._transcripts(now, within) if (each.agent, each.session) not in known]
        return sorted(heard, key=lambda each: (-each.last_at, each.agent, each.session))

    def _of_running(self, found: Running) -> Glance:
        return self._glance(
            found.agent,
            found.session,
            found.cwd,
            found.state,
            found.last_at,
            found.advisory,
            found.advised_at or None,
            True,
        )

    def _glance(
        self, agent: str, session: str, project: str, state: LiveState, last_at: float,
        advisory: Advisory | None, advised_at: float | None, told: bool,
    ) -> Glance:  # fmt: skip
        thresholds = self._thresholds
        return Glance(
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
    def _transcripts(self, now: float, within: float) -> Iterator[Glance]:
        fresh: dict[str, tuple[str, list[Glance]]] = {}
        for agent, found, at in self._recent(now, within):
            stamp, glances = self._known.get(found.path, ("", []))
            if stamp != found.stamp:
                glances = list(self._read(agent, found.path, at))
            fresh[found.path] = (found.stamp, glances)
            yield from glances
        self._known = fresh

    def _recent(self, now: float, within: float) -> Iterator[tuple[str, Found, float]]:
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

    def _read(self, agent: str, path: str, at: float) -> Iterator[Glance]:
        try:
            sessions = read(path, reader_of(agent))
        except (PreheatError, OSError):
            return  # a look must not fail because one file cannot be read
        for session in sessions:
            if session.relation != "subagent" and session.events and session.starter not in ("background", "preheat"):
                yield self._watched(session, at)

    def _watched(self, session: Session, at: float) -> Glance:
        state: LiveState = START
        last: Advisory | None = None
        advised_at: float | None = None
        for event in events_of(session, assess(session).records, finished=False):
            state, advisory = step(state, event, self._thresholds)
            if advisory is not None:
                last, advised_at = advisory, event.at
        return self._glance(session.agent, session.id, session.project, state, at, last, advised_at, False)
