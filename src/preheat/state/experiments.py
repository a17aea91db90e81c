"""Experiments in the state: plans, the secret key, records of assignments, people's ratings of sessions.

Knows nothing of how an arm is assigned or what it shows. The first record of a session stays: storing one twice changes nothing.
"""

import os
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from preheat.model.experiment import (
    AdviceAssignment,
    Assignment,
    AssignmentRecord,
    Delivery,
    ExperimentPlan,
    Exposure,
    Rating,
)
from preheat.state.schema import SECRET_BYTES

# Records of assignments.
_SHARES = msgspec.json.Decoder(dict[str, float])
_ITEMS = msgspec.json.Decoder(tuple[str, ...])
_ASSIGNMENT = "session, root, experiment, arm, shares, agent, project, at, why"
_DELIVERY = "session, at, context, tokens, offered, template, shown, spared, probability"
_ADVICE = "session, at, turn, signal, cause, shown, probability"


# Writing.
def keep_assignments(connection: sqlite3.Connection, records: Iterable[AssignmentRecord]) -> None:
    """Store records of assignments, in their order."""
    for each in records:
        if isinstance(each, Assignment):
            shares = _json(each.shares)
            texts = (each.session, each.root, each.experiment, each.arm, shares, each.agent, each.project)
            _insert(connection, "assignments", _ASSIGNMENT, (*texts, each.at, each.why))
        elif isinstance(each, Delivery):
            delivery = (each.session, each.at, each.context, each.tokens, each.offered, each.template)
            items = (_json(each.shown), _json(each.withheld))
            _insert(connection, "deliveries", _DELIVERY, (*delivery, *items, each.probability))
        else:
            moment = (each.session, each.at, each.turn, each.signal, each.cause)
            _insert(connection, "advice", _ADVICE, (*moment, each.shown, each.probability))


def _insert(connection: sqlite3.Connection, table: str, columns: str, values: tuple[object, ...]) -> None:
    places = ", ".join("?" * len(values))
    connection.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})", values)  # noqa: S608 - names of our own


def forget_assignments(connection: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Delete all records of sessions, and of their forks and continuations."""
    keys = [(each,) for each in sessions]
    connection.executemany("DELETE FROM assignments WHERE root = ?", keys)
    for table in ("assignments", "deliveries", "advice"):
        connection.executemany(f"DELETE FROM {table} WHERE session = ?", keys)  # noqa: S608 - names of our own


# Reading.
def has_assignments(connection: sqlite3.Connection) -> bool:
    """Whether anything was ever assigned."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM assignments) OR EXISTS (SELECT 1 FROM deliveries) OR EXISTS (SELECT 1 FROM advice)"
    ).fetchone()
    return bool(row[0])


def assigned_sessions(connection: sqlite3.Connection) -> set[str]:
    """Every session that has a record."""
    rows = connection.execute(
        "SELECT session FROM assignments UNION SELECT root FROM assignments UNION SELECT session FROM deliveries"
        " UNION SELECT session FROM advice"
    )
    return {row[0] for row in rows}


def find_assignment(connection: sqlite3.Connection, session: str) -> Assignment | None:
    """The assignment of a session, by its key."""
    row = connection.execute(f"SELECT {_ASSIGNMENT} FROM assignments WHERE session = ?", (session,)).fetchone()  # noqa: S608
    return _assignment(row) if row is not None else None


def assignments(connection: sqlite3.Connection) -> list[Assignment]:
    """All assignments, in the order in which they were made."""
    rows = connection.execute(f"SELECT {_ASSIGNMENT} FROM assignments ORDER BY at, session")  # noqa: S608
    return [_assignment(row) for row in rows]


def deliveries(connection: sqlite3.Connection) -> list[Delivery]:
    """What sessions were given at their starts, in the order in which it was stored."""
    rows = connection.execute(f"SELECT {_DELIVERY} FROM deliveries ORDER BY number")  # noqa: S608
    return [
        Delivery(
            session=session, at=at, context=context, tokens=tokens, offered=offered, template=template,
            shown=_ITEMS.decode(shown), withheld=_ITEMS.decode(spared), probability=probability,
        )
        for session, at, context, tokens, offered, template, shown, spared, probability in rows
    ]  # fmt: skip


def first_deliveries(connection: sqlite3.Connection) -> dict[str, Delivery]:
    """By session, its first delivery."""
    return {each.session: each for each in reversed(deliveries(connection))}


def exposures(connection: sqlite3.Connection) -> list[Exposure]:
    """Which items each session was shown or not, by assignment; the first time in a session counts."""
    found: dict[tuple[str, str], Exposure] = {}
    for each in deliveries(connection):
        for items, shown in ((each.shown, True), (each.withheld, False)):
            for item in items:
                found.setdefault((item, each.session), Exposure(item, each.session, shown, each.probability, each.at))
    return [found[key] for key in sorted(found)]


def advice_assignments(connection: sqlite3.Connection) -> list[AdviceAssignment]:
    """Every advisory that was sent or withheld by assignment, by session and time."""
    rows = connection.execute(f"SELECT {_ADVICE} FROM advice ORDER BY session, at")  # noqa: S608
    return [
        AdviceAssignment(
            session=session, at=at, turn=turn, signal=signal, cause=cause, shown=bool(shown), probability=chance
        )
        for session, at, turn, signal, cause, shown, chance in rows
    ]


def _assignment(row: tuple[object, ...]) -> Assignment:
    names = _ASSIGNMENT.split(", ")
    values = dict(zip(names, row, strict=True))
    return msgspec.convert({**values, "lot": "arm", "shares": _SHARES.decode(str(values["shares"]))}, Assignment)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


# The plans of comparisons, as they were stored, and when each was stopped.
_PLAN = msgspec.json.Decoder(ExperimentPlan)


class StoredPlan(NamedTuple):
    """A stored plan; `experiment` is its name and digest."""

    experiment: str
    plan: ExperimentPlan
    stopped: float | None
    """When it was stopped; None if it runs."""


def plans(connection: sqlite3.Connection) -> list[StoredPlan]:
    """Every plan that can be read, the oldest first."""
    found = []
    for experiment, data, stopped in connection.execute("SELECT experiment, plan, stopped FROM plans ORDER BY number"):
        if (plan := _decode_plan(data)) is not None:
            found.append(StoredPlan(experiment, plan, stopped))
    return found


def unreadable_plans(connection: sqlite3.Connection) -> list[str]:
    """The names of plans that cannot be read, because they were changed."""
    rows = connection.execute("SELECT experiment, plan FROM plans ORDER BY number")
    return [experiment for experiment, data in rows if _decode_plan(data) is None]


def start_plan(connection: sqlite3.Connection, experiment: str, plan: ExperimentPlan) -> None:
    """Store a plan: it runs from now on."""
    keep_plan(connection, experiment, msgspec.json.encode(plan))


def keep_plan(connection: sqlite3.Connection, experiment: str, data: bytes) -> None:
    """Store the bytes of a plan; one of the same name stays."""
    connection.execute("INSERT OR IGNORE INTO plans (experiment, plan) VALUES (?, ?)", (experiment, data))


def stop_plan(connection: sqlite3.Connection, experiment: str, at: float) -> None:
    """Stop a plan; the first stop counts."""
    connection.execute("UPDATE plans SET stopped = ? WHERE experiment = ? AND stopped IS NULL", (at, experiment))


def _decode_plan(data: bytes) -> ExperimentPlan | None:
    try:
        return _PLAN.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


# People's ratings of sessions.
def keep_rating(connection: sqlite3.Connection, rating: Rating) -> None:
    """Store a rating in place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO ratings (session, good, at, note) VALUES (?, ?, ?, ?)",
        (rating.session, rating.good, rating.at, rating.note),
    )


def ratings(connection: sqlite3.Connection) -> dict[str, Rating]:
    """All ratings, by session."""
    rows = connection.execute("SELECT session, good, at, note FROM ratings ORDER BY session")
    return {session: Rating(session=session, good=bool(good), at=at, note=note) for session, good, at, note in rows}


def forget_ratings(connection: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Delete the ratings of sessions."""
    connection.executemany("DELETE FROM ratings WHERE session = ?", [(each,) for each in sessions])


# The secret key of all assignments, made once, after the person was told.
def find_secret(connection: sqlite3.Connection) -> bytes | None:
    """The secret key, if there is one: without it nothing is assigned."""
    row = connection.execute("SELECT secret FROM key").fetchone()
    return bytes(row[0]) if row is not None and len(row[0]) == SECRET_BYTES else None


def make_secret(connection: sqlite3.Connection) -> bool:
    """Make the secret key unless there is one; whether it is new. Replacing one would change all arms."""
    return keep_secret(connection, os.urandom(SECRET_BYTES))


def keep_secret(connection: sqlite3.Connection, found: bytes) -> bool:
    """Store this key unless there is one; whether it was stored."""
    return connection.execute("INSERT OR IGNORE INTO key (only, secret) VALUES (1, ?)", (found,)).rowcount > 0
