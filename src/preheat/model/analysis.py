"""All that is made of one session in one pass: the verdict on every call, measures, what learners noted, episodes.

Frozen values; which stages give them is `app.analysis.one_pass`.
"""

from typing import Any, NamedTuple

from preheat.model.episode import Episode
from preheat.model.profile import CallRecord, SessionProfile


class Assessment(NamedTuple):
    """A session, judged and measured."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile


class Note(NamedTuple):
    """What a learner keeps of a session; None where it found nothing."""

    learner: str
    version: int
    notes: Any


class Analysis(NamedTuple):
    """A session, analysed."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile
    notes: tuple[Note, ...]
    """None at all of a session that teaches nothing, because no person wanted it."""
    episodes: tuple[Episode, ...]
