"""Queries for the judge's verdicts in the archive: sessions, calls, failures, profiles.

Knows nothing of how a call is judged; storing is in `analyses.py`. Results are streamed, ordered by session and call. Only
judged sessions are included, and a call that was copied from another session counts there.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Integer, Select, cast, func, select, text, type_coerce

from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import decode_stored
from preheat.archive.queries import filter_condition, run_query
from preheat.archive.schema import CALLS, JUDGEMENTS, OUTCOMES, PROFILES, PURPOSES, SESSIONS, SIGNATURES
from preheat.model.listing import SessionFilter
from preheat.model.outcome import CAUSES, FAILURES, RUNGS, STATUSES, Cause, Status
from preheat.model.profile import CallFact, CallRecord, FailureFact, SessionFact, SessionProfile
from preheat.model.session import ToolKind

_PROFILE = msgspec.json.Decoder(SessionProfile)
_CAUSES: dict[int | None, Cause | None] = {None: None, **dict(enumerate(CAUSES))}
_VERDICTS = [
    (status, cause, repeated, reread)
    for reread in (False, True)
    for repeated in (False, True)
    for cause in (*CAUSES, None)
    for status in STATUSES
]
"""Status, cause, repeated and reread, by the number into which the query of `judged_calls` packs them."""
_FAILURES = [place for place, status in enumerate(STATUSES) if status in FAILURES]


_NOT_COPIED = (
    "NOT EXISTS (SELECT 1 FROM calls INDEXED BY calls_copied "
    "WHERE copied AND calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq)"
)
"""The index must be named: by itself SQLite would look each call up in the much larger table of calls."""


def judged_sessions(connection: ArchiveConnection, chosen: SessionFilter) -> Iterator[SessionFact]:
    """The sessions that were judged."""
    table = SESSIONS.c
    statement = (
        select(
            table.id, table.key, table.agent, table.model, table.project, table.messages, table.parent, table.relation,
            table.started_at,
        )
        .where(filter_condition(chosen), table.id.in_(select(JUDGEMENTS.c.session_id)))
        .order_by(table.id)
    )  # fmt: skip
    return map(SessionFact._make, run_query(connection, statement))


def judged_calls(connection: ArchiveConnection, chosen: SessionFilter) -> Iterator[CallFact]:
    """Every judged call of the sessions that `judged_sessions` gives."""
    table = OUTCOMES.c
    # In SQLite a truth value is a number, and a million of them need not be made one.
    as_number = type_coerce if connection.kind == "sqlite" else cast
    repeated, reread = (as_number(column, Integer) for column in (table.repeated, table.reread))
    verdict = table.status + len(STATUSES) * (
        func.coalesce(table.cause, len(CAUSES)) + (len(CAUSES) + 1) * (repeated + 2 * reread)
    )
    statement = _restrict(
        select(
            table.session_id, table.seq, table.message, table.era, table.purpose_id, verdict, table.signature_id,
            table.lost_seconds, table.lost_tokens, table.recovered_in,
        ),
        chosen,
    )  # fmt: skip
    purposes = _purposes(connection)
    # A million rows go through this loop: few columns, table lookups, and no keyword arguments.
    new, verdicts = tuple.__new__, _VERDICTS
    for session, seq, message, era, purpose, number, signature, seconds, tokens, recovered in run_query(
        connection, statement
    ):
        tool, kind, activity, bookkeeping = purposes[purpose]
        status, cause, repeat, reread_again = verdicts[number]
        yield new(
            CallFact,
            (
                session, seq, message, era, tool, kind, activity, bookkeeping, status, cause, signature, repeat, reread_again,
                seconds, tokens, recovered,
            ),
        )  # fmt: skip


def _restrict(statement: Select[Any], chosen: SessionFilter) -> Select[Any]:
    """Restrict a query to outcomes of the chosen sessions, without copied calls, in order."""
    table = OUTCOMES.c
    statement = statement.where(text(_NOT_COPIED)).order_by(table.session_id, table.seq)
    if chosen != SessionFilter():
        statement = statement.where(table.session_id.in_(select(SESSIONS.c.id).where(filter_condition(chosen))))
    return statement


def _purposes(connection: ArchiveConnection) -> dict[int, tuple[str, str, str, bool]]:
    statement = select(*PURPOSES.c)
    return {
        number: (tool, kind, activity, bool(bookkeeping))
        for number, tool, kind, activity, bookkeeping in run_query(connection, statement)
    }


def failed_calls(connection: ArchiveConnection, chosen: SessionFilter) -> Iterator[FailureFact]:
    """The calls that failed or partly failed, each with the call that repaired it where there was one."""
    table, call, repair = OUTCOMES.c, CALLS.alias("call"), CALLS.alias("repair")
    joined = (
        OUTCOMES.join(SESSIONS, SESSIONS.c.id == table.session_id)
        .join(PURPOSES, PURPOSES.c.id == table.purpose_id)
        .join(call, (call.c.session_id == table.session_id) & (call.c.seq == table.seq))
        .outerjoin(SIGNATURES, SIGNATURES.c.id == table.signature_id)
        .outerjoin(repair, (repair.c.session_id == table.session_id) & (repair.c.seq == table.seq + table.recovered_in))
    )
    statement = _restrict(
        select(
            SESSIONS.c.key, table.seq, SESSIONS.c.agent, SESSIONS.c.project, call.c.at, PURPOSES.c.tool, PURPOSES.c.kind,
            PURPOSES.c.activity, PURPOSES.c.bookkeeping, table.status, table.cause, SIGNATURES.c.text, call.c.summary,
            table.lost_seconds, table.lost_tokens, table.recovered_in, repair.c.tool, repair.c.summary,
        ).select_from(joined).where(table.status.in_(_FAILURES)),
        chosen,
    )  # fmt: skip
    for row in run_query(connection, statement):
        fact = FailureFact._make(row)
        yield fact._replace(
            bookkeeping=bool(fact.bookkeeping),
            status=STATUSES[row[9]],
            cause=_CAUSES[row[10]],
            signature=fact.signature or "",
        )


def denied_calls(
    connection: ArchiveConnection, chosen: SessionFilter
) -> Iterator[tuple[str, str, ToolKind, str, float | None]]:
    """The calls of the chosen sessions that a person or a rule did not allow: key of the session, tool, kind, summary, and the
    seconds until the refusal."""
    table = OUTCOMES.c
    joined = OUTCOMES.join(SESSIONS, SESSIONS.c.id == table.session_id).join(
        CALLS, (CALLS.c.session_id == table.session_id) & (CALLS.c.seq == table.seq)
    )
    statement = (
        select(SESSIONS.c.key, CALLS.c.tool, CALLS.c.kind, CALLS.c.summary, table.seconds)
        .select_from(joined)
        .where(table.status == STATUSES.index("denied"), CALLS.c.copied.is_(False), filter_condition(chosen))
        .order_by(SESSIONS.c.id, table.seq)
    )
    yield from run_query(connection, statement)


def shell_calls(
    connection: ArchiveConnection, project: str, most: int
) -> Iterator[tuple[str, str, Status, Cause | None, str, str]]:
    """The newest judged shell calls of a project's sessions, given its key: key of the session, command, status, cause,
    signature, and the command that succeeded at the same thing a few calls later (empty if none did)."""
    table, call, repair = OUTCOMES.c, CALLS.alias("call"), CALLS.alias("repair")
    joined = (
        OUTCOMES.join(SESSIONS, SESSIONS.c.id == table.session_id)
        .join(call, (call.c.session_id == table.session_id) & (call.c.seq == table.seq))
        .outerjoin(SIGNATURES, SIGNATURES.c.id == table.signature_id)
        .outerjoin(repair, (repair.c.session_id == table.session_id) & (repair.c.seq == table.seq + table.recovered_in))
    )
    statement = (
        select(
            SESSIONS.c.key, call.c.summary, table.status, table.cause, SIGNATURES.c.text, repair.c.summary
        )
        .select_from(joined)
        .where(call.c.kind == "shell", text(_NOT_COPIED), filter_condition(SessionFilter(project_key=project)))
        .order_by(SESSIONS.c.started_at.desc().nulls_last(), table.seq)
        .limit(most)
    )  # fmt: skip
    for key, summary, status, cause, signature, repaired in run_query(connection, statement):
        yield key, summary, STATUSES[status], _CAUSES[cause], signature or "", repaired or ""


def session_profiles(connection: ArchiveConnection, chosen: SessionFilter) -> Iterator[SessionProfile]:
    """The profiles of the sessions that `judged_sessions` gives."""
    statement = (
        select(PROFILES.c.data)
        .join_from(PROFILES, SESSIONS, SESSIONS.c.id == PROFILES.c.session_id)
        .where(filter_condition(chosen))
        .order_by(SESSIONS.c.id)
    )
    return (decode_stored(_PROFILE, data) for (data,) in run_query(connection, statement))


def load_profile(connection: ArchiveConnection, key: str) -> SessionProfile | None:
    """The profile of one session; None if it has not been judged."""
    statement = (
        select(PROFILES.c.data)
        .join_from(PROFILES, SESSIONS, SESSIONS.c.id == PROFILES.c.session_id)
        .where(SESSIONS.c.key == key)
    )
    row = run_query(connection, statement).fetchone()
    return decode_stored(_PROFILE, row[0]) if row else None


def load_call_records(connection: ArchiveConnection, key: str) -> list[CallRecord]:
    """The verdict on every call of a session, in order; empty if it has changed since it was judged."""
    table = OUTCOMES.c
    statement = (
        select(
            table.seq, PURPOSES.c.tool, PURPOSES.c.kind, PURPOSES.c.activity, table.message, table.era,
            PURPOSES.c.bookkeeping, table.status, table.rung, table.exit_code, SIGNATURES.c.text, table.cause,
            table.confidence, table.repeated, table.reread, table.seconds, table.lost_seconds, table.lost_tokens,
            table.recovered_in,
        )
        .select_from(
            OUTCOMES.join(PURPOSES, PURPOSES.c.id == table.purpose_id)
            .outerjoin(SIGNATURES, SIGNATURES.c.id == table.signature_id)
            .join(SESSIONS, SESSIONS.c.id == table.session_id)
            .join(
                JUDGEMENTS,
                (JUDGEMENTS.c.session_id == table.session_id)
                & (JUDGEMENTS.c.source_id == SESSIONS.c.source_id)
                & (JUDGEMENTS.c.generation == SESSIONS.c.generation)
                & (JUDGEMENTS.c.events == SESSIONS.c.events),
            )
        )
        .where(SESSIONS.c.key == key)
        .order_by(table.seq)
    )  # fmt: skip
    return [
        CallRecord(
            seq, tool, kind, activity, message, era, bool(bookkeeping), STATUSES[status], RUNGS[rung], exit_code,
            signature or "", _CAUSES[cause], confidence, bool(repeated), bool(reread), seconds, lost_seconds, lost_tokens,
            recovered_in,
        )
        for (
            seq, tool, kind, activity, message, era, bookkeeping, status, rung, exit_code, signature, cause, confidence,
            repeated, reread, seconds, lost_seconds, lost_tokens, recovered_in,
        ) in run_query(connection, statement)
    ]  # fmt: skip


def load_copied_calls(connection: ArchiveConnection, key: str) -> frozenset[int]:
    """The numbers of the calls of a session that were copied from another one, where they count."""
    statement = (
        select(CALLS.c.seq)
        .join_from(CALLS, SESSIONS, SESSIONS.c.id == CALLS.c.session_id)
        .where(SESSIONS.c.key == key, text("copied"))
    )
    return frozenset(seq for (seq,) in run_query(connection, statement))
