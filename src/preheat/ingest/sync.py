"""Brings the archive up to date: reads changed sources in several processes and stores them in small transactions.

Knows nothing of how changes are found. A sync can be killed at any moment: the next one reads the rest.
"""

import os
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from typing import NamedTuple, cast

import msgspec

from preheat.agents import reader_of
from preheat.agents.places import storable_path
from preheat.agents.reader import DatabaseReader
from preheat.agents.sources import describe_defect, describe_error
from preheat.amounts import format_count
from preheat.archive.connect import explain_database_error
from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import PACK_SIZE
from preheat.archive.rows import Batch, Delta, KnownSource, Position
from preheat.archive.source_list import forgotten_digest
from preheat.archive.sources import known_parts
from preheat.archive.writer import store_batch
from preheat.errors import SourceUnreadable
from preheat.ingest.changes import SourceChange, SourceFailure
from preheat.ingest.source_rows import LoadAnalysis, ReadJob, read_sources
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

_BATCH = msgspec.msgpack.Decoder(Batch)

POOL_FROM = 24 * 1024 * 1024
"""Below this many bytes starting processes costs more than it saves."""


class SourceResult(NamedTuple):
    """The reading of one source, as it was stored."""

    delta: Delta
    sessions: list[int]
    """The sessions that it changed; empty if another sync was first or it was forgotten."""


def read_changes(
    connection: ArchiveConnection,
    folder: str,
    changes: list[SourceChange],
    on_result: Callable[[SourceResult], None],
    load: LoadAnalysis,
    progress: Progress = SILENT,
) -> list[SourceFailure]:
    """Read, analyse and store every change; `on_result` is called with each result when it is stored."""
    failures: list[SourceFailure] = []
    jobs, databases = _make_jobs(connection, changes, failures)
    sessions: set[int] = set()

    def report(result: SourceResult) -> None:
        sessions.update(result.sessions)
        on_result(result)
        progress.advance(result.delta.size, format_count(len(sessions), "session"))

    progress.begin("Reading", sum(job.size for job in jobs), "bytes")
    try:
        with closing(_read_groups(_group(jobs), load)) as batches:  # an interruption ends the workers, too
            for batch in batches:
                failures += [
                    SourceFailure(_describe_source(delta), delta.failure) for delta in batch.deltas if delta.failure
                ]
                _store(connection, batch, report)
        _store(connection, Batch([], list(_database_deltas(databases, failures))), report)
    except sqlite3.DatabaseError as error:
        raise explain_database_error(archive_path(folder), error) from error
    finally:
        progress.end()
    return failures


def _store(connection: ArchiveConnection, batch: Batch, on_result: Callable[[SourceResult], None]) -> None:
    batch = batch._replace(deltas=[delta for delta in batch.deltas if not delta.failure])
    if batch.deltas:
        with connection.transaction():
            touched = store_batch(connection, batch)
        for delta, sessions in zip(batch.deltas, touched, strict=True):
            on_result(SourceResult(delta, sessions))


# Jobs.
def _make_jobs(
    connection: ArchiveConnection, changes: list[SourceChange], failures: list[SourceFailure]
) -> tuple[list[ReadJob], list[SourceChange]]:
    """A job for each file, or for each changed session of a database; and the databases."""
    forgotten = {row[0] for row in connection.execute("SELECT digest FROM forgotten")}
    jobs: list[ReadJob] = []
    databases: list[SourceChange] = []
    for change in changes:
        if reader_of(change.agent).framing(change.found.path) == "database":
            try:
                jobs += list(_make_part_jobs(connection, change, forgotten))
                databases.append(change)
            except (OSError, SourceUnreadable) as error:
                failures.append(SourceFailure(storable_path(change.found.path), describe_error(error)))
            except Exception as error:  # noqa: BLE001 - what one database holds must not cost the others
                failures.append(SourceFailure(storable_path(change.found.path), describe_defect(error)))
        else:
            position = _load_position(connection, change.known)
            jobs.append(_make_job(change, "", change.found.stamp, change.known, position, change.found.size))
    return jobs, databases


def _group(jobs: list[ReadJob]) -> list[list[ReadJob]]:
    """Groups of neighbouring sources, which are packed together; the largest first, so that the last ones finish soon."""
    groups: list[list[ReadJob]] = []
    weights: list[int] = []
    for job in sorted(jobs, key=lambda job: (job.agent, job.path, job.part)):
        if not groups or weights[-1] + job.size > PACK_SIZE or groups[-1][-1].agent != job.agent:
            groups.append([])
            weights.append(0)
        groups[-1].append(job)
        weights[-1] += job.size
    return [group for _, group in sorted(zip(weights, groups, strict=True), key=lambda pair: -pair[0])]


def _make_job(
    change: SourceChange, part: str, stamp: str, known: KnownSource | None, position: Position | None, size: int
) -> ReadJob:
    continues = position and position.offset <= size and known and known.reader_version == change.reader_version
    unread = size - position.offset if position and continues else size
    return ReadJob(change.agent, change.found.path, part, unread, stamp, change.reader_version, known, position)


def _load_position(connection: ArchiveConnection, known: KnownSource | None) -> Position | None:
    if known is None:
        return None
    row = connection.execute(
        'SELECT "offset", line, tail, state FROM positions WHERE source_id = ?', (known.id,)
    ).fetchone()
    return Position(*row) if row else None


def _make_part_jobs(connection: ArchiveConnection, change: SourceChange, forgotten: set[bytes]) -> Iterator[ReadJob]:
    path = storable_path(change.found.path)
    known = known_parts(connection, path)
    parts = cast(DatabaseReader, reader_of(change.agent)).parts(change.found.path)
    size = change.found.size // max(1, len(parts))
    for part in parts:
        before = known.get(part.id)
        same = before is not None and (before.stamp, before.reader_version) == (
            part.stamp,
            change.reader_version,
        )
        if not same and forgotten_digest(path, part.id) not in forgotten:
            yield _make_job(change, part.id, part.stamp, before, None, size)


def _database_deltas(databases: list[SourceChange], failures: list[SourceFailure]) -> Iterator[Delta]:
    """The databases themselves, which are marked as read last: earlier, a kill could lose their sessions."""
    failed = {failure.path.partition("#")[0] for failure in failures}
    for change in databases:
        if storable_path(change.found.path) not in failed:
            yield Delta(
                change.agent,
                storable_path(change.found.path),
                "",
                change.found.stamp,
                change.reader_version,
                change.known,
                False,
                0,
                None,
                [],
                [],
                [],
                {},
            )


def _describe_source(delta: Delta) -> str:
    return f"{delta.path}#{delta.part}" if delta.part else delta.path


def _read_groups(groups: list[list[ReadJob]], load: LoadAnalysis) -> Generator[Batch, None, None]:
    """Read the groups, in several processes if there is much to read."""
    workers = min(os.cpu_count() or 1, 8)
    if workers < 2 or sum(job.size for group in groups for job in group) < POOL_FROM:
        yield from map(partial(read_sources, load=load), groups)
        return
    from preheat.ingest.pool import run_in_processes  # noqa: PLC0415 - slow to import, and seldom needed

    load()  # before forking, so that all processes share it
    yield from map(_BATCH.decode, run_in_processes(partial(_read_and_pack, load), groups, workers))


def _read_and_pack(load: LoadAnalysis, jobs: list[ReadJob]) -> bytes:
    return msgspec.msgpack.encode(read_sources(jobs, load))
