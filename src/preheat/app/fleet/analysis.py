"""Analyses the transcripts of a source on a cluster: reads what is new, brings everything together, writes tables and lessons.

The order of a run; each step is a task on the cluster (`app.fleet.work`) or a pure function of one machine. A run can be killed
at any moment: what was committed is not read again. Knows nothing of Ray: the cluster is passed in.
"""

import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import msgspec

from preheat.amounts import format_count
from preheat.app.analysis.one_pass import VERSION
from preheat.app.fleet import work
from preheat.archive.projects import decode_place
from preheat.errors import UserError
from preheat.fleet.joining import Copies, RecordNames, choose_readings, find_copies
from preheat.fleet.listing import SourceObject, choose_new, find_objects, make_batches
from preheat.fleet.manifest import (
    AT_ONCE,
    ENTRIES,
    LAYOUT,
    BatchEntry,
    ObjectRecord,
    ProjectLessons,
    Snapshot,
    TableFile,
    delete_unused,
    known_objects,
    load_entries,
    load_snapshot,
    store_entry,
    store_snapshot,
)
from preheat.fleet.reading import Batch
from preheat.fleet.readings import IndexRow, load_index
from preheat.fleet.storage import Location, Storage, is_remote, locate
from preheat.fleet.tables import Partition, PartitionGroup, PlacedReading, WrittenTables, day_of
from preheat.lessons.conclusion import ALL_PROJECTS
from preheat.lessons.learners import LEARNERS
from preheat.model.fleet import FleetProblem, FleetRun
from preheat.model.progress import SILENT, Progress
from preheat.projects.assignment import PlacedSession, assign_projects, order_of

_SESSIONS_AT_ONCE = 400
"""Sessions whose partitions one task writes."""
LOST = "every process that read it was killed; it may take more memory than a worker has (`--memory`)"
_ENTRY = msgspec.json.Decoder(BatchEntry)
_WRITTEN = msgspec.json.Decoder(WrittenTables)
_CONCLUDED = msgspec.json.Decoder(work.Concluded)


class Finished(Protocol):
    """A finished piece of work, and its result; None if every process that tried it was lost."""

    @property
    def piece(self) -> Any: ...

    @property
    def result(self) -> bytes | None: ...


class Runner(Protocol):
    """Runs work somewhere: a cluster."""

    workers: int

    def run(self, work: Callable[[Any], bytes], pieces: Iterable[Any]) -> Iterator[Finished]: ...


class Request(NamedTuple):
    """What a run is asked to do."""

    source: Location
    destination: Location
    batch_bytes: int
    most_bytes: int
    memory: int


def make_request(source: str, destination: str, batch: int, most: int, memory: int) -> Request:
    """A request, if it makes sense. Raises UserError."""
    found, into = locate(source), locate(destination)
    inside = (f"{found.url.rstrip('/')}/", f"{into.url.rstrip('/')}/")
    if inside[0].startswith(inside[1]) or inside[1].startswith(inside[0]):
        raise UserError("the results must lie outside of the transcripts; give another --out")
    Storage(found).require()
    if is_remote(into):
        Storage(into).require()
    return Request(found, into, batch, most, memory)


class Run:
    """One run, step by step."""

    def __init__(self, request: Request, runner: Runner, progress: Progress = SILENT) -> None:
        self._request = request
        self._runner = runner
        self._progress = progress
        self._source, self._destination = Storage(request.source), Storage(request.destination)
        self._requests: Counter[str] = Counter()
        self._before = load_snapshot(self._destination)
        self._number = self._before.number + 1 if self._before is not None else 1

    def analyse(self) -> FleetRun:
        """Do everything."""
        started = time.perf_counter()
        entries = [each for each in load_entries(self._destination) if each.version == VERSION]
        objects = find_objects(self._source.list(), time.time())
        new = choose_new(objects, known_objects(entries, VERSION))
        read = self._read(new)
        entries += read
        tables, entries = self._join(entries, {each.path: each for each in objects})
        lessons = self._conclude(tables)
        problems = _list_problems(entries, {each.path for each in objects})
        snapshot = self._commit(entries, tables, lessons, tuple(problems))
        return self._describe(objects, new, read, snapshot, time.perf_counter() - started)

    # Reading.
    def _read(self, objects: Sequence[SourceObject]) -> list[BatchEntry]:
        found: list[BatchEntry] = []
        waiting = make_batches(objects, self._request.batch_bytes)
        self._progress.begin("Reading", sum(each.size for each in objects), "bytes")
        sessions = 0
        try:
            while waiting:
                lost: list[list[SourceObject]] = []
                for task in self._runner.run(work.read, [self._batch(some) for some in waiting]):
                    if task.result is None:
                        lost.append(list(task.piece.objects))
                        continue
                    entry = _ENTRY.decode(task.result)
                    found.append(entry)
                    sessions += sum(each.sessions for each in entry.objects)
                    self._progress.advance(task.piece.size, format_count(sessions, "session"))
                waiting = []
                for some in lost:
                    # One of its objects is too much for a worker: halved until that one is alone, and costs itself only.
                    half = len(some) // 2
                    if half:
                        waiting += [some[:half], some[half:]]
                    else:
                        found.append(self._give_up(some[0]))
        finally:
            self._progress.end()
        return found

    def _batch(self, objects: Iterable[SourceObject]) -> Batch:
        request = self._request
        return Batch(
            request.source,
            request.destination,
            tuple(objects),
            self._number,
            VERSION,
            request.most_bytes,
            request.memory,
        )

    def _give_up(self, each: SourceObject) -> BatchEntry:
        batch = self._batch([each])
        record = ObjectRecord(each.path, "", "", each.size, "failed", why=LOST)
        entry = BatchEntry(batch.name, self._number, VERSION, "", (record,))
        store_entry(self._destination, entry)
        return entry

    # Bringing together.
    def _join(
        self, entries: list[BatchEntry], objects: Mapping[str, SourceObject]
    ) -> tuple[list[TableFile], list[BatchEntry]]:
        """The tables, and all entries; sessions with copied calls are read once more without these."""
        chosen = self._choose(entries)
        copies = self._find_copies(chosen)
        again = _find_reread(chosen, copies, objects)
        if again:
            entries = [*entries, *self._read(again)]
            chosen = self._choose(entries)
        return self._write(_place(chosen, copies)), entries

    def _choose(self, entries: Iterable[BatchEntry]) -> dict[str, list[IndexRow]]:
        files = [(entry.file, entry.generation) for entry in entries if entry.file]
        with ThreadPoolExecutor(AT_ONCE) as readers:
            index = [
                row for some in readers.map(lambda each: load_index(self._destination, *each), files) for row in some
            ]
        return choose_readings(index, RecordNames(self._destination))

    def _find_copies(self, chosen: Mapping[str, Sequence[IndexRow]]) -> Copies:
        scratch = tempfile.mkdtemp(prefix="preheat-fleet-")
        try:
            return find_copies(self._destination, chosen, self._runner.workers, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _write(self, partitions: Sequence[Partition]) -> list[TableFile]:
        before: defaultdict[tuple[str, str, str], list[TableFile]] = defaultdict(list)
        for each in self._before.tables if self._before is not None else ():
            before[each.project, each.day, each.digest].append(each)
        kept = [file for each in partitions for file in before.get((each.project, each.day, each.digest), ())]
        changed = [each for each in partitions if (each.project, each.day, each.digest) not in before]
        self._progress.begin("Writing", sum(len(each.readings) for each in changed), "sessions")
        try:
            for task in self._runner.run(work.write, _group(changed, self._request.destination)):
                if task.result is None:
                    raise UserError("every process that wrote the tables was killed; run the same command again")
                written = _WRITTEN.decode(task.result)
                self._requests.update(written.requests)
                kept += written.files
                self._progress.advance(sum(len(each.readings) for each in task.piece.partitions))
        finally:
            self._progress.end()
        return sorted(kept, key=lambda each: each.path)

    # Lessons.
    def _conclude(self, tables: Sequence[TableFile]) -> list[ProjectLessons]:
        before = {each.project: each for each in (self._before.lessons if self._before is not None else ())}
        found: list[ProjectLessons] = []
        pieces: list[work.Conclusion] = []
        for piece in _make_conclusions(tables, self._request.destination):
            known = before.get(piece.project)
            if known is not None and known.digest == piece.digest:
                found.append(known)
            else:
                pieces.append(piece)
        self._progress.begin("Concluding", len(pieces))
        try:
            for task in self._runner.run(work.conclude_project, pieces):
                if task.result is None:
                    name = task.piece.project or "all projects together"
                    raise UserError(f"the notes of `{name}` take more memory than a worker has; give a smaller SOURCE")
                concluded = _CONCLUDED.decode(task.result)
                self._requests.update(concluded.requests)
                found.append(concluded.found)
                self._progress.advance(1, concluded.found.project)
        finally:
            self._progress.end()
        return sorted(found, key=lambda each: each.project)

    # The end.
    def _commit(
        self,
        entries: Sequence[BatchEntry],
        tables: Sequence[TableFile],
        lessons: Sequence[ProjectLessons],
        problems: tuple[tuple[str, int | None, str], ...],
    ) -> Snapshot:
        snapshot = Snapshot(
            LAYOUT,
            self._number,
            VERSION,
            self._source.location.url,
            tuple(sorted(each.batch for each in entries)),
            tuple(tables),
            tuple(lessons),
            problems,
        )
        if self._before is not None and snapshot == msgspec.structs.replace(self._before, number=self._number):
            return self._before
        store_snapshot(self._destination, snapshot, uuid4().hex[:8])
        for each in load_entries(self._destination):
            if each.version != VERSION:
                self._destination.delete(f"{ENTRIES}/{each.batch}.json")
        delete_unused(self._destination, entries, snapshot)
        return snapshot

    def _describe(
        self,
        objects: Sequence[SourceObject],
        new: Sequence[SourceObject],
        read: Sequence[BatchEntry],
        snapshot: Snapshot,
        seconds: float,
    ) -> FleetRun:
        records = [each for entry in read for each in entry.objects]
        statuses = Counter(each.status for each in records)
        requests = self._requests + self._source.requests + self._destination.requests
        for entry in read:
            requests.update(entry.requests)
        sessions = [each for each in snapshot.tables if each.table == "sessions"]
        before = {each.path for each in (self._before.tables if self._before is not None else ())}
        return FleetRun(
            source=self._source.location.url,
            destination=self._destination.location.url,
            objects=len(objects),
            new=len(new),
            unchanged=statuses["unchanged"],
            others=statuses["other"],
            failed=statuses["failed"],
            bytes=sum(each.size for each in new),
            batches=len(read),
            sessions=sum(each.rows for each in sessions),
            calls=sum(each.counts["calls"] for each in sessions),
            errors=sum(each.counts["errors"] for each in sessions),
            projects=len({each.project for each in sessions} - {ALL_PROJECTS}),
            lessons=sum(each.counts.get("active", 0) for each in snapshot.lessons),
            rewritten=len({(each.project, each.day) for each in snapshot.tables if each.path not in before}),
            redactions=sum(sum(each.redactions.values()) for each in records),
            requests=dict(sorted(requests.items())),
            cpu_seconds=sum(each.cpu_seconds for each in read),
            peak_bytes=max((each.peak_bytes for each in read), default=0),
            stored_bytes=sum(each.size for each in snapshot.tables),
            seconds=seconds,
            problems=tuple(FleetProblem(*each) for each in snapshot.problems),
        )


# Pure steps.
def _find_reread(
    chosen: Mapping[str, Sequence[IndexRow]], copies: Copies, objects: Mapping[str, SourceObject]
) -> list[SourceObject]:
    """The objects with sessions that were not analysed without the calls which they copied."""
    found: defaultdict[tuple[str, str], dict[str, tuple[int, ...]]] = defaultdict(dict)
    for key, some in chosen.items():
        needed = copies.calls.get(key, ())
        if not any(each.copied == needed for each in some):
            found[some[0].object, some[0].content][key] = needed
    return [
        msgspec.structs.replace(objects.get(path) or SourceObject(path, 0, ""), known_hash=content, copied_calls=copied)
        for (path, content), copied in sorted(found.items())
    ]


def _place(chosen: Mapping[str, Sequence[IndexRow]], copies: Copies) -> list[Partition]:
    """Every session in the partition of its project and day."""
    keys = sorted(chosen)
    sessions: dict[str, tuple[IndexRow, bool]] = {}
    for key in keys:
        needed = copies.calls.get(key, ())
        fit = next((each for each in chosen[key] if each.copied == needed), None)
        sessions[key] = (fit or chosen[key][0], fit is not None)
    placed = []
    for number, key in enumerate(keys):
        row, is_analysed = sessions[key]
        place = decode_place(row.statement if is_analysed else None, row.tree, row.folder)
        placed.append(PlacedSession(number, order_of(row.started_at, key), place))
    assigned = assign_projects(placed)
    groups: defaultdict[tuple[str, str], list[PlacedReading]] = defaultdict(list)
    for number, key in enumerate(keys):
        row, is_analysed = sessions[key]
        project = assigned.names.get(assigned.sessions[number], ALL_PROJECTS)
        groups[project, day_of(row.started_at)].append(
            PlacedReading(
                key,
                row.file,
                row.group,
                row.reading,
                copies.calls.get(key, ()),
                copies.responses.get(key, ()),
                is_analysed,
            )
        )
    return [Partition(project, day, tuple(readings)) for (project, day), readings in sorted(groups.items())]


def _group(partitions: Iterable[Partition], destination: Location) -> Iterator[PartitionGroup]:
    waiting: list[Partition] = []
    size = 0
    for each in partitions:
        waiting.append(each)
        size += len(each.readings)
        if size >= _SESSIONS_AT_ONCE:
            yield PartitionGroup(destination, tuple(waiting))
            waiting, size = [], 0
    if waiting:
        yield PartitionGroup(destination, tuple(waiting))


def _make_conclusions(tables: Sequence[TableFile], destination: Location) -> Iterator[work.Conclusion]:
    """What is to be concluded: for every project with notes, and for all of them together."""
    versions = [(each.name, each.version) for each in LEARNERS]
    by_project: defaultdict[tuple[str, str], list[TableFile]] = defaultdict(list)
    for each in tables:
        by_project[each.table, each.project].append(each)
    projects = {project for table, project in by_project if table == "notes"}
    for project in sorted(projects | {ALL_PROJECTS} if projects else ()):
        notes = by_project["notes", project]
        if project == ALL_PROJECTS:
            notes = [each for each in tables if each.table == "notes"]
        sessions = by_project["sessions", project]
        seen = msgspec.msgpack.encode((versions, project, [(each.path) for each in (*notes, *sessions)]))
        digest = blake2b(seen, digest_size=12).hexdigest()
        yield work.Conclusion(destination, project, digest, tuple(notes), tuple(sessions))


def _list_problems(entries: Iterable[BatchEntry], present: Collection[str]) -> Iterator[tuple[str, int | None, str]]:
    """What is wrong with the newest reading of each object; that one could not be read is dropped with the object."""
    newest: dict[str, ObjectRecord] = {}
    for entry in sorted(entries, key=lambda each: each.generation):
        for each in entry.objects:
            if each.status != "unchanged":
                newest[each.path] = each
    for path, each in sorted(newest.items()):
        if each.why and path in present:
            yield path, None, each.why
        for line, message in each.problems:
            yield path, line, message
