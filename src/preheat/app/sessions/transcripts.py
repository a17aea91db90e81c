"""Makes the transcript of a session: each call with its outcome, as the archive stores it or judged now.

Knows nothing of how it is shown.
"""

from collections.abc import Collection, Sequence

from preheat.agents import dialect_of
from preheat.calls.summary import summarise
from preheat.model.profile import CallRecord
from preheat.model.session import Session, pair_calls_with_results
from preheat.model.transcript import CallLine, Transcript
from preheat.outcomes import judge
from preheat.profiles import trace


def make_transcript(
    session: Session, stored: Sequence[CallRecord] = (), copied: Collection[int] = frozenset()
) -> Transcript:
    """The transcript of a session. `stored` are the archive's records of its calls (if some are missing, the session is judged
    now), `copied` the places of calls that it copied from another session."""
    calls = [call for call, _ in pair_calls_with_results(session)]
    records = stored if len(stored) == len(calls) else trace(session, judge(session, dialect_of(session.agent)))
    return Transcript(
        session,
        tuple(
            CallLine(
                call.call_id,
                call.tool,
                summarise(call.input),
                record.status,
                record.cause,
                record.exit_code,
                record.bookkeeping,
                record.seq in copied,
            )
            for call, record in zip(calls, records, strict=True)
        ),
    )
