"""Keeps what the judge said, and knows which sessions it has not judged as they are now. Plain SQL, as in `writer.py`.

Knows nothing of how a call is judged. Everything that writes happens inside a transaction that the caller holds (`writing`).
"""

import sqlite3
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec

from preheat.archive.packing import PACK
from preheat.model.outcome import CAUSES, RUNGS, STATUSES, Cause
from preheat.model.profile import CallRecord, SessionProfile

_STATUSES = {status: place for place, status in enumerate(STATUSES)}
_RUNGS = {rung: place for place, rung in enumerate(RUNGS)}
_CAUSES: dict[Cause | None, int | None] = {None: None, **{cause: place for place, cause in enumerate(CAUSES)}}
_RECORDS = msgspec.msgpack.Decoder(list[CallRecord])
_AT_ONCE = 500
"""Names in one question; SQLite allows 999."""


class Unjudged(NamedTuple):
    """A session that is to be judged, as it is now."""

    session_id: int
    key: str
    source_id: int
    generation: int
    events: int


class Unit(NamedTuple):
    """A source with sessions that are to be judged: it is read once for all of them."""

    agent: str
    path: str
    part: str
    sessions: list[Unjudged]


class Pending(NamedTuple):
    """All that is to be judged."""

    groups: list[list[Unit]]
    sessions: int
    length: int
    """Bytes of the sources."""


class Stretch(NamedTuple):
    """Some bytes of a source; the pack goes by its number."""

    pack: int
    start: int
    length: int


class Gathered(NamedTuple):
    """Sources with all that is needed to read them."""

    units: list[Unit]
    stretches: list[list[Stretch]]
    """Of each unit."""
    packs: dict[int, bytes]
    """As they are stored."""


class Verdict(NamedTuple):
    """What the judge says of a session, encoded where it was judged: one that cannot be fails alone."""

    of: Unjudged
    records: bytes
    profile: bytes


def encoded(of: Unjudged, records: tuple[CallRecord, ...], profile: SessionProfile) -> Verdict:
    return Verdict(of, msgspec.msgpack.encode(records), msgspec.json.encode(profile))


SOURCED = """
SELECT sessions.id, sessions.key, sessions.source_id, sessions.generation, sessions.events,
       sources.agent, sources.path, sources.part,
       (SELECT pack_id FROM segments WHERE source_id = sessions.source_id AND generation = sessions.generation
        ORDER BY seq LIMIT 1) AS first_pack,
       (SELECT coalesce(sum(length), 0) FROM segments
        WHERE source_id = sessions.source_id AND generation = sessions.generation)
FROM sessions JOIN sources ON sources.id = sessions.source_id
"""
"""Sessions as `grouped` wants them."""
ORDERED = " ORDER BY first_pack, sessions.source_id, sessions.generation, sessions.id"
_PENDING = f"""{SOURCED}
LEFT JOIN judgements ON judgements.session_id = sessions.id AND judgements.version = ?
     AND judgements.source_id = sessions.source_id AND judgements.generation = sessions.generation
     AND judgements.events = sessions.events
WHERE judgements.session_id IS NULL
{ORDERED}"""


def pending(connection: sqlite3.Connection, version: str) -> Pending:
    """What this version of the judge has not judged as it is now: in groups that are best read together.

    A pack holds many sources, and unpacking it costs more than reading one of them: all sources that begin in a pack are in
    one group. Small packs, as a session leaves them that grows from sync to sync, share a group."""
    return grouped(connection.execute(_PENDING, (version,)))


def listed(connection: sqlite3.Connection, keys: Collection[str]) -> Pending:
    """These sessions, judged or not, in the same groups."""
    return grouped(row for row in connection.execute(f"{SOURCED}{ORDERED}") if row[1] in keys)


def grouped(rows: Iterable[tuple[Any, ...]]) -> Pending:
    """Sessions with their sources, in groups; the rows are in the order of their packs."""
    groups: list[list[Unit]] = []
    total = weight = count = 0
    last_pack = last_source = None
    for row in rows:
        session, (agent, path, part, first_pack, length) = Unjudged(*row[:5]), row[5:]
        count += 1
        if last_source == session[2:4]:
            groups[-1][-1].sessions.append(session)
            continue
        if not groups or (weight >= PACK and first_pack != last_pack):
            groups.append([])
            weight = 0
        groups[-1].append(Unit(agent, path, part, [session]))
        weight, total = weight + length, total + length
        last_pack, last_source = first_pack, session[2:4]
    return Pending(groups, count, total)


def gather(connection: sqlite3.Connection, units: list[Unit]) -> Gathered:
    """Sources with their bytes, as they are at one moment; sessions that have changed since they were listed are left out."""
    present: list[Unit] = []
    stretches: list[list[Stretch]] = []
    connection.execute("BEGIN")
    try:
        for unit in units:
            sessions = [session for session in unit.sessions if as_it_was(connection, session)]
            if sessions:
                present.append(unit._replace(sessions=sessions))
                stretches.append(_stretches(connection, sessions[0]))
        numbers = sorted({stretch.pack for some in stretches for stretch in some})
        packs = {
            number: connection.execute("SELECT data FROM packs WHERE id = ?", (number,)).fetchone()[0]
            for number in numbers
        }
    finally:
        connection.execute("COMMIT")
    return Gathered(present, stretches, packs)


def _stretches(connection: sqlite3.Connection, session: Unjudged) -> list[Stretch]:
    rows = connection.execute(
        "SELECT pack_id, start, length FROM segments WHERE source_id = ? AND generation = ? ORDER BY seq",
        (session.source_id, session.generation),
    )
    return [Stretch(*row) for row in rows]


# Storing.
def store(connection: sqlite3.Connection, version: str, verdicts: list[Verdict]) -> list[tuple[str, int]]:
    """Keep verdicts in the place of earlier ones; key and calls of those come back whose session still is what was judged:
    one that a sync has changed meanwhile, or that was forgotten, is left for the next run."""
    kept = [verdict for verdict in verdicts if as_it_was(connection, verdict.of)]
    connection.executemany(
        "DELETE FROM judgements WHERE session_id = ?", [(verdict.of.session_id,) for verdict in kept]
    )
    connection.executemany(
        "INSERT INTO judgements (session_id, version, source_id, generation, events) VALUES (?, ?, ?, ?, ?)",
        [(verdict.of.session_id, version, *verdict.of[2:]) for verdict in kept],
    )
    connection.executemany(
        "INSERT INTO profiles (session_id, data) VALUES (?, ?)",
        [(verdict.of.session_id, verdict.profile) for verdict in kept],
    )
    records = [(verdict.of.session_id, _RECORDS.decode(verdict.records)) for verdict in kept]
    _store_records(connection, records)
    return [(verdict.of.key, len(some)) for verdict, (_, some) in zip(kept, records, strict=True)]


def as_it_was(connection: sqlite3.Connection, session: Unjudged) -> bool:
    row = connection.execute(
        "SELECT id, key, source_id, generation, events FROM sessions WHERE id = ?", (session.session_id,)
    ).fetchone()
    return row is not None and Unjudged(*row) == session


def _store_records(connection: sqlite3.Connection, records: list[tuple[int, list[CallRecord]]]) -> None:
    every = [record for _, some in records for record in some]
    purposes = _purposes(connection, {_purpose(record) for record in every})
    signature_of = _signatures(connection, {record.signature for record in every if record.signature}).get
    connection.executemany(
        "INSERT INTO outcomes (session_id, seq, message, era, purpose_id, status, rung, cause, exit_code, signature_id, "
        "confidence, repeated, reread, seconds, lost_seconds, lost_tokens, recovered_in) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                session, record.seq, record.message, record.era, purposes[_purpose(record)],
                _STATUSES[record.status], _RUNGS[record.rung], _CAUSES[record.cause], record.exit_code,
                signature_of(record.signature), record.confidence, record.repeated, record.reread, record.seconds,
                record.lost_seconds, record.lost_tokens, record.recovered_in,
            )
            for session, some in records
            for record in some
        ),
    )  # fmt: skip


def _purpose(record: CallRecord) -> tuple[str, str, str, bool]:
    return record.tool, record.kind, record.activity, record.bookkeeping


# Numbers are looked up anew in each transaction: another process may have taken unused ones away.
def _purposes(
    connection: sqlite3.Connection, wanted: set[tuple[str, str, str, bool]]
) -> dict[tuple[str, str, str, bool], int]:
    connection.executemany(
        "INSERT INTO purposes (tool, kind, activity, bookkeeping) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        sorted(wanted),
    )
    rows = connection.execute("SELECT id, tool, kind, activity, bookkeeping FROM purposes")
    return {(tool, kind, activity, bool(bookkeeping)): number for number, tool, kind, activity, bookkeeping in rows}


def _signatures(connection: sqlite3.Connection, wanted: set[str]) -> dict[str, int]:
    texts = sorted(wanted)
    connection.executemany(
        "INSERT INTO signatures (text) VALUES (?) ON CONFLICT DO NOTHING", [(text,) for text in texts]
    )
    found: dict[str, int] = {}
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        found.update(connection.execute(f"SELECT text, id FROM signatures WHERE text IN ({marks})", some).fetchall())  # noqa: S608
    return found


def has_outdated(connection: sqlite3.Connection, version: str) -> bool:
    """Whether there are judgements by another version."""
    return connection.execute("SELECT 1 FROM judgements WHERE version <> ? LIMIT 1", (version,)).fetchone() is not None


def drop_outdated(connection: sqlite3.Connection, version: str, sessions: Iterable[int]) -> None:
    """Take away what another version of the judge said of sessions that this one cannot read: the two must not mix."""
    connection.executemany(
        "DELETE FROM judgements WHERE session_id = ? AND version <> ?", [(session, version) for session in sessions]
    )


def drop_unused(connection: sqlite3.Connection) -> None:
    """Take away the texts that no outcome has any more: they are pieces of sessions, which may have been forgotten."""
    connection.execute(
        "DELETE FROM signatures WHERE NOT EXISTS (SELECT 1 FROM outcomes WHERE signature_id = signatures.id)"
    )
    connection.execute("DELETE FROM purposes WHERE id NOT IN (SELECT purpose_id FROM outcomes)")
