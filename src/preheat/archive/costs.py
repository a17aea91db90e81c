"""The responses of the archive's sessions with their tokens, for adding up what they cost. Plain SQL, as in `writer.py`.

Knows no prices.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, case, func, not_, select

from preheat.archive.database import ArchiveConnection
from preheat.archive.queries import filter_condition, run_query
from preheat.archive.schema import CALLS, OUTCOMES, RESPONSES, SESSIONS
from preheat.model.listing import SessionFilter
from preheat.model.outcome import FAILURES, STATUSES
from preheat.model.session import Usage

_FAILED = [place for place, status in enumerate(STATUSES) if status in FAILURES]


class ResponseTokens(NamedTuple):
    """One response of a model."""

    session: str
    """The key of its session."""
    agent: str
    project: str
    """The folder of its session."""
    model: str
    at: float | None
    usage: Usage
    failed_share: float
    """The share of the response's calls that failed."""
    repeated_share: float
    """The share of its calls that worked and repeat an earlier call of the session."""


def load_response_tokens(connection: ArchiveConnection, chosen: SessionFilter) -> Iterator[ResponseTokens]:
    """Every response of the chosen sessions once; those that a fork copied from another session count there."""
    # A filter by time chooses sessions for the lists, but days for costs: a session that goes on for weeks costs every day.
    sessions = {
        row[0]: row[1:]
        for row in run_query(
            connection,
            select(SESSIONS.c.id, SESSIONS.c.key, SESSIONS.c.agent, SESSIONS.c.project, SESSIONS.c.model, SESSIONS.c.started_at)
            .where(filter_condition(chosen)),
        )
    }  # fmt: skip
    shares = _load_wasted_shares(connection)
    columns = RESPONSES.c
    wanted: list[ColumnElement[bool]] = [columns.copied.is_(False)]
    if chosen.since is not None:
        wanted.append(func.coalesce(columns.at, chosen.since) >= chosen.since)
    if chosen.until is not None:
        wanted.append(func.coalesce(columns.at, chosen.until) <= chosen.until)
    rows = run_query(
        connection,
        select(
            columns.session_id, columns.response, columns.model, columns.at, columns.input_tokens, columns.output_tokens,
            columns.cache_read_tokens, columns.cache_write_tokens, columns.reasoning_tokens,
            columns.cache_write_hour_tokens,
        ).where(*wanted),
    )  # fmt: skip
    for number, response, model, at, *tokens in rows:
        if number in sessions:
            key, agent, project, usual_model, started = sessions[number]
            failed, repeated = shares.get((number, response), (0.0, 0.0))
            yield ResponseTokens(
                key, agent, project, model or usual_model, at or started, Usage(*tokens), failed, repeated
            )


def _load_wasted_shares(connection: ArchiveConnection) -> dict[tuple[int, int], tuple[float, float]]:
    """By session and response with a call that failed or repeats another: the shares of its calls that did so."""
    is_failed = OUTCOMES.c.status.in_(_FAILED)
    failed = func.sum(case((is_failed, 1), else_=0))
    repeated = func.sum(case((and_(OUTCOMES.c.repeated, not_(is_failed)), 1), else_=0))
    rows = run_query(
        connection,
        select(CALLS.c.session_id, CALLS.c.response, func.count(), failed, repeated)
        .join(OUTCOMES, (OUTCOMES.c.session_id == CALLS.c.session_id) & (OUTCOMES.c.seq == CALLS.c.seq))
        .group_by(CALLS.c.session_id, CALLS.c.response)
        .having(failed + repeated > 0),
    )
    return {(session, response): (bad / calls, again / calls) for session, response, calls, bad, again in rows}
