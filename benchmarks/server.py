"""The archive on PostgreSQL beside the archive in a file, in one run: the first sync, and what the pages ask of a million calls.

Both take turns. The processor time of the server is counted with that of the program, because somebody pays for it, too. The
archive of the pages is that of the benchmark `pages`; its rows are copied to the server as they are.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any, NamedTuple

import preheat
from benchmarks import pages
from benchmarks.measuring import measure_run, synthetic_corpus, table
from preheat.app import Preheat
from preheat.archive.address import ServerAddress
from preheat.archive.connect import HEAD, connect, connect_local
from preheat.archive.packing import unpack_passages
from preheat.archive.postgresql import keep_connections
from preheat.archive.schema import METADATA
from preheat.archive.search_index import index_passages
from preheat.archive.server import connect_server
from preheat.model.listing import SessionFilter
from tests.postgresql import PostgresqlServer, find_programs

SYNC_BAR, PAGE_BAR = 2.5, 2.0
_SETTINGS = "-c shared_buffers=512MB -c max_wal_size=4GB -c work_mem=32MB -c maintenance_work_mem=256MB"
"""What a machine with a few gigabytes gives to its server; writes are as safe as they are by default."""
_AT_ONCE = 20_000


class Cost(NamedTuple):
    """What something took: by the clock, of the program's processor, of the server's."""

    seconds: float
    program: float
    server: float = 0.0

    @property
    def processor(self) -> float:
        return self.program + self.server


def run(quick: bool) -> dict[str, Any]:
    programs = find_programs()
    if not programs:
        raise SystemExit("benchmarks: no PostgreSQL here; scripts/install-postgresql installs it")
    folder = tempfile.mkdtemp(prefix="preheat-bench-")
    server = PostgresqlServer(programs, _SETTINGS)
    try:
        found = {"first_sync": _measure_sync(server, folder, quick), "pages": _measure_pages(server, folder, quick)}
    finally:
        server.close()
        shutil.rmtree(folder)
    _report(found)
    return found


# The first sync.
def _measure_sync(server: PostgresqlServer, folder: str, quick: bool) -> dict[str, Any]:
    megabytes = 64 if quick else 256
    corpus = synthetic_corpus(megabytes)
    command = [sys.executable, "-m", "preheat", "sync", "--quiet"]
    here: list[Cost] = []
    there: list[Cost] = []
    for turn in range(2 if quick else 3):
        own = {"HOME": corpus, "CLAUDE_CONFIG_DIR": "", "PREHEAT_ARCHIVE": ""}
        done = measure_run(command, {**own, "PREHEAT_HOME": os.path.join(folder, f"file-{turn}")})
        here.append(Cost(done.seconds, done.processor))
        own |= {"PREHEAT_HOME": os.path.join(folder, f"server-{turn}"), "PREHEAT_ARCHIVE": server.create_database()}
        before = server.processor_seconds()
        done = measure_run(command, own)
        there.append(Cost(done.seconds, done.processor, server.processor_seconds() - before))
    return {"megabytes": megabytes, **_compare(here, there)}


def _compare(here: list[Cost], there: list[Cost]) -> dict[str, Any]:
    def middle(costs: list[Cost], value: Callable[[Cost], float]) -> float:
        return statistics.median(map(value, costs))

    def mean(costs: list[Cost], value: Callable[[Cost], float]) -> float:
        """The server's processor time is counted in hundredths of a second: only a sum says something."""
        return statistics.fmean(map(value, costs))

    seconds = middle(there, lambda cost: cost.seconds) / middle(here, lambda cost: cost.seconds)
    processor = mean(there, lambda cost: cost.processor) / mean(here, lambda cost: cost.processor)
    return {
        "sqlite": {
            "seconds": middle(here, lambda cost: cost.seconds),
            "processor": mean(here, lambda cost: cost.processor),
        },
        "postgresql": {
            "seconds": middle(there, lambda cost: cost.seconds),
            "processor": mean(there, lambda cost: cost.processor),
            "of_server": mean(there, lambda cost: cost.server),
        },
        "ratio_seconds": seconds,
        "ratio_processor": processor,
    }  # fmt: skip


# The pages.
def _measure_pages(server: PostgresqlServer, folder: str, quick: bool) -> dict[str, Any]:
    in_file = pages.make_archive(folder, 5 if quick else int(os.environ.get("PREHEAT_BENCH_COPIES", pages.COPIES)))
    on_server = os.path.join(folder, "on-server")
    os.makedirs(on_server, mode=0o700)
    address = server.create_database()
    with open(os.path.join(on_server, "settings.toml"), "w", encoding="utf-8") as stream:
        stream.write(f'[archive]\naddress = "{address}"\n')
    _copy_archive(in_file, on_server, address)
    keep_connections()
    homes = (preheat.open(in_file), preheat.open(on_server))
    sessions = homes[0].archive.sessions(SessionFilter())
    found: dict[str, Any] = {"calls": sum(each.calls for each in sessions), "sessions": len(sessions), "queries": {}}
    for name, ask in _questions([each.key for each in sessions]).items():
        costs: tuple[list[Cost], list[Cost]] = ([], [])
        for home in homes:
            ask(home)  # what is read for the first time comes from the disk
        while len(costs[0]) < 3 or (len(costs[0]) < 50 and sum(each.processor for each in costs[0]) < 1.0):
            for home, taken in zip(homes, costs, strict=True):
                taken.append(_measure(server, lambda home=home, ask=ask: ask(home)))  # type: ignore[misc]
        found["queries"][name] = _compare(*costs)
    return found


def _measure(server: PostgresqlServer, work: Callable[[], object]) -> Cost:
    before, started, worked = server.processor_seconds(), time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - started, time.process_time() - worked, server.processor_seconds() - before)


def _questions(keys: list[str]) -> dict[str, Callable[[Preheat], object]]:
    """What each page asks, and what it adds up in the background."""
    everything = SessionFilter()
    some = keys[:: max(1, len(keys) // 20)]
    recent = SessionFilter(since=time.time() - 30 * pages.DAY)
    return {
        "sessions": lambda home: [
            home.views.sessions(everything), home.views.sessions(everything, order="failed"),
            home.views.sessions(everything, start=5000), home.views.sessions(recent),
        ],
        "search": lambda home: [home.views.sessions(everything, words) for words in pages._SEARCHES],
        "session (20)": lambda home: [home.views.session(key) for key in some],
        "filters": lambda home: home.views.choices(),
        "activity": lambda home: home.views.activity(everything),
        "costs": lambda home: home.costs(everything),
        "mistakes": lambda home: home.views.mistakes(everything),
        "lessons": lambda home: home.lessons(),
        "projects": lambda home: home.projects.describe_all(),
        "effect": lambda home: home.experiments.explain_items(),
    }  # fmt: skip


def _copy_archive(source: str, target: str, address: str) -> None:
    """Copy every row of an archive in a file to an empty one on a server."""
    connect_server(ServerAddress(address), target, HEAD, 30.0).close()
    with closing(connect_local(source)) as local, closing(connect(target)) as server:
        for each in METADATA.sorted_tables:
            columns = [column.name for column in each.columns]
            names = ", ".join(f'"{name}"' for name in columns)
            rows = local.execute(f"SELECT {names} FROM {each.name}")
            with server.transaction():
                for some in _cut(rows, _AT_ONCE):
                    server.insert_rows(each.name, columns, some)
        for first, packed in local.execute("SELECT id, data FROM passages").fetchall():
            index_passages(server, first, unpack_passages(packed))
        for table_name in ("sources", "packs", "sessions", "passages", "purposes", "signatures"):
            server.execute(f"SELECT setval('{table_name}_id_seq', (SELECT max(id) FROM {table_name}))")
        server.execute("VACUUM ANALYZE")


def _cut(rows: Iterable[Any], size: int) -> Iterable[list[Any]]:
    some: list[Any] = []
    for row in rows:
        some.append(row)
        if len(some) >= size:
            yield some
            some = []
    yield some


# The report.
def _report(found: dict[str, Any]) -> None:
    rows = [
        [
            "",
            "SQLite s",
            "PostgreSQL s",
            "ratio",
            "bar",
            "",
            "processor: SQLite s",
            "PostgreSQL s",
            "of the server",
            "ratio",
        ]
    ]
    rows.append(_row(f"first sync, {found['first_sync']['megabytes']} MB", found["first_sync"], SYNC_BAR))
    for name, each in found["pages"]["queries"].items():
        rows.append(_row(name, each, PAGE_BAR))
    print(f"pages: {found['pages']['calls']:,} calls in {found['pages']['sessions']:,} sessions")
    table(rows)


def _row(name: str, each: dict[str, Any], bar: float) -> list[str]:
    here, there = each["sqlite"], each["postgresql"]
    # On a busy machine the clock counts how long each side waited for a processor: both are shown, the work decides.
    met = "met" if each["ratio_processor"] <= bar else "MISSED"
    return [
        name, f"{here['seconds']:.3f}", f"{there['seconds']:.3f}", f"{each['ratio_seconds']:.2f}", f"{bar}", met,
        f"{here['processor']:.3f}", f"{there['processor']:.3f}", f"{there['of_server']:.3f}",
        f"{each['ratio_processor']:.2f}",
    ]  # fmt: skip
