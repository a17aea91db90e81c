"""All that one pass makes of a session: the verdict on every call, measures, notes of the learners, episodes.

Frozen values. Knows nothing of the stages that make them: `app.analysis.one_pass` calls those.
"""

from typing import Any, NamedTuple

from preheat.model.episode import Episode
from preheat.model.profile import CallRecord, SessionProfile


class Assessment(NamedTuple):
    """The verdicts and measures of a session."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile


class LearnerNote(NamedTuple):
    """What a learner keeps of a session; `notes` is None where it found nothing."""

    learner: str
    version: int
    notes: Any


class Analysis(NamedTuple):
    """Everything that the analysis of a session gives."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile
    notes: tuple[LearnerNote, ...]
    """Empty for a session that no person started: nothing is learned from it."""
    episodes: tuple[Episode, ...]
