"""Stores the analyses of sessions, and finds sessions whose analysis is missing or outdated. Plain SQL, as in `writer.py`;
light, because every sync that reads something imports it.

Knows nothing of how a session is analysed. The caller holds the transaction (`connection.transaction()`) of what writes.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import PACK_SIZE
from preheat.archive.projects import store_statements
from preheat.archive.rows import AnalysisRows, NoteRow
from preheat.errors import ArchiveDamaged

_AT_ONCE = 500
"""Parameters of one query; SQLite allows 999."""


_OUTCOME_COLUMNS = (
    "session_id", "seq", "message", "era", "purpose_id", "status", "rung", "cause", "exit_code", "signature_id",
    "confidence", "repeated", "reread", "seconds", "lost_seconds", "lost_tokens", "recovered_in",
)  # fmt: skip


class PendingSession(NamedTuple):
    """A session that is to be analysed, in its present state."""

    session_id: int
    key: str
    source_id: int
    generation: int
    events: int
    copies: int
    """Identifies the calls that were copied from another session: the sum of their numbers, counted from one."""


class PendingSource(NamedTuple):
    """A source with sessions to analyse: it is read once for all of them."""

    agent: str
    path: str
    part: str
    sessions: list[PendingSession]


class PendingSessions(NamedTuple):
    """All sessions to analyse, in groups of sources."""

    groups: list[list[PendingSource]]
    sessions: int
    length: int
    """Bytes of the sources."""


class PackSlice(NamedTuple):
    """Some bytes of a source, in the pack with this number."""

    pack: int
    start: int
    length: int


class SourceGroup(NamedTuple):
    """Sources with everything that is needed to read them."""

    sources: list[PendingSource]
    slices: list[list[PackSlice]]
    """Where the bytes of each source are, in the order of `sources`."""
    packs: dict[int, bytes]
    """Packs by number, compressed as they are stored."""
    copied_calls: dict[int, list[int]]
    """By session: the numbers of calls that were copied from another session and count there."""


class AnalysedSession(NamedTuple):
    """The analysis of a session in the state in which it was read."""

    session: PendingSession
    rows: AnalysisRows


_COPIES = "(SELECT coalesce(sum(seq + 1), 0) FROM calls INDEXED BY calls_copied WHERE copied AND calls.session_id = sessions.id)"
SESSIONS_WITH_SOURCES = f"""
SELECT sessions.id, sessions.key, sessions.source_id, sessions.generation, sessions.events, {_COPIES},
       sources.agent, sources.path, sources.part,
       (SELECT pack_id FROM segments WHERE source_id = sessions.source_id AND generation = sessions.generation
        ORDER BY seq LIMIT 1) AS first_pack,
       (SELECT coalesce(sum(length), 0) FROM segments
        WHERE source_id = sessions.source_id AND generation = sessions.generation)
FROM sessions JOIN sources ON sources.id = sessions.source_id
"""  # noqa: S608 - made of our own constants
"""The columns that `group_by_pack` needs."""
PACK_ORDER = " ORDER BY first_pack, sessions.source_id, sessions.generation, sessions.id"
_PENDING = f"""{SESSIONS_WITH_SOURCES}
LEFT JOIN judgements ON judgements.session_id = sessions.id AND substr(judgements.version, 1, length(?1)) = ?1
     AND judgements.source_id = sessions.source_id AND judgements.generation = sessions.generation
     AND judgements.events = sessions.events
WHERE judgements.session_id IS NULL
{PACK_ORDER}"""


def find_pending(connection: ArchiveConnection, version: str) -> PendingSessions:
    """The sessions that no analysis whose version begins with `version` covers in their present state, in groups of sources.

    All sources that begin in one pack form a group, because unpacking a pack costs more than reading one of its sources. Small
    packs, which a session leaves that grows from sync to sync, share a group."""
    return group_by_pack(connection.execute(_PENDING, (version,)))


def find_forks(connection: ArchiveConnection) -> set[str]:
    """Keys of sessions without an analysis because a sync found that some of their calls were copied from another session."""
    query = (
        "SELECT key FROM sessions WHERE id IN (SELECT session_id FROM calls INDEXED BY calls_copied WHERE copied) "
        "AND NOT EXISTS (SELECT 1 FROM judgements WHERE session_id = sessions.id)"
    )
    return {row[0] for row in connection.execute(query)}


def find_sessions(connection: ArchiveConnection, keys: Collection[str]) -> PendingSessions:
    """These sessions, analysed or not, in groups of sources."""
    return group_by_pack(row for row in connection.execute(f"{SESSIONS_WITH_SOURCES}{PACK_ORDER}") if row[1] in keys)


def group_by_pack(rows: Iterable[tuple[Any, ...]]) -> PendingSessions:
    """Group sessions by source and sources by pack; the rows are in the order of their packs."""
    groups: list[list[PendingSource]] = []
    total = weight = count = 0
    last_pack = last_source = None
    for row in rows:
        session, (agent, path, part, first_pack, length) = PendingSession(*row[:6]), row[6:]
        count += 1
        if last_source == session[2:4]:
            groups[-1][-1].sessions.append(session)
            continue
        if not groups or (weight >= PACK_SIZE and first_pack != last_pack):
            groups.append([])
            weight = 0
        groups[-1].append(PendingSource(agent, path, part, [session]))
        weight, total = weight + length, total + length
        last_pack, last_source = first_pack, session[2:4]
    return PendingSessions(groups, count, total)


def load_group(connection: ArchiveConnection, sources: list[PendingSource]) -> SourceGroup:
    """Load sources with their bytes in one transaction; sessions that have changed since they were listed are left out."""
    present: list[PendingSource] = []
    slices: list[list[PackSlice]] = []
    copied: dict[int, list[int]] = {}
    with connection.snapshot():
        for source in sources:
            sessions = [session for session in source.sessions if is_unchanged(connection, session)]
            if sessions:
                present.append(source._replace(sessions=sessions))
                slices.append(_load_slices(connection, sessions[0]))
                copied |= {
                    each.session_id: _load_copied_calls(connection, each.session_id) for each in sessions if each.copies
                }
        numbers = sorted({piece.pack for pieces in slices for piece in pieces})
        packs = {number: _load_pack(connection, number) for number in numbers}
    return SourceGroup(present, slices, packs, copied)


def _load_pack(connection: ArchiveConnection, number: int) -> bytes:
    row = connection.execute("SELECT data FROM packs WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise ArchiveDamaged(f"pack {number} is gone")
    data: bytes = row[0]
    return data


def _load_slices(connection: ArchiveConnection, session: PendingSession) -> list[PackSlice]:
    rows = connection.execute(
        "SELECT pack_id, start, length FROM segments WHERE source_id = ? AND generation = ? ORDER BY seq",
        (session.source_id, session.generation),
    )
    return [PackSlice(*row) for row in rows]


def _load_copied_calls(connection: ArchiveConnection, session: int) -> list[int]:
    query = "SELECT seq FROM calls INDEXED BY calls_copied WHERE copied AND session_id = ? ORDER BY seq"
    return [row[0] for row in connection.execute(query, (session,))]


def is_unchanged(connection: ArchiveConnection, session: PendingSession) -> bool:
    """Whether a session is still in the state in which it was listed."""
    row = connection.execute(
        f"SELECT id, key, source_id, generation, events, {_COPIES} FROM sessions WHERE id = ?",  # noqa: S608
        (session.session_id,),
    ).fetchone()
    return row is not None and PendingSession(*row) == session


# Storing.
def store_analyses(connection: ArchiveConnection, analysed: Iterable[AnalysedSession]) -> list[tuple[str, int]]:
    """Store analyses in place of earlier ones, and return key and number of calls of each that was stored. A session that was
    changed or forgotten meanwhile is left for the next run."""
    kept = [each for each in analysed if is_unchanged(connection, each.session)]
    connection.executemany("DELETE FROM judgements WHERE session_id = ?", [(each.session.session_id,) for each in kept])
    insert_analyses(
        connection,
        [
            (each.session.session_id, each.session.source_id, each.session.generation, each.session.events, each.rows)
            for each in kept
        ],
    )
    return [(each.session.key, len(each.rows.outcomes)) for each in kept]


def insert_analyses(connection: ArchiveConnection, analysed: Sequence[tuple[int, int, int, int, AnalysisRows]]) -> None:
    """Store analyses of sessions that have none: id, source, generation and events of each session, and the rows."""
    connection.insert_rows(
        "judgements",
        ("session_id", "source_id", "generation", "events", "version", "learned"),
        [(*state, rows.version, False) for *state, rows in analysed],
    )
    connection.insert_rows("profiles", ("session_id", "data"), [(each[0], each[4].profile) for each in analysed])
    connection.insert_rows(
        "notes",
        ("session_id", *NoteRow._fields),
        [(session, *note) for session, _, _, _, rows in analysed for note in sorted(rows.notes)],
    )
    connection.insert_rows(
        "episodes", ("session_id", "data"), [(each[0], each[4].episodes) for each in analysed if each[4].episodes]
    )
    store_statements(connection, [(session, rows.statement, rows.tree) for session, _, _, _, rows in analysed])
    _insert_outcomes(connection, [(each[0], each[4]) for each in analysed])
    connection.executemany(
        "UPDATE sessions SET errors = ? WHERE id = ?", [(rows.errors, session) for session, _, _, _, rows in analysed]
    )


def _insert_outcomes(connection: ArchiveConnection, analysed: Sequence[tuple[int, AnalysisRows]]) -> None:
    purposes = _purpose_ids(connection, {purpose for _, rows in analysed for purpose in rows.purposes})
    signatures = _signature_ids(connection, {text for _, rows in analysed for text in rows.signatures})
    for session, rows in analysed:
        purpose_ids = [purposes[purpose] for purpose in rows.purposes]
        texts = [signatures[text] for text in rows.signatures]
        connection.insert_rows(
            "outcomes",
            _OUTCOME_COLUMNS,
            [
                (
                    session, seq, message, era, purpose_ids[purpose], status, rung, cause, code,
                    None if signature is None else texts[signature], *rest,
                )
                for seq, message, era, purpose, status, rung, cause, code, signature, *rest in rows.outcomes
            ],
        )  # fmt: skip


# Numbers are looked up in each transaction: another process may have deleted unused ones.
def _purpose_ids(
    connection: ArchiveConnection, wanted: set[tuple[str, str, str, bool]]
) -> dict[tuple[str, str, str, bool], int]:
    connection.executemany(
        "INSERT INTO purposes (tool, kind, activity, bookkeeping) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        sorted(wanted),
    )
    query = "SELECT id FROM purposes WHERE tool = ? AND kind = ? AND activity = ? AND bookkeeping = ?"
    return {purpose: connection.execute(query, purpose).fetchone()[0] for purpose in wanted}


def _signature_ids(connection: ArchiveConnection, wanted: set[str]) -> dict[str, int]:
    texts = sorted(wanted)
    connection.executemany(
        "INSERT INTO signatures (text) VALUES (?) ON CONFLICT DO NOTHING", [(text,) for text in texts]
    )
    ids: dict[str, int] = {}
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        ids.update(connection.execute(f"SELECT text, id FROM signatures WHERE text IN ({marks})", some).fetchall())  # noqa: S608
    return {text: ids[connection.storable_text(text)] for text in texts}


# Dropping.
def drop_analysis(connection: ArchiveConnection, session: int) -> None:
    """Delete the analysis of a session, so that it is analysed again."""
    connection.execute("DELETE FROM judgements WHERE session_id = ?", (session,))


def has_outdated(connection: ArchiveConnection, version: str) -> bool:
    """Whether there are analyses whose version does not begin with this."""
    query = "SELECT 1 FROM judgements WHERE substr(version, 1, length(?1)) <> ?1 LIMIT 1"
    return connection.execute(query, (version,)).fetchone() is not None


def count_outdated(connection: ArchiveConnection, version: str) -> int:
    """How many analyses are of another version than exactly this."""
    return int(connection.execute("SELECT count(*) FROM judgements WHERE version <> ?", (version,)).fetchone()[0])


def drop_outdated(connection: ArchiveConnection, version: str, sessions: Iterable[int]) -> None:
    """Delete the analyses of these sessions whose version does not begin with this: sessions that can no longer be read must not
    mix results of two versions."""
    connection.executemany(
        "DELETE FROM judgements WHERE session_id = ?2 AND substr(version, 1, length(?1)) <> ?1",
        [(version, session) for session in sessions],
    )


def drop_unused_texts(connection: ArchiveConnection) -> None:
    """Delete texts that no outcome uses any more: they are pieces of sessions that may have been forgotten."""
    connection.execute(
        "DELETE FROM signatures WHERE NOT EXISTS (SELECT 1 FROM outcomes WHERE signature_id = signatures.id)"
    )
    connection.execute("DELETE FROM purposes WHERE id NOT IN (SELECT purpose_id FROM outcomes)")


# Learning.
def find_unlearned(connection: ArchiveConnection) -> list[int]:
    """The sessions with notes of learners that no learning has used yet."""
    query = (
        "SELECT session_id FROM judgements WHERE NOT learned "
        "AND EXISTS (SELECT 1 FROM notes WHERE notes.session_id = judgements.session_id)"
    )
    return [row[0] for row in connection.execute(query)]


def mark_learned(connection: ArchiveConnection, sessions: Iterable[int]) -> None:
    """Store that a learning has used the notes on these sessions."""
    connection.executemany("UPDATE judgements SET learned = true WHERE session_id = ?", [(each,) for each in sessions])
