"""The plans of comparisons, as they were stored, and when each was stopped. Does not check their digests."""

import sqlite3
from typing import NamedTuple

import msgspec

from preheat.model.experiment import ExperimentPlan

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
        if (plan := _decoded(data)) is not None:
            found.append(StoredPlan(experiment, plan, stopped))
    return found


def unreadable_plans(connection: sqlite3.Connection) -> list[str]:
    """The names of plans that cannot be read, because they were changed."""
    rows = connection.execute("SELECT experiment, plan FROM plans ORDER BY number")
    return [experiment for experiment, data in rows if _decoded(data) is None]


def start_plan(connection: sqlite3.Connection, experiment: str, plan: ExperimentPlan) -> None:
    """Store a plan: it runs from now on."""
    keep_plan(connection, experiment, msgspec.json.encode(plan))


def keep_plan(connection: sqlite3.Connection, experiment: str, data: bytes) -> None:
    """Store the bytes of a plan; one of the same name stays."""
    connection.execute("INSERT OR IGNORE INTO plans (experiment, plan) VALUES (?, ?)", (experiment, data))


def stop_plan(connection: sqlite3.Connection, experiment: str, at: float) -> None:
    """Stop a plan; the first stop counts."""
    connection.execute("UPDATE plans SET stopped = ? WHERE experiment = ? AND stopped IS NULL", (at, experiment))


def _decoded(data: bytes) -> ExperimentPlan | None:
    try:
        return _PLAN.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
