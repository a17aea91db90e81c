"""Judges one session and measures it. Knows nothing of the archive or of lessons.

Apart from `app.analysis.one_pass`, which loads every learner.
"""

from collections.abc import Collection

from preheat.agents import dialect_of
from preheat.model.analysis import Assessment
from preheat.model.outcome import Outcome
from preheat.model.profile import SessionProfile
from preheat.model.session import Session
from preheat.outcomes import judge as judge_calls
from preheat.profiles import profile_session, trace


def judge(session: Session, hindsight: bool = True) -> tuple[Outcome, ...]:
    """The outcomes of all calls of a session, in order; without hindsight as they looked when each call ended."""
    return judge_calls(session, dialect_of(session.agent), hindsight)


def assess(session: Session, hindsight: bool = True) -> Assessment:
    """Judge all calls of a session, and measure it."""
    outcomes = judge(session, hindsight)
    records = trace(session, outcomes)
    return Assessment(records, profile_session(session, outcomes, records))


def profile_without(session: Session, copied: Collection[int]) -> SessionProfile:
    """The profile of a session without the calls that it copied from another one: they count there."""
    if not copied:
        return assess(session).profile
    outcomes = judge(session)
    own = tuple(record for record in trace(session, outcomes) if record.seq not in copied)
    return profile_session(session, outcomes, own)
