"""Reads a batch of objects: fetches each, finds its reader, redacts, parses and analyses it as one machine does, and commits.

A task on any machine of the cluster. What is wrong with an object costs this object. Knows nothing of Ray, and nothing of how a
session is analysed: that function is passed in.
"""

import gc
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b, sha256
from typing import Any, NamedTuple, TypeAlias, cast
from uuid import uuid4

import msgspec
import zstandard

from preheat.agents import places_of, reader_of
from preheat.agents.reader import DatabaseReader
from preheat.agents.sources import TOO_LARGE_FOR_MEMORY, describe_defect, describe_error, detect
from preheat.archive.rows import AnalysisRows, Delta
from preheat.errors import NotRecognised, PreheatError
from preheat.files import open_file
from preheat.fleet.listing import SourceObject
from preheat.fleet.manifest import READINGS, BatchEntry, ObjectRecord, store_entry
from preheat.fleet.memory import limit_memory, peak_memory
from preheat.fleet.readings import encode_readings, make_rows
from preheat.fleet.storage import CHUNK, Location, Storage, is_remote
from preheat.ingest.source_rows import ReadJob, read_source
from preheat.model.session import Session

_ATTEMPTS = 2
"""How often an object that changes while it is read is read again."""
CHANGED = "it changed while it was read; the next run reads it again"

Analyse: TypeAlias = Callable[[Session, frozenset[int]], AnalysisRows]


class Batch(NamedTuple):
    """Objects to be read by one task, and how."""

    source: Location
    destination: Location
    objects: tuple[SourceObject, ...]
    generation: int
    version: str
    most_bytes: int
    """Bytes of one object."""
    memory: int
    """Bytes that reading may take; 0: as many as there are."""

    @property
    def name(self) -> str:
        what = [(each.path, each.stamp, each.known_hash) for each in self.objects]
        return blake2b(msgspec.msgpack.encode((self.generation, self.version, what)), digest_size=12).hexdigest()

    @property
    def size(self) -> int:
        return sum(each.size for each in self.objects)


class _Found(NamedTuple):
    """What one object gave."""

    record: ObjectRecord
    rows: list[dict[str, Any]]


def read_batch(batch: Batch, load: Callable[[], Analyse]) -> BatchEntry:
    """Read a batch and commit it; returns the entry that was committed. Raises UserError only if the destination fails."""
    started = time.process_time()
    source, destination = Storage(batch.source), Storage(batch.destination)
    scratch = tempfile.mkdtemp(prefix="preheat-fleet-")
    gc.disable()  # nothing below makes cycles, and there are millions of small values
    try:
        with limit_memory(batch.memory):
            found = [_read_object(each, source, os.path.join(scratch, str(number)), batch, load) for number, each in
                     enumerate(batch.objects)]  # fmt: skip
    finally:
        gc.enable()
        shutil.rmtree(scratch, ignore_errors=True)
    rows = [row for each in found for row in each.rows]
    file = f"{READINGS}/{batch.name}-{uuid4().hex[:12]}.parquet" if rows else ""
    entry = BatchEntry(batch.name, batch.generation, batch.version, file, tuple(each.record for each in found))
    try:
        if file:
            destination.write(file, encode_readings(rows))
        requests = source.requests + destination.requests
        requests["put"] += 1
        entry = msgspec.structs.replace(
            entry, requests=dict(requests), cpu_seconds=time.process_time() - started, peak_bytes=peak_memory()
        )
        store_entry(destination, entry)
    except OSError as error:
        raise destination.explain(error) from error
    return entry


def _read_object(
    each: SourceObject, source: Storage, scratch: str, batch: Batch, load: Callable[[], Analyse]
) -> _Found:
    """Read one object. Whatever is wrong with it is in its record; without a stamp it is tried again by the next run."""

    def fail(why: str, stamp: str = "") -> _Found:
        return _Found(ObjectRecord(each.path, stamp, "", each.size, "failed", why=why), [])

    if each.size > batch.most_bytes:
        return fail(f"it is larger than {batch.most_bytes / 1e6:,.0f} MB; `--max-object` sets this limit")
    try:
        for attempt in range(_ATTEMPTS):
            folder = f"{scratch}-{attempt}"
            found = _read_once(each, source, folder, load)
            shutil.rmtree(folder, ignore_errors=True)
            if found is not None:
                return found
        return fail(CHANGED)
    except MemoryError:
        return fail(TOO_LARGE_FOR_MEMORY)
    except OSError as error:
        return fail(describe_error(error))
    except (zstandard.ZstdError, PreheatError) as error:
        return fail(str(error).replace(scratch, ""), each.stamp)
    except Exception as error:  # noqa: BLE001 - a defect of ours in one object must not cost the others
        return fail(describe_defect(error), each.stamp)


class _Fetched(NamedTuple):
    """An object where its reader can open it."""

    path: str
    content: str
    is_whole: bool
    """Whether it is all of one version."""


def _read_once(each: SourceObject, source: Storage, folder: str, load: Callable[[], Analyse]) -> _Found | None:
    """What an object gave; None if it changed meanwhile."""
    before = source.look_at(each.path) if not is_remote(source.location) else None
    fetched = _fetch(each, source, folder)
    if not fetched.is_whole or (each.copied_calls and fetched.content != each.known_hash):
        return None
    record = ObjectRecord(each.path, each.stamp, fetched.content, each.size, "unchanged")
    if fetched.content == each.known_hash and not each.copied_calls:
        return _Found(record, [])
    try:
        agent = detect(fetched.path).agent
    except NotRecognised:
        return _Found(msgspec.structs.replace(record, status="other"), [])
    deltas = [read_source(job, None, _for_session(load, each)) for job in _make_jobs(agent, fetched.path, each, source)]
    if before is not None and source.look_at(each.path) != before:
        return None
    return _collect(each, record, agent, deltas)


def _fetch(each: SourceObject, source: Storage, folder: str) -> _Fetched:
    """Bring an object and those that belong to it onto this machine, below the same names; local ones are read where they are."""
    content = sha256()
    is_whole = True
    main = ""
    sizes = {each.path: each.size - sum(size for _, size in each.companions), **dict(each.companions)}
    for path, size in sizes.items():
        place = source.full_path(path)
        if is_remote(source.location):
            place = os.path.join(folder, *path.split("/"))
            is_whole = source.download(path, place, size) and is_whole
        main = main or place
        content.update(b"\0%d\0" % len(path) + path.encode("utf-8", "surrogateescape") if main != place else b"")
        with open_file(place) as file:
            while chunk := file.read(CHUNK):
                content.update(chunk)
    return _Fetched(main, content.hexdigest(), is_whole)


def _for_session(load: Callable[[], Analyse], each: SourceObject) -> Callable[[], Callable[[Session], AnalysisRows]]:
    """The function that analyses a session without its copied calls."""
    analyse = load()
    copied = {key: frozenset(numbers) for key, numbers in each.copied_calls.items()}
    return lambda: lambda session: analyse(session, copied.get(f"{session.agent}:{session.id}", frozenset()))


def _make_jobs(agent: str, path: str, each: SourceObject, source: Storage) -> list[ReadJob]:
    """A job for the object, or for each session in it if it is a database. Raises SourceUnreadable."""
    version = places_of(agent).reader_version
    reader = reader_of(agent)
    parts = [""]
    if reader.framing(path) == "database":
        parts = [part.id for part in cast(DatabaseReader, reader).parts(path)]
    name = source.name_of(each.path)
    return [ReadJob(agent, path, part, each.size, "", version, None, None, name) for part in parts]


def _collect(each: SourceObject, record: ObjectRecord, agent: str, deltas: Sequence[Delta]) -> _Found:
    problems = [problem for delta in deltas for problem in delta.problems]
    failures = [delta for delta in deltas if delta.failure]
    problems += [(None, f"{delta.part or 'it'}: {delta.failure}") for delta in failures]
    redactions: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    for delta in deltas:
        for kind, count in delta.redactions.items():
            redactions[kind] = redactions.get(kind, 0) + count
        wanted = [
            one for one in delta.sessions if not each.copied_calls or f"{agent}:{one.session}" in each.copied_calls
        ]
        problems += [
            (None, f"session {one.session} could not be analysed, a defect of Preheat; please report it")
            for one in wanted
            if one.analysis is None
        ]
        for one in wanted:
            copied = each.copied_calls.get(f"{agent}:{one.session}", ())
            rows += make_rows(delta._replace(sessions=[one]), each.path, record.content, copied)
    is_failed = bool(deltas) and len(failures) == len(deltas)
    done = msgspec.structs.replace(
        record,
        status="failed" if is_failed else "read",
        agent=agent,
        sessions=len(rows),
        calls=sum(len(row["calls"]) for row in rows),
        why=failures[0].failure if is_failed else "",
        problems=() if is_failed else tuple(problems),
        redactions=redactions,
    )
    return _Found(done, rows)
