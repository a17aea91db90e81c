"""Repairs a damaged archive and a damaged state: what is whole is saved into new files, and the damaged ones are kept.

A repair can be killed at any moment: the damaged file stays in its place until the new one is complete. Knows nothing of how it
is shown.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from preheat.agents import AGENTS
from preheat.app.analysis.one_pass import analyse_archive
from preheat.app.sessions.archive import SYNC_PATIENCE
from preheat.archive import source_list, summary_cache
from preheat.archive.address import find_server
from preheat.archive.connect import connect_local, explain_database_error, hold_sync_lock, open_new
from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import PACK_SIZE, Packer
from preheat.archive.raw import count_stored, verify
from preheat.archive.rows import Batch, Delta
from preheat.archive.salvage import Salvage, SavedSource
from preheat.archive.sources import known_source
from preheat.archive.stamp import is_ours, write_stamp
from preheat.archive.writer import store_batch
from preheat.errors import ArchiveBusy, ArchiveDamaged, ArchiveUnusable, StateUnusable, UserError
from preheat.ingest.source_rows import ReadJob
from preheat.ingest.stored_sessions import read_stored_source
from preheat.model.health import Loss, RepairReport
from preheat.model.progress import Progress
from preheat.settings import archive_path, state_path
from preheat.sqlite_files.replacement import building_path, clear, finish, replace
from preheat.state.connect import hold_state_lock, reading
from preheat.state.salvage import save_state


def repair(folder: str, dry_run: bool, progress: Progress) -> RepairReport:
    """Repair the archive and the state of a folder, if they are damaged. Raises UserError."""
    if not os.path.isdir(folder):
        return RepairReport(archive_path(folder), "", dry_run=dry_run)
    try:
        report = RepairReport(archive_path(folder), "", dry_run=dry_run)
        with hold_sync_lock(folder, SYNC_PATIENCE, lambda: progress.wait("a sync is at work")):
            report = _repair_archive(folder, dry_run, progress)
            report = _repair_state(folder, report)
    except sqlite3.DatabaseError as error:
        raise explain_database_error(archive_path(folder), error) from error
    except OSError as error:
        raise UserError(
            f"`{error.filename or folder}`: {error.strerror or error}; nothing was changed: "
            "`preheat admin doctor --repair` begins again"
        ) from error
    if report.kept and not dry_run and find_server(folder) is None:  # what waits for a server is analysed there
        analyse_archive(folder, progress)
    return report


# The archive.
def _repair_archive(folder: str, dry_run: bool, progress: Progress) -> RepairReport:
    path = archive_path(folder)
    if not dry_run and (kept := finish(path)):
        write_stamp(path, ours=True)
        return RepairReport(path, "an earlier repair was stopped before its end", kept=kept, sessions=_count(folder))
    if not os.path.exists(path):
        return RepairReport(path, "", dry_run=dry_run)
    damage = examine_archive(folder, progress) or ("" if is_ours(path) else "something else has changed it")
    if not damage:
        return RepairReport(path, "", dry_run=dry_run)
    clear(path)
    salvage = _scan(path, progress)
    try:
        report = _rebuild(path, salvage, damage, dry_run, progress)
    finally:
        salvage.close()
        clear(path)
    if not dry_run and report.kept:
        source_list.delete(folder)
        summary_cache.delete(folder)
        write_stamp(path, ours=True)
    return report


def examine_archive(folder: str, progress: Progress) -> str:
    """What is wrong with the archive, by every page and every hash; empty if nothing is. Raises UserError."""
    try:
        with closing(connect_local(folder)) as connection:
            for damage in connection.find_damage():
                return damage
            progress.begin("Checking", count_stored(connection), "bytes")
            try:
                for source, why in verify(connection, progress.advance):
                    return f"`{source}`: {why}"
            finally:
                progress.end()
    except ArchiveDamaged as error:
        return error.why
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        explained = explain_database_error(archive_path(folder), error)
        if isinstance(explained, ArchiveBusy) or not isinstance(explained, ArchiveUnusable):
            raise explained from error
        return str(error)
    return ""


def _count(folder: str) -> int:
    with closing(connect_local(folder)) as connection:
        return int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])


def _scan(path: str, progress: Progress) -> Salvage:
    progress.begin("Looking at", max(1, os.path.getsize(path) // 8192), "steps")
    try:
        return Salvage(path, progress.advance)
    finally:
        progress.end()


def _rebuild(path: str, salvage: Salvage, damage: str, dry_run: bool, progress: Progress) -> RepairReport:
    """Store everything that is whole in a new archive, and put it in place; in a dry run only look."""
    sources = salvage.find_sources()
    keys: set[str] = set()
    lost: list[Loss] = []
    saved_bytes = 0

    def add(source: SavedSource, delta: Delta) -> None:
        nonlocal saved_bytes
        sessions = [f"{delta.agent}:{rows.session}" for rows in delta.sessions]
        saved_bytes += sum(segment.length for segment in delta.segments)
        if delta.failure:
            lost.append(Loss("", source.agent, source.path, delta.failure))
            return
        if not source.is_whole:
            why = "a part of its bytes is damaged"
            lost.extend(Loss(key, source.agent, source.path, why, partly=True) for key in sessions or [""])
        keys.update(sessions)

    progress.begin("Saving", sum(_size(source) for source in sources), "bytes")
    try:
        if dry_run:
            for source in sources:
                add(source, _read(salvage, source, Packer(), None))
                progress.advance(_size(source))
            kept = ""
        else:
            _store(building_path(path), salvage, sources, add, progress)
            kept = replace(path)
    finally:
        progress.end()
    told = {loss.session for loss in lost}
    lost += [
        Loss(each.key, each.agent, each.path, "its bytes are damaged")
        for each in salvage.lost_sessions(keys)
        if each.key not in told
    ]
    whole = len({(source.path, source.part) for source in sources if source.is_whole})
    return RepairReport(
        path,
        damage,
        whole,
        len(keys),
        saved_bytes,
        _without_repeats(lost),
        salvage.unknown_packs,
        kept,
        dry_run=dry_run,
    )


def _without_repeats(lost: list[Loss]) -> list[Loss]:
    """Each session once, and files without a known session only where no session of them is listed."""
    named = {loss.source for loss in lost if loss.session}
    return list(dict.fromkeys(loss for loss in lost if loss.session or loss.source not in named))


def _size(source: SavedSource) -> int:
    return sum(segment.label.length for segment in source.segments if segment.pack is not None)


def _read(salvage: Salvage, source: SavedSource, packer: Packer, connection: ArchiveConnection | None) -> Delta:
    known = known_source(connection, source.path, source.part) if connection else None
    job = ReadJob(
        source.agent, source.path, source.part, _size(source), source.stamp, source.reader_version, known, None
    )
    if source.agent not in AGENTS:
        return read_stored_source(job, iter(()), packer)._replace(failure=f"no agent `{source.agent}` is known")
    return read_stored_source(job, salvage.read_source(source), packer)


def _store(
    new: str,
    salvage: Salvage,
    sources: list[SavedSource],
    on_stored: Callable[[SavedSource, Delta], None],
    progress: Progress,
) -> None:
    with closing(open_new(new)) as connection:
        with connection.transaction():
            connection.executemany("INSERT INTO forgotten (digest, at) VALUES (?, ?)", salvage.forgotten.items())
        redactions = {
            (row.path, row.part): salvage.redactions.get(number, {}) for number, row in salvage.sources.items()
        }
        for group in _group(sources):
            packer = Packer()
            deltas = [_read(salvage, source, packer, connection) for source in group]
            packer.close()
            deltas = [delta._replace(redactions=redactions.get((delta.path, delta.part), {})) for delta in deltas]
            with connection.transaction():
                store_batch(connection, Batch(packer.packs, [delta for delta in deltas if not delta.failure]))
            for source, delta in zip(group, deltas, strict=True):
                on_stored(source, delta)
                progress.advance(_size(source))


def _group(sources: list[SavedSource]) -> Iterator[list[SavedSource]]:
    """Sources that are stored together: of about one pack, and never two generations of one source."""
    group: list[SavedSource] = []
    size = 0
    for source in sources:
        if group and (size >= PACK_SIZE or (group[-1].path, group[-1].part) == (source.path, source.part)):
            yield group
            group, size = [], 0
        group.append(source)
        size += _size(source)
    if group:
        yield group


# The state.
def _repair_state(folder: str, report: RepairReport) -> RepairReport:
    path = state_path(folder)
    if not os.path.exists(path):
        return report
    damage = examine_state(folder)
    if not damage:
        return report
    with hold_state_lock(folder):
        clear(path)
        try:
            saved = save_state(path, building_path(path))
            kept = "" if report.dry_run else replace(path)
        finally:
            clear(path)
    lost = saved.lost
    return RepairReport(
        **{
            **{name: getattr(report, name) for name in report.__struct_fields__},
            "state_damage": damage,
            "state_rows": {table: number for table, number in saved.rows.items() if number},
            "state_lost": lost,
            "state_kept": kept,
        }
    )


def examine_state(folder: str) -> str:
    """What is wrong with the state; empty if nothing is."""
    try:
        with reading(folder) as state:
            verdicts = [str(row[0]) for row in state.execute("PRAGMA integrity_check(5)")]
    except StateUnusable as error:
        if "is damaged" not in str(error):
            raise
        return str(error).partition(" is damaged (")[2].rpartition(");")[0]
    return next((each for each in verdicts if each != "ok"), "")
