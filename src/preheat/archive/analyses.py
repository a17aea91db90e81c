"""Keeps what was made of each session, and knows which ones have not been analysed as they are now. Plain SQL, as in
`writer.py`; light, because a sync stores with it.

Knows nothing of how a session is analysed. Everything that writes happens inside a transaction that the caller holds
(`writing`).
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from preheat.archive.packing import PACK
from preheat.archive.rows import AnalysisRows

_AT_ONCE = 500
"""Names in one question; SQLite allows 999."""


class Unanalysed(NamedTuple):
    """A session that is to be analysed, as it is now."""

    session_id: int
    key: str
    source_id: int
    generation: int
    events: int
    copies: int
    """Tells which of its calls stand in another session too: the sum of their places, counted from one."""


class Unit(NamedTuple):
    """A source with sessions that are to be analysed: it is read once for all of them."""

    agent: str
    path: str
    part: str
    sessions: list[Unanalysed]


class Pending(NamedTuple):
    """All that is to be analysed."""

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
    copied: dict[int, list[int]]
    """By session, where there are any: the places of calls that stand in another session too, and count there."""


class Analysed(NamedTuple):
    """What was made of a session, as it was read."""

    of: Unanalysed
    rows: AnalysisRows


_COPIES = "(SELECT coalesce(sum(seq + 1), 0) FROM calls INDEXED BY calls_copied WHERE copied AND calls.session_id = sessions.id)"
SOURCED = f"""
SELECT sessions.id, sessions.key, sessions.source_id, sessions.generation, sessions.events, {_COPIES},
       sources.agent, sources.path, sources.part,
       (SELECT pack_id FROM segments WHERE source_id = sessions.source_id AND generation = sessions.generation
        ORDER BY seq LIMIT 1) AS first_pack,
       (SELECT coalesce(sum(length), 0) FROM segments
        WHERE source_id = sessions.source_id AND generation = sessions.generation)
FROM sessions JOIN sources ON sources.id = sessions.source_id
"""  # noqa: S608 - made of our own constants
"""Sessions as `grouped` wants them."""
ORDERED = " ORDER BY first_pack, sessions.source_id, sessions.generation, sessions.id"
_PENDING = f"""{SOURCED}
LEFT JOIN judgements ON judgements.session_id = sessions.id AND substr(judgements.version, 1, length(?1)) = ?1
     AND judgements.source_id = sessions.source_id AND judgements.generation = sessions.generation
     AND judgements.events = sessions.events
WHERE judgements.session_id IS NULL
{ORDERED}"""


def pending(connection: sqlite3.Connection, version: str) -> Pending:
    """What no version of the analysis that begins with `version` has analysed as it is now: in groups that are best read
    together.

    A pack holds many sources, and unpacking it costs more than reading one of them: all sources that begin in a pack are in
    one group. Small packs, as a session leaves them that grows from sync to sync, share a group."""
    return grouped(connection.execute(_PENDING, (version,)))


def forks(connection: sqlite3.Connection) -> set[str]:
    """The sessions of which nothing is kept because a sync found that calls of theirs stand in another session, too."""
    question = (
        "SELECT key FROM sessions WHERE id IN (SELECT session_id FROM calls INDEXED BY calls_copied WHERE copied) "
        "AND NOT EXISTS (SELECT 1 FROM judgements WHERE session_id = sessions.id)"
    )
    return {row[0] for row in connection.execute(question)}


def listed(connection: sqlite3.Connection, keys: Collection[str]) -> Pending:
    """These sessions, analysed or not, in the same groups."""
    return grouped(row for row in connection.execute(f"{SOURCED}{ORDERED}") if row[1] in keys)


def grouped(rows: Iterable[tuple[Any, ...]]) -> Pending:
    """Sessions with their sources, in groups; the rows are in the order of their packs."""
    groups: list[list[Unit]] = []
    total = weight = count = 0
    last_pack = last_source = None
    for row in rows:
        session, (agent, path, part, first_pack, length) = Unanalysed(*row[:6]), row[6:]
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
    copied: dict[int, list[int]] = {}
    connection.execute("BEGIN")
    try:
        for unit in units:
            sessions = [session for session in unit.sessions if as_it_was(connection, session)]
            if sessions:
                present.append(unit._replace(sessions=sessions))
                stretches.append(_stretches(connection, sessions[0]))
                copied |= {each.session_id: _copied(connection, each.session_id) for each in sessions if each.copies}
        numbers = sorted({stretch.pack for some in stretches for stretch in some})
        packs = {
            number: connection.execute("SELECT data FROM packs WHERE id = ?", (number,)).fetchone()[0]
            for number in numbers
        }
    finally:
        connection.execute("COMMIT")
    return Gathered(present, stretches, packs, copied)


def _stretches(connection: sqlite3.Connection, session: Unanalysed) -> list[Stretch]:
    rows = connection.execute(
        "SELECT pack_id, start, length FROM segments WHERE source_id = ? AND generation = ? ORDER BY seq",
        (session.source_id, session.generation),
    )
    return [Stretch(*row) for row in rows]


def _copied(connection: sqlite3.Connection, session: int) -> list[int]:
    question = "SELECT seq FROM calls INDEXED BY calls_copied WHERE copied AND session_id = ? ORDER BY seq"
    return [row[0] for row in connection.execute(question, (session,))]


def as_it_was(connection: sqlite3.Connection, session: Unanalysed) -> bool:
    row = connection.execute(
        f"SELECT id, key, source_id, generation, events, {_COPIES} FROM sessions WHERE id = ?",  # noqa: S608
        (session.session_id,),
    ).fetchone()
    return row is not None and Unanalysed(*row) == session


# Storing.
def store(connection: sqlite3.Connection, analysed: Iterable[Analysed]) -> list[tuple[str, int]]:
    """Keep analyses in the place of earlier ones; key and calls of those come back whose session still is what was analysed:
    one that a sync has changed meanwhile, or that was forgotten, is left for the next run."""
    kept = [each for each in analysed if as_it_was(connection, each.of)]
    connection.executemany("DELETE FROM judgements WHERE session_id = ?", [(each.of.session_id,) for each in kept])
    insert(
        connection,
        [(each.of.session_id, each.of.source_id, each.of.generation, each.of.events, each.rows) for each in kept],
    )
    return [(each.of.key, len(each.rows.outcomes)) for each in kept]


def insert(connection: sqlite3.Connection, analysed: Sequence[tuple[int, int, int, int, AnalysisRows]]) -> None:
    """Keep what was made of sessions that nothing is kept of: number, source, generation and events of each, and the rows."""
    connection.executemany(
        "INSERT INTO judgements (session_id, source_id, generation, events, version, learned) VALUES (?, ?, ?, ?, ?, 0)",
        [(*state, rows.version) for *state, rows in analysed],
    )
    connection.executemany(
        "INSERT INTO profiles (session_id, data) VALUES (?, ?)", [(each[0], each[4].profile) for each in analysed]
    )
    connection.executemany(
        "INSERT INTO notes (session_id, learner, version, stamp, data) VALUES (?, ?, ?, ?, ?)",
        [(session, *note) for session, _, _, _, rows in analysed for note in sorted(rows.notes)],
    )
    connection.executemany(
        "INSERT INTO episodes (session_id, data) VALUES (?, ?)",
        [(each[0], each[4].episodes) for each in analysed if each[4].episodes],
    )
    _insert_outcomes(connection, [(each[0], each[4]) for each in analysed])
    connection.executemany(
        "UPDATE sessions SET errors = ? WHERE id = ?", [(rows.errors, session) for session, _, _, _, rows in analysed]
    )


def _insert_outcomes(connection: sqlite3.Connection, analysed: Sequence[tuple[int, AnalysisRows]]) -> None:
    purposes = _purposes(connection, {purpose for _, rows in analysed for purpose in rows.purposes})
    signatures = _signatures(connection, {text for _, rows in analysed for text in rows.signatures})
    statement = (
        "INSERT INTO outcomes (session_id, seq, message, era, purpose_id, status, rung, cause, exit_code, signature_id, "
        "confidence, repeated, reread, seconds, lost_seconds, lost_tokens, recovered_in) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    for session, rows in analysed:
        aims = [purposes[purpose] for purpose in rows.purposes]
        texts = [signatures[text] for text in rows.signatures]
        connection.executemany(
            statement,
            [
                (
                    session, seq, message, era, aims[purpose], status, rung, cause, code,
                    None if signature is None else texts[signature], *rest,
                )
                for seq, message, era, purpose, status, rung, cause, code, signature, *rest in rows.outcomes
            ],
        )  # fmt: skip


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


# What does not hold any more.
def drop(connection: sqlite3.Connection, session: int) -> None:
    """Take away what was made of a session: it is to be analysed again."""
    connection.execute("DELETE FROM judgements WHERE session_id = ?", (session,))


def has_outdated(connection: sqlite3.Connection, version: str) -> bool:
    """Whether there are analyses by another version than those that begin with this."""
    question = "SELECT 1 FROM judgements WHERE substr(version, 1, length(?1)) <> ?1 LIMIT 1"
    return connection.execute(question, (version,)).fetchone() is not None


def count_outdated(connection: sqlite3.Connection, version: str) -> int:
    """How many sessions were analysed by another version than exactly this."""
    return int(connection.execute("SELECT count(*) FROM judgements WHERE version <> ?", (version,)).fetchone()[0])


def drop_outdated(connection: sqlite3.Connection, version: str, sessions: Iterable[int]) -> None:
    """Take away what another version than those that begin with this said of sessions that this one cannot read: the two must
    not mix."""
    connection.executemany(
        "DELETE FROM judgements WHERE session_id = ?2 AND substr(version, 1, length(?1)) <> ?1",
        [(version, session) for session in sessions],
    )


def drop_unused(connection: sqlite3.Connection) -> None:
    """Take away the texts that no outcome has any more: they are pieces of sessions, which may have been forgotten."""
    connection.execute(
        "DELETE FROM signatures WHERE NOT EXISTS (SELECT 1 FROM outcomes WHERE signature_id = signatures.id)"
    )
    connection.execute("DELETE FROM purposes WHERE id NOT IN (SELECT purpose_id FROM outcomes)")


# What was learned from.
def unlearned(connection: sqlite3.Connection) -> list[int]:
    """The sessions that learners have noted and that no learning has looked at since."""
    question = (
        "SELECT session_id FROM judgements WHERE NOT learned "
        "AND EXISTS (SELECT 1 FROM notes WHERE notes.session_id = judgements.session_id)"
    )
    return [row[0] for row in connection.execute(question)]


def mark_learned(connection: sqlite3.Connection, sessions: Iterable[int]) -> None:
    connection.executemany("UPDATE judgements SET learned = 1 WHERE session_id = ?", [(each,) for each in sessions])
