"""Keeps who got what by lot and what a person thought of it, and tells how those sessions went. Plain SQL, as in `writer.py`.

Knows nothing of how a lot is drawn or what it shows. Everything that writes happens inside a transaction that the caller holds
(`writing`). What is kept here can be taken in again from the files beside the archive.
"""

import sqlite3
from collections.abc import Iterable, Mapping

import msgspec

from preheat.archive.checks import last_checks
from preheat.archive.forgotten import digest_of
from preheat.archive.lessons import store_exposures
from preheat.model.experiment import AdviceLot, Assignment, Delivery, Lot, Rating, Went
from preheat.model.exposure import Exposure
from preheat.model.outcome import CAUSES, FAILURES, JUDGED, STATUSES

_OUTPUT, _CACHE_READ, _CACHE_WRITE = 5.0, 0.1, 1.25
"""What tokens cost beside those of fresh input: rough ratios of usual prices."""
_JUDGED = ", ".join(str(place) for place, status in enumerate(STATUSES) if status in JUDGED)
_FAILED = ", ".join(str(place) for place, status in enumerate(STATUSES) if status in FAILURES)
_MISUSE = CAUSES.index("misuse")


# Taking in.
def place_of(connection: sqlite3.Connection, name: str) -> int:
    """How far a file was taken in."""
    row = connection.execute("SELECT place FROM intake WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row is not None else 0


def store_place(connection: sqlite3.Connection, name: str, place: int) -> None:
    connection.execute("INSERT OR REPLACE INTO intake (name, place) VALUES (?, ?)", (name, place))


def store_lots(connection: sqlite3.Connection, lots: Iterable[Lot]) -> None:
    """Keep lots; the first one of its sort stands, and none of a session that was forgotten."""
    forgotten = {row[0] for row in connection.execute("SELECT digest FROM forgotten")}
    for lot in lots:
        if forgotten and digest_of(lot.session) in forgotten:
            continue
        if isinstance(lot, Assignment):
            _store_assignment(connection, lot)
        elif isinstance(lot, Delivery):
            _store_delivery(connection, lot)
        else:
            connection.execute(
                "INSERT INTO advice_lots (session, at, turn, signal, cause, shown, probability) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (lot.session, lot.at, lot.turn, lot.signal, lot.cause, lot.shown, lot.probability),
            )


def _store_assignment(connection: sqlite3.Connection, lot: Assignment) -> None:
    shares = msgspec.json.encode(lot.shares).decode()
    connection.execute(
        "INSERT INTO assignments (session, root, experiment, arm, shares, agent, project, at, why)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (lot.session, lot.root, lot.experiment, lot.arm, shares, lot.agent, lot.project, lot.at, lot.why),
    )


def _store_delivery(connection: sqlite3.Connection, lot: Delivery) -> None:
    connection.execute(
        "INSERT INTO deliveries (session, at, context, tokens, offered, template) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (lot.session, lot.at, lot.context, lot.tokens, lot.offered, lot.template),
    )
    sides = ((lot.shown, True), (lot.spared, False))
    store_exposures(
        connection,
        (Exposure(item, lot.session, shown, lot.probability, lot.at) for some, shown in sides for item in some),
    )


def store_ratings(connection: sqlite3.Connection, ratings: Iterable[Rating]) -> None:
    """Keep what a person thought, in the place of what was kept before."""
    connection.execute("DELETE FROM ratings")
    connection.executemany(
        "INSERT OR REPLACE INTO ratings (session, good, at, note) VALUES (?, ?, ?, ?)",
        ((each.session, each.good, each.at, each.note) for each in ratings),
    )


def drop(connection: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Take away all that is kept of sessions."""
    keys = [(each,) for each in sessions]
    for table in ("assignments", "deliveries", "advice_lots", "ratings", "exposures"):
        connection.executemany(f"DELETE FROM {table} WHERE session = ?", keys)  # noqa: S608 - names of our own


# Asking.
def assignments(connection: sqlite3.Connection, experiment: str = "") -> list[Assignment]:
    """The assignments of an experiment, or all, in the order in which they were made."""
    where = "WHERE experiment = ?" if experiment else ""
    rows = connection.execute(
        f"SELECT session, root, experiment, arm, shares, agent, project, at, why FROM assignments {where}"  # noqa: S608
        " ORDER BY at, session",
        (experiment,) if experiment else (),
    )
    return [
        Assignment(
            session=session, root=root, experiment=name, arm=arm, shares=msgspec.json.decode(shares, type=dict[str, float]),
            agent=agent, project=project, at=at, why=why,
        )
        for session, root, name, arm, shares, agent, project, at, why in rows
    ]  # fmt: skip


def deliveries(connection: sqlite3.Connection) -> dict[str, Delivery]:
    """What each session was first given."""
    rows = connection.execute("SELECT session, at, context, tokens, offered, template FROM deliveries")
    return {
        session: Delivery(session=session, at=at, context=context, tokens=tokens, offered=offered, template=template)
        for session, at, context, tokens, offered, template in rows
    }


def advice_lots(connection: sqlite3.Connection) -> list[AdviceLot]:
    """Every moment at which something was said or withheld by lot, session by session in time order."""
    rows = connection.execute(
        "SELECT session, at, turn, signal, cause, shown, probability FROM advice_lots ORDER BY session, at"
    )
    return [
        AdviceLot(session=session, at=at, turn=turn, signal=signal, cause=cause, shown=bool(shown), probability=chance)
        for session, at, turn, signal, cause, shown, chance in rows
    ]


def call_failures(connection: sqlite3.Connection, session: str) -> list[tuple[float, bool]]:
    """The judged calls of a session that say when they were made: the moment, and whether it failed by the agent's mistake."""
    rows = connection.execute(
        "SELECT calls.at, outcomes.status, outcomes.cause FROM outcomes"  # noqa: S608 - numbers of our own
        " JOIN sessions ON sessions.id = outcomes.session_id"
        " JOIN calls ON calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq"
        " JOIN purposes ON purposes.id = outcomes.purpose_id"
        f" WHERE sessions.key = ? AND calls.at IS NOT NULL AND NOT purposes.bookkeeping AND outcomes.status IN ({_JUDGED})"
        " ORDER BY outcomes.seq",
        (session,),
    )
    failed = {place for place, status in enumerate(STATUSES) if status in FAILURES}
    return [(at, status in failed and cause == _MISUSE) for at, status, cause in rows]


def went(connection: sqlite3.Connection, corrections: Mapping[str, int]) -> list[Went]:
    """How every session of the archive went, but those that were delegated or that Preheat started; `corrections` by key. Calls
    that were copied from another session count there."""
    rates = _rates(connection)
    passed = last_checks(connection)
    rated = dict(connection.execute("SELECT session, good FROM ratings"))
    roots = dict(connection.execute("SELECT folder, root FROM projects"))
    judged = {row[0] for row in connection.execute("SELECT session_id FROM judgements")}
    rows = connection.execute(
        "SELECT id, key, agent, project, parent, relation, started_at, ended_at, input_tokens, output_tokens,"
        " cache_read_tokens, cache_write_tokens FROM sessions"
        " WHERE coalesce(relation, '') != 'subagent' AND starter != 'preheat' ORDER BY id"
    )
    found = []
    for number, key, agent, project, parent, relation, started, ended, fresh, out, read, written in rows:
        calls, failed, misuse = rates.get(number, (0, 0, 0))
        good = rated.get(key)
        found.append(
            Went(
                session=key,
                agent=agent,
                project=roots.get(project) or project,
                parent=f"{agent}:{parent}" if parent else "",
                relation=relation or "",
                started_at=started,
                ended_at=ended,
                judged=number in judged,
                calls=calls,
                misuse=misuse,
                errors=failed,
                passed=passed.get(key),
                tokens=fresh + out + read + written,
                cost=fresh + _OUTPUT * out + _CACHE_READ * read + _CACHE_WRITE * written,
                corrections=corrections.get(key, 0),
                rating=None if good is None else bool(good),
            )
        )
    return found


def _rates(connection: sqlite3.Connection) -> dict[int, tuple[int, int, int]]:
    """By the number of a session: its calls that a rate is taken over, how many failed, and how many by misuse."""
    rows = connection.execute(
        "SELECT session_id, count(*), sum(failed), sum(failed AND cause = ?) FROM ("  # noqa: S608 - numbers of our own
        f" SELECT outcomes.session_id, outcomes.cause, outcomes.status IN ({_FAILED}) AS failed FROM outcomes"
        " JOIN purposes ON purposes.id = outcomes.purpose_id"
        f" WHERE outcomes.status IN ({_JUDGED}) AND NOT purposes.bookkeeping AND NOT EXISTS"
        "  (SELECT 1 FROM calls INDEXED BY calls_copied"
        "   WHERE copied AND calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq)"
        ") GROUP BY session_id",
        (_MISUSE,),
    )
    return {number: (calls, failed or 0, misuse or 0) for number, calls, failed, misuse in rows}
