"""Queries for what a screen shows at once: pages of sessions, one session's calls and responses, activity by time.

Knows nothing of how it is shown. Plain SQL where a million rows are counted, SQLAlchemy where a person's filter takes part.
"""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, case, func, select

from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import unpack_passages
from preheat.archive.queries import filter_condition, run_query, search_terms
from preheat.archive.schema import SESSIONS
from preheat.archive.search_index import find_newest
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.outcome import CAUSES, FAILURES, STATUSES
from preheat.model.session import Usage
from preheat.model.views import FilterChoices, FoundText, SessionOrder, SessionPage, ViewedCall

_COLUMNS = [SESSIONS.c[name] for name in SessionSummary.__struct_fields__]
_AROUND = 90
"""Characters shown before and after the words that a search found."""
_MOST_FOUND = 400
"""Sessions after which a search ends."""
_SEARCH_SECONDS = 0.1
"""Seconds after which a search ends with what it has."""
_FAILED_SQL = ", ".join(str(place) for place, status in enumerate(STATUSES) if status in FAILURES)


def list_page(
    connection: ArchiveConnection,
    chosen: SessionFilter,
    order: SessionOrder = "started",
    descending: bool = True,
    start: int = 0,
    limit: int = 100,
) -> SessionPage:
    """Some of the sessions that a filter chooses, in an order."""
    condition = filter_condition(chosen)
    column = _order_column(order)
    statement = (
        select(*_COLUMNS)
        .where(condition)
        .order_by((column.desc() if descending else column.asc()).nulls_last(), SESSIONS.c.key)
        .limit(limit)
        .offset(start)
    )
    total = run_query(connection, select(func.count()).select_from(SESSIONS).where(condition)).fetchone()[0]
    return SessionPage(
        sessions=tuple(_make_summary(row) for row in run_query(connection, statement)), total=total, start=start
    )


def _order_column(order: SessionOrder) -> ColumnElement[Any]:
    table = SESSIONS.c
    columns: dict[SessionOrder, ColumnElement[Any]] = {
        "started": table.started_at,
        "agent": table.agent,
        "project": table.project,
        "model": table.model,
        "prompts": table.prompts,
        "calls": table.calls,
        "failed": case((table.calls > 0, table.errors * 1.0 / table.calls), else_=0.0),
        "tokens": table.input_tokens + table.output_tokens + table.cache_read_tokens + table.cache_write_tokens,
        "length": table.ended_at - table.started_at,
    }
    return columns[order]


def _make_summary(row: tuple[Any, ...]) -> SessionSummary:
    return SessionSummary(**dict(zip(SessionSummary.__struct_fields__, row, strict=True)))


def search_page(
    connection: ArchiveConnection, words: str, chosen: SessionFilter, start: int = 0, limit: int = 100
) -> SessionPage:
    """Sessions with a passage that holds all the words, the newest passage first. The last word may be the beginning of one. Ends
    after `_MOST_FOUND` sessions or `_SEARCH_SECONDS`: a person who types waits for every letter."""
    allowed = _chosen_ids(connection, chosen)
    unfinished = words if words[-1:] in ('"', "*", " ") or len(words.split()[-1]) < 3 else f"{words}*"
    places: dict[int, tuple[int, int]] = {}
    end = time.monotonic() + _SEARCH_SECONDS
    is_whole = True
    for number, block, session in find_newest(connection, unfinished):
        if session not in places and (allowed is None or session in allowed):
            places[session] = (block, number)
        if len(places) >= _MOST_FOUND or time.monotonic() > end:
            is_whole = False
            break
    some = dict(list(places.items())[start : start + limit])
    summaries = {row[0]: _make_summary(row[1:]) for row in _rows_by_id(connection, list(some))}
    terms = search_terms(words)
    blocks = _load_blocks(connection, [block for block, _ in some.values()])
    return SessionPage(
        sessions=tuple(summaries[each] for each in some if each in summaries),
        total=len(places),
        start=start,
        found={
            summaries[each].key: _cut_out(blocks[block], number - block, terms)
            for each, (block, number) in some.items()
            if each in summaries and block in blocks
        },
        is_whole=is_whole,
    )


def _chosen_ids(connection: ArchiveConnection, chosen: SessionFilter) -> frozenset[int] | None:
    """The numbers of the chosen sessions; None for all."""
    if chosen == SessionFilter():
        return None
    return frozenset(row[0] for row in run_query(connection, select(SESSIONS.c.id).where(filter_condition(chosen))))


def _rows_by_id(connection: ArchiveConnection, ids: list[int]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(ids), 500):
        yield from run_query(
            connection, select(SESSIONS.c.id, *_COLUMNS).where(SESSIONS.c.id.in_(ids[start : start + 500]))
        )


def _load_blocks(connection: ArchiveConnection, numbers: list[int]) -> dict[int, bytes]:
    """Packed passages by the number of their block."""
    found: dict[int, bytes] = {}
    for start in range(0, len(numbers), 500):
        some = numbers[start : start + 500]
        marks = ", ".join("?" * len(some))
        found.update(connection.execute(f"SELECT id, data FROM passages WHERE id IN ({marks})", some).fetchall())  # noqa: S608
    return found


def _cut_out(packed: bytes, place: int, terms: list[str]) -> FoundText:
    """The words that were found in a passage of a block, with some text around them."""
    passage = unpack_passages(packed)[place]
    lower = passage.text.lower()
    place = min((at for term in terms if (at := lower.find(term.lower())) >= 0), default=0)
    begin = max(0, place - _AROUND)
    text = passage.text[begin : place + 2 * _AROUND]
    before, after = "…" if begin else "", "…" if place + 2 * _AROUND < len(passage.text) else ""
    return FoundText(passage.line, passage.kind, f"{before}{text}{after}")


def load_choices(connection: ArchiveConnection) -> FilterChoices:
    """Projects, agents and models of all sessions, those with most sessions first."""

    def names(sql: str) -> tuple[str, ...]:
        return tuple(row[0] for row in connection.execute(sql) if row[0])

    return FilterChoices(
        projects=names(
            "SELECT projects.name FROM places JOIN projects ON projects.key = places.project"
            " GROUP BY projects.key ORDER BY count(*) DESC, projects.name"
        ),
        agents=names("SELECT agent FROM sessions GROUP BY agent ORDER BY count(*) DESC, agent"),
        models=names("SELECT model FROM sessions GROUP BY model ORDER BY count(*) DESC, model LIMIT 200"),
    )


# One session.
def load_viewed_calls(connection: ArchiveConnection, key: str) -> tuple[list[ViewedCall], bool]:
    """The calls of a session in order, and whether all of them were judged."""
    rows = connection.execute(
        "SELECT calls.seq, calls.tool, calls.kind, calls.summary, calls.line, calls.at, outcomes.status, outcomes.cause,"
        " coalesce(outcomes.exit_code, calls.exit_code), signatures.text, outcomes.era, purposes.bookkeeping, calls.copied,"
        " outcomes.lost_seconds, outcomes.lost_tokens, outcomes.recovered_in, calls.is_error FROM calls"
        " JOIN sessions ON sessions.id = calls.session_id"
        " LEFT JOIN outcomes ON outcomes.session_id = calls.session_id AND outcomes.seq = calls.seq"
        " LEFT JOIN purposes ON purposes.id = outcomes.purpose_id"
        " LEFT JOIN signatures ON signatures.id = outcomes.signature_id WHERE sessions.key = ? ORDER BY calls.seq",
        (key,),
    ).fetchall()
    return [_make_call(row) for row in rows], all(row[6] is not None for row in rows)


def _make_call(row: tuple[Any, ...]) -> ViewedCall:
    seq, tool, kind, summary, line, at, status, cause, exit_code, signature, era, bookkeeping, copied, *rest = row
    lost_seconds, lost_tokens, recovered_in, _ = rest
    return ViewedCall(
        seq, tool, kind, summary, line, at, "unknown" if status is None else STATUSES[status],
        None if cause is None else CAUSES[cause], exit_code, signature or "", era or 0, bool(bookkeeping), bool(copied),
        lost_seconds or 0.0, lost_tokens or 0, recovered_in,
    )  # fmt: skip


def load_project_name(connection: ArchiveConnection, key: str) -> str:
    """The name of a session's project; empty if it has none."""
    row = connection.execute(
        "SELECT projects.name FROM sessions JOIN places ON places.session_id = sessions.id"
        " JOIN projects ON projects.key = places.project WHERE sessions.key = ?",
        (key,),
    ).fetchone()
    return row[0] if row else ""


class ResponseRow(NamedTuple):
    """One response of a session, with the share of its calls that failed."""

    model: str
    at: float | None
    usage: Usage
    failed_share: float


def load_responses(connection: ArchiveConnection, key: str) -> list[ResponseRow]:
    """The responses of a session in time order, without those that it copied from another one."""
    rows = connection.execute(
        "SELECT CASE responses.model WHEN '' THEN sessions.model ELSE responses.model END,"  # noqa: S608 - numbers of our own
        " coalesce(responses.at, sessions.started_at), responses.input_tokens,"
        " responses.output_tokens, responses.cache_read_tokens, responses.cache_write_tokens, responses.reasoning_tokens,"
        " responses.cache_write_hour_tokens, (SELECT avg(CASE WHEN outcomes.status IN ("
        + _FAILED_SQL
        + ") THEN 1.0 ELSE 0.0 END) FROM calls"
        "  LEFT JOIN outcomes ON outcomes.session_id = calls.session_id AND outcomes.seq = calls.seq"
        "  WHERE calls.session_id = responses.session_id AND calls.response = responses.response)"
        " FROM responses JOIN sessions ON sessions.id = responses.session_id"
        " WHERE sessions.key = ? AND NOT responses.copied ORDER BY responses.at NULLS FIRST, responses.response",
        (key,),
    )
    return [ResponseRow(model, at, Usage(*tokens), failed or 0.0) for model, at, *tokens, failed in rows]


# Activity.
def count_activity(connection: ArchiveConnection, chosen: SessionFilter) -> tuple[list[Any], list[Any]]:
    """Calls by hour since the epoch (with failed ones), and sessions by the hour in which they began."""
    ids = _chosen_ids(connection, chosen)
    calls = connection.execute(
        "SELECT calls.session_id, CAST(calls.at / 3600 AS INTEGER), count(*),"  # noqa: S608 - numbers of our own
        f" count(CASE WHEN outcomes.status IN ({_FAILED_SQL}) THEN 1 END) FROM calls"
        " LEFT JOIN outcomes ON outcomes.session_id = calls.session_id AND outcomes.seq = calls.seq"
        " WHERE calls.at IS NOT NULL AND NOT calls.copied GROUP BY 1, 2"
    )
    sessions = connection.execute(
        "SELECT id, CAST(started_at / 3600 AS INTEGER) FROM sessions WHERE started_at IS NOT NULL"
    )
    return (
        [row[1:] for row in calls if ids is None or row[0] in ids],
        [row[1] for row in sessions if ids is None or row[0] in ids],
    )
