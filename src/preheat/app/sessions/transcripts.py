"""One session in another form: its transcript with the outcome of each call, and shorter histories of it.

Knows nothing of how it is shown, and no strategy of compression.
"""

from collections.abc import Collection, Sequence
from typing import Any

from preheat.agents import dialect_of
from preheat.agents.openai_chat import to_messages
from preheat.app.analysis.assessment import assess
from preheat.calls.words import summarise
from preheat.compress import Compressed
from preheat.compress import compress as compress_once
from preheat.compress import compress_all as compress_by_all
from preheat.model.listing import CallLine, Transcript
from preheat.model.profile import CallRecord
from preheat.model.session import Session, pair_calls_with_results
from preheat.outcomes import judge
from preheat.profiles import trace
from preheat.provisioning.tokens import estimate_tokens

__all__ = ["Compressed", "compress", "compress_all", "make_transcript"]


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


# Shorter histories.
def compress(session: Session, strategy: str, keep: int | None = None) -> Compressed:
    """A session as a shorter history, by one strategy."""
    return compress_once(session, strategy=strategy, keep=keep, **_inputs(session))


def compress_all(session: Session, keep: int | None = None) -> list[Compressed]:
    """A session as a shorter history, once by every strategy."""
    return compress_by_all(session, keep=keep, **_inputs(session))


def _inputs(session: Session) -> dict[str, Any]:
    assessed = assess(session)
    return {
        "records": assessed.records,
        "references": assessed.profile.context_markers,
        "render": to_messages,
        "estimate": estimate_tokens,
    }
