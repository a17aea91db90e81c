"""The redacted bytes of sessions: reading and verifying them by their hashes, and forgetting sessions for good.

Knows nothing of what the bytes mean.
"""

import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple

from preheat.archive import source_list, summary_cache
from preheat.archive.analyses import drop_analysis, drop_unused_texts
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import drop_project_lessons
from preheat.archive.packing import SegmentLabel, compress_pack, decompress
from preheat.archive.search_index import forget_words
from preheat.archive.source_list import forgotten_digest
from preheat.archive.writer import clear_session, mark_copies
from preheat.errors import ArchiveDamaged, UserError


class SessionSource(NamedTuple):
    """The source of a session."""

    agent: str
    path: str
    part: str
    source_id: int
    generation: int


def find_source(connection: ArchiveConnection, key: str) -> SessionSource:
    """Find the source of a session. Raises UserError."""
    row = connection.execute(
        "SELECT sources.agent, sources.path, sources.part, sources.id, sessions.generation FROM sessions "
        "JOIN sources ON sources.id = sessions.source_id WHERE sessions.key = ?",
        (key,),
    ).fetchone()
    if row is None:
        raise UserError(f"no session `{key}` in the archive")
    return SessionSource(*row)


class PackReader:
    """Unpacked packs by number; the last one is kept, because neighbouring sources are read one after the other."""

    def __init__(self, connection: ArchiveConnection) -> None:
        self._connection = connection
        self._last: tuple[int, bytes] = (0, b"")

    def __getitem__(self, number: int) -> bytes:
        if self._last[0] != number:
            row = self._connection.execute("SELECT data FROM packs WHERE id = ?", (number,)).fetchone()
            if row is None:
                raise ArchiveDamaged(f"pack {number} is gone")
            self._last = (number, decompress(row[0]))
        return self._last[1]


def read_source(
    connection: ArchiveConnection, source: int, generation: int, packs: PackReader | None = None
) -> Iterator[bytes]:
    """The bytes of a source in order. Raises ArchiveDamaged if their hash differs."""
    packs = packs or PackReader(connection)
    for number, start, length, expected in connection.execute(
        "SELECT pack_id, start, length, sha256 FROM segments WHERE source_id = ? AND generation = ? ORDER BY seq",
        (source, generation),
    ).fetchall():
        piece = packs[number][start : start + length]
        if sha256(piece).digest() != expected:
            raise ArchiveDamaged(f"pack {number} at {start}: its hash differs")
        yield piece


def verify(
    connection: ArchiveConnection, on_checked: Callable[[int], None] = lambda length: None
) -> Iterator[tuple[str, str]]:
    """Check every byte of the archive by its hash; yields path and reason of what is damaged.

    `on_checked` is called with the length of each source."""
    packs = PackReader(connection)
    for source, path, generation, length in connection.execute(
        "SELECT sources.id, sources.path, segments.generation, sum(segments.length) FROM segments "
        "JOIN sources ON sources.id = segments.source_id GROUP BY 1, 2, 3 ORDER BY min(segments.pack_id)"
    ).fetchall():
        on_checked(length)
        try:
            for _ in read_source(connection, source, generation, packs):
                pass
        except ArchiveDamaged as error:
            yield path, error.why


def count_stored(connection: ArchiveConnection) -> int:
    """The bytes of all stored sources, before compression."""
    return int(connection.execute("SELECT coalesce(sum(length), 0) FROM segments").fetchone()[0])


# Forgetting.
def find_companions(connection: ArchiveConnection, key: str) -> list[str]:
    """The other sessions in the same sources, which are forgotten together with this one."""
    return [
        row[0]
        for row in connection.execute(
            "SELECT DISTINCT b.key FROM contents a JOIN contents b ON b.source_id = a.source_id "
            "WHERE a.key = ? AND b.key <> ? ORDER BY b.key",
            (key, key),
        )
    ]


def forget(connection: ArchiveConnection, keys: list[str]) -> int:
    """Delete sessions and every source that holds them for good: bytes are overwritten, and later syncs skip them. Returns the
    number of deleted sessions."""
    connection.begin_secure_deletion()
    source_list.delete(connection.folder)
    summary_cache.delete(connection.folder)
    deleted = 0
    with connection.transaction():
        sources: set[int] = set()
        for key in keys:
            sources |= {row[0] for row in connection.execute("SELECT source_id FROM contents WHERE key = ?", (key,))}
        all_keys = {
            row[0]
            for source in sources
            for row in connection.execute("SELECT key FROM contents WHERE source_id = ?", (source,))
        }
        copies = _find_copies(connection, all_keys)
        _forget_learned(connection, all_keys)
        for key in all_keys:
            row = connection.execute("SELECT id FROM sessions WHERE key = ?", (key,)).fetchone()
            if row is not None:
                clear_session(connection, row[0])
                deleted += 1
            _mark_forgotten(connection, forgotten_digest(key))
        for source in sources:
            _forget_source(connection, source)
        drop_unused_texts(connection)
        forget_words(connection)
        _recount_copies(connection, copies)
    connection.overwrite_free_pages()
    return deleted


def _forget_learned(connection: ArchiveConnection, keys: set[str]) -> None:
    """Delete what was learned in the projects of these sessions, because lessons quote them. The next learning concludes again
    from the rest."""
    names = {""}
    for key in keys:
        names |= {
            row[0]
            for row in connection.execute(
                "SELECT projects.name FROM projects JOIN places ON places.project = projects.key "
                "JOIN sessions ON sessions.id = places.session_id WHERE sessions.key = ?",
                (key,),
            )
        }
    drop_project_lessons(connection, names)


def _mark_forgotten(connection: ArchiveConnection, digest: bytes) -> None:
    connection.execute("INSERT INTO forgotten (digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, time.time()))


def _find_copies(connection: ArchiveConnection, keys: set[str]) -> list[int]:
    """Sessions with copies of calls of these, which count there from now on."""
    found: set[int] = set()
    for key in keys:
        found |= {
            row[0]
            for row in connection.execute(
                "SELECT DISTINCT b.session_id FROM sessions s JOIN calls a ON a.session_id = s.id "
                "JOIN calls b ON b.call_id = a.call_id AND b.at = a.at AND b.session_id <> a.session_id WHERE s.key = ?",
                (key,),
            )
        }
    return sorted(found)


def _recount_copies(connection: ArchiveConnection, sessions: list[int]) -> None:
    left = [
        session
        for session in sessions
        if connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone()
    ]
    for session in left:
        freed = connection.execute("UPDATE calls SET copied = false WHERE session_id = ? AND copied", (session,))
        connection.execute("UPDATE responses SET copied = false WHERE session_id = ?", (session,))
        if freed.rowcount:
            drop_analysis(connection, session)  # that analysis left out calls that count here now
    mark_copies(connection, left, recount_all=True)


def _forget_source(connection: ArchiveConnection, source: int) -> None:
    path, part = connection.execute("SELECT path, part FROM sources WHERE id = ?", (source,)).fetchone()
    _mark_forgotten(connection, forgotten_digest(path, part))
    packs = [
        row[0] for row in connection.execute("SELECT DISTINCT pack_id FROM segments WHERE source_id = ?", (source,))
    ]
    connection.execute("DELETE FROM segments WHERE source_id = ?", (source,))
    for pack in packs:
        repack(connection, pack)
    connection.execute("DELETE FROM sources WHERE id = ?", (source,))


def repack(
    connection: ArchiveConnection, pack: int, edit: Callable[[SegmentLabel, bytes], bytes] = lambda label, data: data
) -> None:
    """Rewrite a pack with only the bytes that still belong to a source, each segment as `edit` returns it. The caller holds the
    transaction, with `secure_delete` on where the bytes before must be gone for good."""
    rows = connection.execute(
        "SELECT source_id, agent, path, part, segments.generation, seq, reader_version, stamp, start, length, sha256 "
        "FROM segments JOIN sources ON sources.id = source_id WHERE pack_id = ? ORDER BY start",
        (pack,),
    ).fetchall()
    if not rows:
        connection.execute("DELETE FROM packs WHERE id = ?", (pack,))
        return
    data = decompress(connection.execute("SELECT data FROM packs WHERE id = ?", (pack,)).fetchone()[0])
    kept: list[bytes] = []
    labels: list[SegmentLabel] = []
    at = 0
    for source, *fields in rows:
        label = SegmentLabel(*fields)
        before = data[label.start : label.start + label.length]
        piece = edit(label, before)
        # A hash that was wrong before stays wrong: damage must show.
        digest = label.sha256 if piece == before else sha256(piece).digest()
        label = label._replace(start=at, length=len(piece), sha256=digest)
        connection.execute(
            "UPDATE segments SET start = ?, length = ?, sha256 = ? WHERE source_id = ? AND generation = ? AND seq = ?",
            (*label[-3:], source, label.generation, label.seq),
        )
        kept.append(piece)
        labels.append(label)
        at += len(piece)
    connection.execute("UPDATE packs SET data = ? WHERE id = ?", (compress_pack(kept, labels), pack))
