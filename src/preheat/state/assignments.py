"""Who got what by chance: arms of sessions, what they were given, and what was said or withheld. Written as it happens.

Knows nothing of how an arm is drawn or what it shows. The first of its sort stands, whatever comes later: keeping something
twice changes nothing.
"""

import sqlite3
from collections.abc import Iterable

import msgspec

from preheat.model.experiment import AdviceLot, Assignment, Delivery, Lot
from preheat.model.exposure import Exposure

_SHARES = msgspec.json.Decoder(dict[str, float])
_ITEMS = msgspec.json.Decoder(tuple[str, ...])
_ASSIGNMENT = "session, root, experiment, arm, shares, agent, project, at, why"
_DELIVERY = "session, at, context, tokens, offered, template, shown, spared, probability"
_ADVICE = "session, at, turn, signal, cause, shown, probability"


# Keeping.
def keep(connection: sqlite3.Connection, drawn: Iterable[Lot]) -> None:
    """Write down what was drawn, in its order."""
    for each in drawn:
        if isinstance(each, Assignment):
            shares = _json(each.shares)
            names = (each.session, each.root, each.experiment, each.arm, shares, each.agent, each.project)
            _insert(connection, "assignments", _ASSIGNMENT, (*names, each.at, each.why))
        elif isinstance(each, Delivery):
            given = (each.session, each.at, each.context, each.tokens, each.offered, each.template)
            items = (_json(each.shown), _json(each.spared))
            _insert(connection, "deliveries", _DELIVERY, (*given, *items, each.probability))
        else:
            moment = (each.session, each.at, each.turn, each.signal, each.cause)
            _insert(connection, "advice", _ADVICE, (*moment, each.shown, each.probability))


def _insert(connection: sqlite3.Connection, table: str, columns: str, values: tuple[object, ...]) -> None:
    places = ", ".join("?" * len(values))
    connection.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})", values)  # noqa: S608 - names of our own


def forget(connection: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Take away all that was written down of sessions, and of those that came out of them."""
    keys = [(each,) for each in sessions]
    connection.executemany("DELETE FROM assignments WHERE root = ?", keys)
    for table in ("assignments", "deliveries", "advice"):
        connection.executemany(f"DELETE FROM {table} WHERE session = ?", keys)  # noqa: S608 - names of our own


# Asking.
def any_drawn(connection: sqlite3.Connection) -> bool:
    """Whether anything was ever drawn."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM assignments) OR EXISTS (SELECT 1 FROM deliveries) OR EXISTS (SELECT 1 FROM advice)"
    ).fetchone()
    return bool(row[0])


def sessions(connection: sqlite3.Connection) -> set[str]:
    """Every session of which anything was written down."""
    rows = connection.execute(
        "SELECT session FROM assignments UNION SELECT root FROM assignments UNION SELECT session FROM deliveries"
        " UNION SELECT session FROM advice"
    )
    return {row[0] for row in rows}


def assignment_of(connection: sqlite3.Connection, session: str) -> Assignment | None:
    """The assignment of a session, by its key."""
    row = connection.execute(f"SELECT {_ASSIGNMENT} FROM assignments WHERE session = ?", (session,)).fetchone()  # noqa: S608
    return _assignment(row) if row is not None else None


def assignments(connection: sqlite3.Connection) -> list[Assignment]:
    """All of them, in the order in which they were made."""
    rows = connection.execute(f"SELECT {_ASSIGNMENT} FROM assignments ORDER BY at, session")  # noqa: S608
    return [_assignment(row) for row in rows]


def deliveries(connection: sqlite3.Connection) -> list[Delivery]:
    """What sessions were given at their starts, in the order in which it was written down."""
    rows = connection.execute(f"SELECT {_DELIVERY} FROM deliveries ORDER BY number")  # noqa: S608
    return [
        Delivery(
            session=session, at=at, context=context, tokens=tokens, offered=offered, template=template,
            shown=_ITEMS.decode(shown), spared=_ITEMS.decode(spared), probability=probability,
        )
        for session, at, context, tokens, offered, template, shown, spared, probability in rows
    ]  # fmt: skip


def first_deliveries(connection: sqlite3.Connection) -> dict[str, Delivery]:
    """By session, what it was first given."""
    return {each.session: each for each in reversed(deliveries(connection))}


def exposures(connection: sqlite3.Connection) -> list[Exposure]:
    """Which items a session was given or spared by chance; the first time for an item in a session counts."""
    found: dict[tuple[str, str], Exposure] = {}
    for each in deliveries(connection):
        for items, shown in ((each.shown, True), (each.spared, False)):
            for item in items:
                found.setdefault((item, each.session), Exposure(item, each.session, shown, each.probability, each.at))
    return [found[key] for key in sorted(found)]


def advice(connection: sqlite3.Connection) -> list[AdviceLot]:
    """Every moment at which something was said or withheld by chance, session by session in time order."""
    rows = connection.execute(f"SELECT {_ADVICE} FROM advice ORDER BY session, at")  # noqa: S608
    return [
        AdviceLot(session=session, at=at, turn=turn, signal=signal, cause=cause, shown=bool(shown), probability=chance)
        for session, at, turn, signal, cause, shown, chance in rows
    ]


def _assignment(row: tuple[object, ...]) -> Assignment:
    names = _ASSIGNMENT.split(", ")
    values = dict(zip(names, row, strict=True))
    return msgspec.convert({**values, "lot": "arm", "shares": _SHARES.decode(str(values["shares"]))}, Assignment)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
