"""Sources that wait in the local archive for the server: loaded as readings, which the server stores as if it had been there.

While the server is away a sync writes into the local archive. What is there is moved whole, source by source, and deleted here
only when the server has stored it; a source that the server already has by path and stamp was moved before, and is only deleted.
The local archive then keeps of each source that the server has one row, without contents: the next sync without a server reads
only what changed since. Knows nothing of connections and of when to move. Plain SQL, as in `writer.py`.
"""

from collections.abc import Iterator
from hashlib import md5
from typing import NamedTuple

from preheat.archive.analyses import drop_unused_texts
from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import PACK_SIZE, Packer, pack_passages, unpack_passages
from preheat.archive.raw import read_source
from preheat.archive.rows import (
    AnalysisRows,
    Batch,
    CallRow,
    Delta,
    NoteRow,
    OutcomeRow,
    Passage,
    Position,
    ResponseRow,
    SessionRows,
)
from preheat.archive.sources import known_source
from preheat.archive.writer import clear_session, is_forgotten, recount, store_batch

_HEADING = (
    "version", "model", "project", "branch", "parent", "relation", "started_at", "ended_at", "starter", "title",
)  # fmt: skip
_COUNTS = ("events", "prompts", "messages", "calls", "errors", "compactions")


class WaitingSource(NamedTuple):
    """One generation of a source with contents."""

    source_id: int
    generation: int
    is_last: bool
    """Whether it is the present one: an earlier one is kept where a later reading had less."""
    length: int


def find_waiting(local: ArchiveConnection) -> list[WaitingSource]:
    """The sources that wait, with their generations in order."""
    rows = local.execute(
        "SELECT sources.id, found.generation, found.generation = sources.generation, found.length FROM sources JOIN ("
        " SELECT source_id, generation, sum(length) AS length FROM segments GROUP BY source_id, generation"
        ") found ON found.source_id = sources.id ORDER BY sources.id, found.generation"
    )
    return [WaitingSource(source, generation, bool(is_last), length) for source, generation, is_last, length in rows]


def count_waiting(local: ArchiveConnection) -> int:
    """The number of sessions that wait."""
    return int(local.execute("SELECT count(*) FROM sessions").fetchone()[0])


def group_waiting(waiting: list[WaitingSource]) -> Iterator[list[WaitingSource]]:
    """Groups that are moved together: as much as fits into a pack, and of each source one generation at most."""
    group: list[WaitingSource] = []
    for each in waiting:
        is_full = sum(other.length for other in group) + each.length > PACK_SIZE
        if group and (is_full or group[-1].source_id == each.source_id):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def move_sources(local: ArchiveConnection, server: ArchiveConnection, group: list[WaitingSource]) -> list[int]:
    """Store a group on the server, in one transaction; the ids of the sessions there that changed. Nothing is deleted here."""
    packer = Packer()
    with server.transaction():
        deltas = [delta for each in group if (delta := _load_delta(local, server, each, packer)) is not None]
        packer.close()
        touched = store_batch(server, Batch(packer.packs, deltas))
        changed = sorted({session for sessions in touched for session in sessions})
        for session in changed:
            recount(server, session)
        for each in group:
            _move_contents(local, server, each)
    return changed


def clear_moved(local: ArchiveConnection, group: list[WaitingSource]) -> None:
    """Delete what the server has stored; the rows that say which sources it knows stay."""
    with local.transaction():
        for each in group:
            of_source = (each.source_id, each.generation)
            for (session,) in local.execute(
                "SELECT id FROM sessions WHERE source_id = ? AND generation = ?", of_source
            ).fetchall():
                clear_session(local, session)
            local.execute("DELETE FROM segments WHERE source_id = ? AND generation = ?", of_source)
            if each.is_last:
                for table in ("contents", "positions", "problems", "redactions"):
                    local.execute(f"DELETE FROM {table} WHERE source_id = ?", (each.source_id,))  # noqa: S608
        local.execute("DELETE FROM packs WHERE NOT EXISTS (SELECT 1 FROM segments WHERE pack_id = packs.id)")
        drop_unused_texts(local)


# A source as the reading that it once was.
def _load_delta(
    local: ArchiveConnection, server: ArchiveConnection, waiting: WaitingSource, packer: Packer
) -> Delta | None:
    """The reading of a waiting source; None if the server has it: whoever moved it before was killed before he deleted it."""
    agent, path, part, stamp, reader_version = local.execute(
        "SELECT agent, path, part, stamp, reader_version FROM sources WHERE id = ?", (waiting.source_id,)
    ).fetchone()
    known = known_source(server, path, part)
    if known is not None and stamp and (known.stamp, known.reader_version) == (stamp, reader_version):
        return None
    if is_forgotten(server, path, part):
        return None
    for piece in read_source(local, waiting.source_id, waiting.generation):
        packer.add(piece)
    row = local.execute(
        'SELECT "offset", line, tail, state FROM positions WHERE source_id = ?', (waiting.source_id,)
    ).fetchone()
    of_source = (waiting.source_id,)
    return Delta(
        agent,
        path,
        part,
        stamp if waiting.is_last else "",
        reader_version,
        known,
        False,
        waiting.length,
        Position(*row) if row and waiting.is_last else None,
        packer.end_source(),
        [_load_session(local, session) for session in _list_sessions(local, waiting)],
        local.execute("SELECT line, message FROM problems WHERE source_id = ?", of_source).fetchall(),
        dict(local.execute("SELECT kind, count FROM redactions WHERE source_id = ?", of_source).fetchall()),
    )


def _list_sessions(local: ArchiveConnection, waiting: WaitingSource) -> list[int]:
    rows = local.execute(
        "SELECT id FROM sessions WHERE source_id = ? AND generation = ? ORDER BY id",
        (waiting.source_id, waiting.generation),
    )
    return [row[0] for row in rows]


def _move_contents(local: ArchiveConnection, server: ArchiveConnection, waiting: WaitingSource) -> None:
    """Which sessions the source holds, also those whose rows come from another source."""
    path, part = local.execute("SELECT path, part FROM sources WHERE id = ?", (waiting.source_id,)).fetchone()
    known = known_source(server, path, part)
    if known is None:
        return
    keys = [row[0] for row in local.execute("SELECT key FROM contents WHERE source_id = ?", (waiting.source_id,))]
    server.executemany(
        "INSERT INTO contents (source_id, key) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(known.id, key) for key in keys if not is_forgotten(server, key)],
    )


def _load_session(local: ArchiveConnection, session: int) -> SessionRows:
    row = local.execute(
        f"SELECT session, opening, {', '.join((*_HEADING, *_COUNTS))} FROM sessions WHERE id = ?",  # noqa: S608
        (session,),
    ).fetchone()
    heading = dict(zip(_HEADING, row[2 : 2 + len(_HEADING)], strict=True))
    counts = dict(zip(_COUNTS, row[2 + len(_HEADING) :], strict=True))
    calls = local.execute(
        f"SELECT copied, {', '.join(CallRow._fields)} FROM calls WHERE session_id = ? ORDER BY seq",  # noqa: S608
        (session,),
    ).fetchall()
    responses = local.execute(
        f"SELECT {', '.join(ResponseRow._fields)} FROM responses WHERE session_id = ? ORDER BY response",  # noqa: S608
        (session,),
    ).fetchall()
    passages = _load_passages(local, session)
    # An analysis of a session with copied calls left those out: on the server they may count there.
    analysis = None if any(copied for copied, *_ in calls) else _load_analysis(local, session, counts["errors"])
    return SessionRows(
        row[0], heading, row[1], {**counts, "calls": len(calls)}, [_make_call(rest) for _, *rest in calls], [],
        [ResponseRow(*each) for each in responses], passages, pack_passages(passages), analysis,
    )  # fmt: skip


def _make_call(values: list[object]) -> CallRow:
    call = CallRow(*values)  # type: ignore[arg-type]
    return call._replace(is_error=None if call.is_error is None else bool(call.is_error))


def _load_passages(local: ArchiveConnection, session: int) -> list[Passage]:
    rows = local.execute("SELECT data FROM passages WHERE session_id = ? ORDER BY id", (session,)).fetchall()
    return [passage for (packed,) in rows for passage in unpack_passages(packed)]


def _load_analysis(local: ArchiveConnection, session: int, errors: int) -> AnalysisRows | None:
    """The analysis of a session in its present state; None if it has none, or an older one."""
    row = local.execute(
        "SELECT judgements.version, profiles.data, episodes.data, places.statement, places.tree FROM judgements "
        "JOIN sessions ON sessions.id = judgements.session_id AND judgements.source_id = sessions.source_id "
        "AND judgements.generation = sessions.generation AND judgements.events = sessions.events "
        "JOIN profiles ON profiles.session_id = sessions.id LEFT JOIN episodes ON episodes.session_id = sessions.id "
        "LEFT JOIN places ON places.session_id = sessions.id WHERE sessions.id = ?",
        (session,),
    ).fetchone()
    if row is None or row[3] is None:
        return None
    version, profile, episodes, statement, tree = row
    purposes: dict[tuple[str, str, str, bool], int] = {}
    signatures: dict[str, int] = {}
    outcomes: list[OutcomeRow] = []
    for tool, kind, activity, bookkeeping, text, *values in local.execute(_OUTCOMES, (session,)):
        purpose = purposes.setdefault((tool, kind, activity, bool(bookkeeping)), len(purposes))
        signature = None if text is None else signatures.setdefault(text, len(signatures))
        seq, message, era, status, rung, cause, exit_code, confidence, repeated, reread, *rest = values
        outcomes.append(
            OutcomeRow(
                seq, message, era, purpose, status, rung, cause, exit_code, signature, confidence, bool(repeated),
                bool(reread), *rest,
            )
        )  # fmt: skip
    notes = local.execute(
        "SELECT learner, version, stamp, data FROM notes WHERE session_id = ? ORDER BY learner", (session,)
    ).fetchall()
    return AnalysisRows(
        version, errors, list(purposes), list(signatures), outcomes, profile, [NoteRow(*each) for each in notes],
        episodes or b"", statement, tree,
    )  # fmt: skip


_OUTCOMES = (
    "SELECT purposes.tool, purposes.kind, purposes.activity, purposes.bookkeeping, signatures.text, seq, message, era, status, "
    "rung, cause, exit_code, confidence, repeated, reread, seconds, lost_seconds, lost_tokens, recovered_in FROM outcomes "
    "JOIN purposes ON purposes.id = purpose_id LEFT JOIN signatures ON signatures.id = signature_id "
    "WHERE session_id = ? ORDER BY seq"
)


# What the local archive knows of the server.
def remember_sources(local: ArchiveConnection, server: ArchiveConnection) -> None:
    """Keep which sources the server has, and what a person deleted there for good."""
    columns = "path, part, agent, stamp, reader_version"
    there = {row[:2]: row for row in server.execute(f"SELECT {columns} FROM sources")}  # noqa: S608
    here = {row[:2]: row for row in local.execute(f"SELECT {columns} FROM sources")}  # noqa: S608
    gone = server.execute("SELECT digest, at FROM forgotten").fetchall()
    kept = {row[0] for row in local.execute("SELECT digest FROM forgotten")}
    changed = [row for name, row in there.items() if here.get(name) != row]
    unknown = [name for name in here if name not in there]
    new = [row for row in gone if row[0] not in kept]
    if not (changed or unknown or new):
        return
    with local.transaction():
        local.executemany(
            "INSERT INTO sources (path, part, agent, stamp, reader_version, generation, stored_at) "
            "VALUES (?, ?, ?, ?, ?, 0, 0) ON CONFLICT (path, part) DO UPDATE SET agent = excluded.agent, "
            "stamp = excluded.stamp, reader_version = excluded.reader_version",
            changed,
        )
        local.executemany("DELETE FROM sources WHERE path = ? AND part = ?", unknown)
        local.insert_rows("forgotten", ("digest", "at"), new)


_COPIED = {
    "lessons": ("id", ("id", "project", "learner", "kind", "data")),
    "projects": ("key", ("key", "name")),
    "project_lookup": ("what", ("what", "project")),
}
"""What hooks need to know without asking the server: by table its key, and its columns."""


def refresh_copy(local: ArchiveConnection, server: ArchiveConnection) -> None:
    """Keep a copy of the lessons and of the projects: a hook never waits for the network."""
    if server.execute("SELECT 1 FROM learnings LIMIT 1").fetchone() is None:
        return  # nothing was learned there yet
    for table, (key, columns) in _COPIED.items():
        value = columns[-1]
        there = server.execute(f"SELECT {key}, md5({value}) FROM {table}").fetchall()  # noqa: S608
        here = local.execute(f"SELECT {key}, {value} FROM {table}").fetchall()  # noqa: S608
        if {(name, _digest(each)) for name, each in here} == set(there):
            continue
        rows = server.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()  # noqa: S608
        with local.transaction():
            local.execute(f"DELETE FROM {table}")  # noqa: S608
            local.insert_rows(table, columns, rows)


def _digest(value: str | bytes) -> str:
    data = value.encode() if isinstance(value, str) else value
    return md5(data, usedforsecurity=False).hexdigest()
