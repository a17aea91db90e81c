"""Judges one session and measures it, for whoever has it at hand. Knows nothing of the archive, or of what is learned.

Apart from `app.analysis.one_pass`, which loads every learner.
"""

from preheat.agents import dialect_of
from preheat.model.analysis import Assessment
from preheat.model.outcome import Outcome
from preheat.model.session import Session
from preheat.outcomes import judge as judge_calls
from preheat.profiles import profile, trace


def judge(session: Session) -> tuple[Outcome, ...]:
    """What came of every call of a session, in their order."""
    return judge_calls(session, dialect_of(session.agent))


def assess(session: Session) -> Assessment:
    """Judge a session and measure it, all its calls."""
    outcomes = judge(session)
    records = trace(session, outcomes)
    return Assessment(records, profile(session, outcomes, records))
