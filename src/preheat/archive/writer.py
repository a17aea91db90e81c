"""Stores readings of sources. Plain SQL on a DB-API connection: see `schema.py` for why, and for what the tables mean.

The caller holds the transaction (`connection.transaction()`): a source is stored whole or not at all. Knows nothing of files
or readers.
"""

import math
import time
from typing import NamedTuple, TypeAlias

from preheat.archive import analyses
from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import SegmentLabel, add_label, unpack_passages
from preheat.archive.rows import AnalysisRows, Batch, CallRow, Delta, SessionRows
from preheat.archive.search_index import index_passages, unindex_passages
from preheat.archive.source_list import forgotten_digest
from preheat.archive.sources import known_source

_SESSION_COLUMNS = (
    "key", "agent", "session", "source_id", "generation", "version", "model", "project", "branch", "parent",
    "relation", "started_at", "ended_at", "starter", "title", "opening", "events", "prompts", "messages", "calls",
    "errors", "compactions",
)  # fmt: skip
_COUNTS = ("events", "prompts", "messages", "calls", "errors", "compactions")
_FAILED, _UNKNOWN = "1, 3", "6"
"""Indexes into the statuses of `model.outcome`; a test checks them."""
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_CALL_COLUMNS = ("session_id", "seq", *CallRow._fields, "copied")


_Analysed = dict[int, tuple[int, int, int, AnalysisRows]]
"""By id of a session that was read whole: source, generation, number of events, and the analysis."""


def store_batch(connection: ArchiveConnection, batch: Batch) -> list[list[int]]:
    """Store a batch; returns, for each source, the ids of the sessions that it changed."""
    places = [_find_place(connection, delta) for delta in batch.deltas]
    labels = _make_labels(batch, places)
    packs = [
        connection.insert("INSERT INTO packs (data) VALUES (?)", (add_label(data, label),))
        for data, label in zip(batch.packs, labels, strict=True)
    ]
    whole: _Analysed = {}
    touched = [
        _store_source(connection, delta, place, packs, whole) if place else []
        for delta, place in zip(batch.deltas, places, strict=True)
    ]
    mark_copies(connection, [session for sessions in touched for session in sessions])
    # The analysis did not know of copied calls: sessions with copies are analysed again without those.
    own = [(session, *rest) for session, rest in whole.items() if not _has_copies(connection, session)]
    analyses.insert_analyses(connection, own)
    return touched


def _has_copies(connection: ArchiveConnection, session: int) -> bool:
    query = "SELECT 1 FROM calls INDEXED BY calls_copied WHERE copied AND session_id = ? LIMIT 1"
    return connection.execute(query, (session,)).fetchone() is not None


class _Place(NamedTuple):
    """Where the segments of a reading go: the generation of its source, and the number of the first segment."""

    generation: int
    first: int


def _find_place(connection: ArchiveConnection, delta: Delta) -> _Place | None:
    """The place of a reading; None if another sync was first or the source was forgotten: then nothing of it is stored."""
    known = delta.known
    if known_source(connection, delta.path, delta.part) != known or is_forgotten(connection, delta.path, delta.part):
        return None
    if known is None or not delta.grown:
        return _Place(0 if known is None else known.generation + 1, 0)
    row = connection.execute(
        "SELECT coalesce(max(seq) + 1, 0) FROM segments WHERE source_id = ? AND generation = ?",
        (known.id, known.generation),
    ).fetchone()
    return _Place(known.generation, row[0])


def _make_labels(batch: Batch, places: list[_Place | None]) -> list[list[SegmentLabel]]:
    """What each pack says of its segments."""
    labels: list[list[SegmentLabel]] = [[] for _ in batch.packs]
    for delta, place in zip(batch.deltas, places, strict=True):
        if place is None:
            continue
        for index, segment in enumerate(delta.segments):
            labels[segment.pack].append(
                SegmentLabel(
                    delta.agent, delta.path, delta.part, place.generation, place.first + index, delta.reader_version,
                    delta.stamp, *segment[1:],
                )
            )  # fmt: skip
    return labels


def _store_source(
    connection: ArchiveConnection, delta: Delta, place: _Place, packs: list[int], whole: _Analysed
) -> list[int]:
    """Store one reading of a source. Sessions that were read and analysed from their beginning are added to `whole`."""
    source, generation = _store_source_row(connection, delta, place, packs), place.generation
    touched: list[int] = []
    shrunk: list[str] = []
    for rows in delta.sessions:
        key = f"{delta.agent}:{rows.session}"
        if is_forgotten(connection, key):
            continue
        connection.execute("INSERT INTO contents (source_id, key) VALUES (?, ?) ON CONFLICT DO NOTHING", (source, key))
        session = (
            _grow(connection, source, key, rows)
            if delta.grown and _exists(connection, key)
            else _replace(connection, delta, source, generation, key, rows, shrunk)
        )
        if session is not None:
            touched.append(session)
            whole.pop(session, None)
            if rows.analysis is not None:
                whole[session] = (source, generation, rows.counts["events"], rows.analysis)
    connection.executemany(
        "INSERT INTO problems (source_id, line, message) VALUES (?, NULL, ?)", [(source, why) for why in shrunk]
    )
    if not delta.grown and not shrunk:  # if a reading has less than the one before, the bytes of that one are kept
        _drop_unused_generations(connection, source, generation)
    return touched


def is_forgotten(connection: ArchiveConnection, *names: str) -> bool:
    """Whether a source (path and part) or a session (key) was deleted for good."""
    return (
        connection.execute("SELECT 1 FROM forgotten WHERE digest = ?", (forgotten_digest(*names),)).fetchone()
        is not None
    )


def _exists(connection: ArchiveConnection, key: str) -> bool:
    return connection.execute("SELECT 1 FROM sessions WHERE key = ?", (key,)).fetchone() is not None


# Sources.
def _store_source_row(connection: ArchiveConnection, delta: Delta, place: _Place, packs: list[int]) -> int:
    known, generation = delta.known, place.generation
    values = (delta.agent, delta.stamp, delta.reader_version, generation, time.time(), delta.path, delta.part)
    if known is None:
        source = connection.insert(
            "INSERT INTO sources (agent, stamp, reader_version, generation, stored_at, path, part) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            values,
        )
    else:
        source = known.id
        connection.execute(
            "UPDATE sources SET agent = ?, stamp = ?, reader_version = ?, generation = ?, stored_at = ? "
            "WHERE path = ? AND part = ?",
            values,
        )
    if not delta.grown:
        for table in ("problems", "redactions", "contents", "positions"):
            connection.execute(f"DELETE FROM {table} WHERE source_id = ?", (source,))  # noqa: S608
    _store_segments(connection, delta, source, place, packs)
    connection.executemany(
        "INSERT INTO problems (source_id, line, message) VALUES (?, ?, ?)",
        [(source, line, message) for line, message in delta.problems],
    )
    connection.executemany(
        "INSERT INTO redactions (source_id, kind, count) VALUES (?, ?, ?) "
        "ON CONFLICT (source_id, kind) DO UPDATE SET count = redactions.count + excluded.count",
        [(source, kind, count) for kind, count in delta.redactions.items()],
    )
    return source


def _store_segments(connection: ArchiveConnection, delta: Delta, source: int, place: _Place, packs: list[int]) -> None:
    connection.insert_rows(
        "segments",
        ("source_id", "generation", "seq", "pack_id", "start", "length", "sha256"),
        [
            (source, place.generation, place.first + index, packs[segment.pack], *segment[1:])
            for index, segment in enumerate(delta.segments)
        ],
    )
    if delta.position is not None:
        connection.execute(
            'INSERT INTO positions (source_id, "offset", line, tail, state) VALUES (?, ?, ?, ?, ?) '
            'ON CONFLICT (source_id) DO UPDATE SET "offset" = excluded."offset", line = excluded.line, '
            "tail = excluded.tail, state = excluded.state",
            (source, *delta.position),
        )


def _drop_unused_generations(connection: ArchiveConnection, source: int, newest: int) -> None:
    """Delete earlier generations that no session is read from."""
    if not newest:
        return
    unused = (
        "FROM segments WHERE source_id = ? AND generation < ? AND generation NOT IN "
        "(SELECT generation FROM sessions WHERE source_id = ?)"
    )
    packs = connection.execute(f"SELECT DISTINCT pack_id {unused}", (source, newest, source)).fetchall()
    connection.execute(f"DELETE {unused}", (source, newest, source))
    connection.executemany(
        "DELETE FROM packs WHERE id = ? AND NOT EXISTS (SELECT 1 FROM segments WHERE pack_id = packs.id)",
        packs,
    )


# Sessions.
def _replace(
    connection: ArchiveConnection,
    delta: Delta,
    source: int,
    generation: int,
    key: str,
    rows: SessionRows,
    shrunk: list[str],
) -> int | None:
    """Store a session that was read whole in place of the stored one, unless that has more; `shrunk` then gets a message."""
    stored = connection.execute("SELECT id, source_id, events FROM sessions WHERE key = ?", (key,)).fetchone()
    session: int | None = None
    tree: tuple[bytes | None] | None = None
    if stored is not None:
        session, provider, events = stored
        if provider != source:
            if events >= rows.counts["events"]:
                return None
            # The other source lost this session: its later growth must be read whole.
            connection.execute("DELETE FROM positions WHERE source_id = ?", (provider,))
        elif events > rows.counts["events"] and _same_reader(delta):
            shrunk.append(f"`{key}` has shrunk from {events} to {rows.counts['events']} events")
            if not _has_news(connection, session, rows):
                return None
        tree = connection.execute("SELECT tree FROM places WHERE session_id = ?", (session,)).fetchone()
        clear_session(connection, session)
    values = {
        "key": key, "agent": delta.agent, "session": rows.session, "source_id": source, "generation": generation,
        "opening": rows.opening, **rows.heading, **rows.counts,
    }  # fmt: skip
    columns = [*_SESSION_COLUMNS, *_TOKENS]
    parameters = [*(values[name] for name in _SESSION_COLUMNS), *_token_sums(rows)]
    if session is not None:
        columns, parameters = ["id", *columns], [session, *parameters]
    marks = ", ".join("?" * len(columns))
    session = connection.insert(
        f"INSERT INTO sessions ({', '.join(columns)}) VALUES ({marks})",  # noqa: S608
        parameters,
    )
    if tree is not None and tree[0] is not None:  # the working tree may be gone by now
        connection.execute("INSERT INTO places (session_id, tree) VALUES (?, ?)", (session, tree[0]))
    _insert_rows(connection, session, 0, rows)
    return session


def _has_news(connection: ArchiveConnection, session: int, rows: SessionRows) -> bool:
    """Whether a shorter reading has calls or responses that the archive has not: the person went back and continued."""
    calls = {row[0] for row in connection.execute("SELECT call_id FROM calls WHERE session_id = ?", (session,))}
    responses = {
        row[0] for row in connection.execute("SELECT response FROM responses WHERE session_id = ?", (session,))
    }
    return any(call.call_id not in calls for call in rows.calls) or any(
        response.response not in responses for response in rows.responses
    )


def _same_reader(delta: Delta) -> bool:
    return delta.known is not None and delta.known.reader_version == delta.reader_version


def _token_sums(rows: SessionRows) -> list[int]:
    return [sum(getattr(response, name) for response in rows.responses) for name in _TOKENS]


def _grow(connection: ArchiveConnection, source: int, key: str, rows: SessionRows) -> int | None:
    """Add the growth of its file to a session."""
    stored = connection.execute("SELECT id, source_id FROM sessions WHERE key = ?", (key,)).fetchone()
    if stored[1] != source:
        # Another source took this session over since the work was planned: read this one whole next time.
        connection.execute("UPDATE sources SET stamp = '' WHERE id = ?", (source,))
        connection.execute("DELETE FROM positions WHERE source_id = ?", (source,))
        return None
    session: int = stored[0]
    first = connection.execute(
        "SELECT coalesce(max(seq) + 1, 0) FROM calls WHERE session_id = ?", (session,)
    ).fetchone()[0]
    _insert_rows(connection, session, first, rows)
    _store_late_results(connection, session, rows)
    heading = ", ".join(f"{name} = ?" for name in rows.heading)
    growth = ", ".join(f"{name} = {name} + ?" for name in _COUNTS)
    connection.execute(
        f"UPDATE sessions SET {heading}, {growth}, opening = CASE opening WHEN '' THEN ? ELSE opening END "  # noqa: S608
        "WHERE id = ?",
        [*rows.heading.values(), *(rows.counts[name] for name in _COUNTS), rows.opening, session],
    )
    recount(connection, session)
    return session


def _store_late_results(connection: ArchiveConnection, session: int, rows: SessionRows) -> None:
    """Store the results of calls that were stored before. The calls are found in the session, not by their ids in the archive:
    many sessions may use the same ids."""
    if not rows.results:
        return
    waiting: dict[str, list[int]] = {}
    for call, seq in connection.execute(
        "SELECT call_id, seq FROM calls WHERE session_id = ? AND output_size IS NULL", (session,)
    ):
        waiting.setdefault(call, []).append(seq)
    connection.executemany(
        "UPDATE calls SET ended_at = ?, is_error = ?, exit_code = ?, output_size = ? WHERE session_id = ? AND seq = ?",
        [(*result[:4], session, seq) for result in rows.results for seq in waiting.pop(result.call_id, ())],
    )


def _insert_rows(connection: ArchiveConnection, session: int, first: int, rows: SessionRows) -> None:
    connection.insert_rows(
        "calls",
        _CALL_COLUMNS,
        [(session, first + index, *call, False) for index, call in enumerate(rows.calls)],
    )
    connection.executemany(
        "INSERT INTO responses (session_id, response, model, at, input_tokens, output_tokens, cache_read_tokens, "
        "cache_write_tokens, reasoning_tokens, cache_write_hour_tokens, copied) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, false) "
        "ON CONFLICT (session_id, response) DO UPDATE SET input_tokens = excluded.input_tokens, "
        "output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens, "
        "cache_write_tokens = excluded.cache_write_tokens, reasoning_tokens = excluded.reasoning_tokens, "
        "cache_write_hour_tokens = excluded.cache_write_hour_tokens",
        [(session, *response) for response in rows.responses],
    )
    if rows.passages:
        first_passage = connection.execute(
            "SELECT max(id + count) FROM passages WHERE id = (SELECT max(id) FROM passages)"
        )
        start = first_passage.fetchone()[0] or 1
        connection.execute(
            "INSERT INTO passages (id, count, session_id, data) VALUES (?, ?, ?, ?)",
            (start, len(rows.passages), session, rows.packed_passages),
        )
        index_passages(connection, start, rows.passages)


def clear_session(connection: ArchiveConnection, session: int) -> None:
    """Delete a session and everything that belongs to it."""
    for first, packed in connection.execute(
        "SELECT id, data FROM passages WHERE session_id = ?", (session,)
    ).fetchall():
        unindex_passages(connection, first, unpack_passages(packed))
    connection.execute("DELETE FROM sessions WHERE id = ?", (session,))


# Copied records.
Rank: TypeAlias = tuple[bool, float, float, str]


class _Copyable(NamedTuple):
    """A table with records that forks and resumed sessions copy."""

    table: str
    name: str
    """The column that names a record in every session that has it."""
    number: str
    """The column that numbers the records of one session."""
    same: tuple[str, ...]
    """The columns in which copies agree."""


_COPYABLE = (
    _Copyable("calls", "call_id", "seq", ("call_id", "at", "tool")),
    _Copyable("responses", "response", "response", ("response", "at")),
)


def mark_copies(connection: ArchiveConnection, sessions: list[int], recount_all: bool = False) -> None:
    """Mark calls and responses that a fork or a resumed session copied from another session, so that each counts once: in the
    session without a parent, else in the earlier one. Time and tool must agree too, because small models number their calls
    from zero."""
    affected: set[int] = set(sessions) if recount_all else set()
    outdated: set[int] = set()
    ranks: dict[int, Rank] = {}
    for start in range(0, len(sessions), 500):
        some = sessions[start : start + 500]
        for kind in _COPYABLE:
            copies = _find_copied(connection, some, kind, ranks)
            connection.executemany(
                f"UPDATE {kind.table} SET copied = true WHERE session_id = ? AND {kind.number} = ?",  # noqa: S608
                copies,
            )
            affected.update(session for session, _ in copies)
            if kind.table == "calls":
                outdated.update(session for session, _ in copies)
    for session in outdated:
        analyses.drop_analysis(connection, session)  # that analysis counted calls that count elsewhere
    for session in affected:
        recount(connection, session)


def _find_copied(
    connection: ArchiveConnection, sessions: list[int], kind: _Copyable, ranks: dict[int, Rank]
) -> list[tuple[int, int]]:
    """Session and number of the records that count in another session. Of records that are the same only those that still count
    are looked at, one from the time before and those of these sessions, so the work is in proportion to the records."""
    table, name, number, same = kind
    marks = ", ".join("?" * len(sessions))
    agrees = " AND ".join(f"b.{column} = a.{column}" for column in same)
    rows = connection.execute(
        f"SELECT b.session_id, b.{number}, {', '.join(f'b.{column}' for column in same)} FROM "  # noqa: S608
        f"(SELECT DISTINCT {', '.join(same)} FROM {table} WHERE session_id IN ({marks})) a "
        f"CROSS JOIN {table} b INDEXED BY {table}_{name} ON {agrees} AND b.copied = false",
        sessions,
    )
    found: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for session, seq, *record in rows:
        found.setdefault(tuple(record), []).append((session, seq))
    copies: list[tuple[int, int]] = []
    for holders in found.values():
        if len(holders) > 1:
            for session, _ in holders:
                if session not in ranks:
                    ranks[session] = _rank(connection, session)
            owner = min({session for session, _ in holders}, key=ranks.__getitem__)
            copies += [(session, seq) for session, seq in holders if session != owner]
    return copies


def _rank(connection: ArchiveConnection, session: int) -> Rank:
    """See `rank_original`."""
    row = connection.execute(
        "SELECT parent IS NOT NULL, started_at, ended_at, key FROM sessions WHERE id = ?", (session,)
    ).fetchone()
    return rank_original(*row)


def rank_original(has_parent: bool, started: float | None, ended: float | None, key: str) -> Rank:
    """Orders sessions by which of two is the original: the one with the lower rank, whichever was read first."""
    unknown = -math.inf  # as SQLite sorts what is not known
    return bool(has_parent), unknown if started is None else started, unknown if ended is None else ended, key


def recount(connection: ArchiveConnection, session: int) -> None:
    """Recount a session's own calls, errors and tokens."""
    sums = ", ".join(
        f"{name} = (SELECT coalesce(sum({name}), 0) FROM responses WHERE session_id = :id AND NOT copied)"  # noqa: S608
        for name in _TOKENS
    )
    connection.execute(
        f"UPDATE sessions SET {sums}, "  # noqa: S608
        "calls = (SELECT count(*) FROM calls WHERE session_id = :id AND NOT copied), "
        "errors = (SELECT count(*) FROM calls LEFT JOIN outcomes ON outcomes.session_id = calls.session_id "
        "AND outcomes.seq = calls.seq LEFT JOIN purposes ON purposes.id = outcomes.purpose_id "
        "WHERE calls.session_id = :id AND NOT copied AND CASE "
        f"WHEN coalesce(outcomes.status, {_UNKNOWN}) = {_UNKNOWN} THEN is_error OR calls.exit_code <> 0 "
        f"ELSE outcomes.status IN ({_FAILED}) AND NOT bookkeeping END) WHERE id = :id",
        {"id": session},
    )
