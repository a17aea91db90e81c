"""Reports on the tables of a fleet, by DuckDB: what sessions come to by project, agent, model and day, causes, and mistakes.

Reads only the files that a snapshot names. Knows nothing of how it is shown.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import duckdb
import msgspec
import pyarrow
from pyarrow import dataset

from preheat.fleet.manifest import TABLES, Snapshot
from preheat.fleet.storage import Storage
from preheat.fleet.tables import SCHEMAS
from preheat.model.fleet import FleetCause, FleetMistake, FleetReport, FleetTotals
from preheat.model.outcome import FAILURES
from preheat.prices import price_list

_PLACE = pyarrow.schema([("project", pyarrow.string()), ("day", pyarrow.string())])
_MOST = 20
"""Mistakes that are told."""
_MEMORY = "1GB"
_Value = TypeVar("_Value", FleetTotals, FleetCause, FleetMistake)

# Tokens and money are of the responses of each session, of which copies count in another one.
_COSTS = (
    "CREATE TEMP TABLE costs AS SELECT session, model, day, coalesce(project, '') AS project, "
    "sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, coalesce(sum(money), 0) AS money, "
    "coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) FILTER (WHERE money IS NULL), 0) "
    "AS unpriced FROM responses WHERE NOT copied GROUP BY ALL"
)
_COUNTS = "CREATE TEMP TABLE counts AS SELECT session, agent, day, coalesce(project, '') AS project, calls, errors FROM sessions"
_TOTALS = (
    "SELECT {name} AS name, count(*) AS sessions, coalesce(sum(calls), 0) AS calls, coalesce(sum(errors), 0) AS errors, "
    "coalesce(sum(paid.input_tokens), 0) AS input_tokens, coalesce(sum(paid.output_tokens), 0) AS output_tokens, "
    "coalesce(sum(paid.money), 0) AS money FROM counts LEFT JOIN (SELECT session, sum(input_tokens) AS input_tokens, "
    "sum(output_tokens) AS output_tokens, sum(money) AS money FROM costs GROUP BY session) paid USING (session) "
    "GROUP BY 1 ORDER BY {order}"
)
_MODELS = (
    "SELECT model AS name, count(DISTINCT session) AS sessions, sum(calls) AS calls, sum(errors) AS errors, "
    "sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(money) AS money FROM (SELECT costs.*, "
    # A session with several models: its calls count for the one that cost most.
    "CASE WHEN row_number() OVER (PARTITION BY session ORDER BY costs.money DESC, output_tokens DESC, model) = 1 "
    "THEN counts.calls ELSE 0 END AS calls, CASE WHEN row_number() OVER (PARTITION BY session ORDER BY costs.money DESC, "
    "output_tokens DESC, model) = 1 THEN counts.errors ELSE 0 END AS errors FROM costs JOIN counts USING (session)) "
    "GROUP BY 1 ORDER BY money DESC, sessions DESC, name"
)
_FAILED = (
    "CREATE TEMP TABLE failed AS SELECT session, tool, cause, signature, lost_tokens, coalesce(project, '') AS project "
    "FROM outcomes WHERE NOT bookkeeping AND status IN ({statuses}) AND (session, seq) NOT IN "
    "(SELECT session, seq FROM calls WHERE copied)"
)
_CAUSES = (
    "SELECT coalesce(cause, 'unknown') AS cause, count(*) AS calls, count(DISTINCT session) AS sessions, "
    "sum(lost_tokens) AS lost_tokens FROM failed GROUP BY 1 ORDER BY calls DESC, cause"
)
_MISTAKES = (
    "SELECT signature, min(tool) AS tool, coalesce(mode(cause), 'unknown') AS cause, count(*) AS calls, "
    "count(DISTINCT session) AS sessions, count(DISTINCT project) AS projects, sum(lost_tokens) AS lost_tokens "
    "FROM failed WHERE signature IS NOT NULL GROUP BY signature HAVING count(DISTINCT session) > 1 "
    "ORDER BY sessions DESC, calls DESC, signature LIMIT ?"
)


def make_report(storage: Storage, snapshot: Snapshot, threads: int) -> FleetReport:
    """The report on everything that a snapshot names."""
    with _open_tables(storage, snapshot, threads) as database:
        database.execute(_COSTS)
        database.execute(_COUNTS)
        database.execute(_FAILED.format(statuses=", ".join(f"'{each}'" for each in sorted(FAILURES))))
        by_cost = "money DESC, sessions DESC, name"
        total = _select(database, FleetTotals, _TOTALS.format(name="'total'", order="1"))
        unpriced = database.execute("SELECT coalesce(sum(unpriced), 0)::BIGINT FROM costs").fetchone()
        return FleetReport(
            total=total[0] if total else _NOTHING,
            projects=_select(database, FleetTotals, _TOTALS.format(name="project", order=by_cost)),
            agents=_select(database, FleetTotals, _TOTALS.format(name="agent", order=by_cost)),
            models=_select(database, FleetTotals, _MODELS),
            days=_select(database, FleetTotals, _TOTALS.format(name="day", order="name DESC")),
            causes=_select(database, FleetCause, _CAUSES),
            mistakes=_select(database, FleetMistake, _MISTAKES, _MOST),
            unpriced_tokens=unpriced[0] if unpriced else 0,
            price_list=price_list(),
            problems=len(snapshot.problems),
        )


_NOTHING = FleetTotals(name="total", sessions=0, calls=0, errors=0, input_tokens=0, output_tokens=0, money=0.0)


def _select(
    database: duckdb.DuckDBPyConnection, kind: type[_Value], query: str, *parameters: Any
) -> tuple[_Value, ...]:
    found = database.execute(query, list(parameters))
    names = [column[0] for column in found.description or ()]
    # Sums of whole numbers come as wider ones.
    return tuple(msgspec.convert(dict(zip(names, row, strict=True)), kind, strict=False) for row in found.fetchall())


@contextmanager
def _open_tables(storage: Storage, snapshot: Snapshot, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with the tables as views."""
    with duckdb.connect(":memory:") as database:
        database.execute(f"SET memory_limit = '{_MEMORY}'")
        database.execute(f"SET threads = {threads}")
        database.execute("SET enable_external_access = false")  # nothing is fetched, no extension is loaded
        for table, schema in SCHEMAS.items():
            files = [each.path for each in snapshot.tables if each.table == table]
            storage.requests["get"] += 2 * len(files)
            whole = pyarrow.schema([*schema, *_PLACE])
            if not files:
                database.register(table, whole.empty_table())
                continue
            database.register(
                table,
                dataset.dataset(
                    [storage.full_path(path) for path in files],
                    schema=whole,
                    filesystem=storage.filesystem,
                    format="parquet",
                    partitioning=dataset.partitioning(_PLACE, flavor="hive"),
                    partition_base_dir=storage.full_path(f"{TABLES}/{table}"),
                ),
            )
        yield database
