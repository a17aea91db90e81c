"""Reads sessions again from the bytes in the archive, and analyses those whose analysis is missing or outdated.

Knows nothing of how a session is analysed: that function is passed in. No lock is held: a sync, a forgetting or a second run may
happen meanwhile, and an analysis is stored only if its session is unchanged. After a kill the next run does the rest.
"""

import gc
import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.msgpack import Decoder

from preheat.agents import reader_of
from preheat.agents.sources import feed, split_blocks
from preheat.archive import analyses
from preheat.archive.analyses import (
    AnalysedSession,
    PackSlice,
    PendingSession,
    PendingSessions,
    PendingSource,
    SourceGroup,
    load_group,
)
from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import Packer, decompress
from preheat.archive.rows import AnalysisRows, Delta
from preheat.errors import PreheatError
from preheat.ingest.source_rows import Reading, ReadJob, make_delta
from preheat.ingest.sync import POOL_FROM
from preheat.model.session import Session


# One source.
def read_stored_sessions(agent: str, path: str, part: str, pieces: Iterable[bytes]) -> list[Session]:
    """The sessions of a source, read by its agent's present reader; no file at `path` is opened."""
    reader = reader_of(agent)
    parser = reader.parser(path, part)
    if reader.framing(path) == "document":
        parser.feed(b"".join(pieces), 1)
    else:
        for block in split_blocks(_Stream(pieces)):
            feed(parser, block, path)
    return parser.take()


def read_stored_source(job: ReadJob, pieces: Iterable[bytes], packer: Packer) -> Delta:
    """What storing a source again from its stored bytes takes, without an analysis. A failure is in the delta, never raised."""
    try:
        parser = reader_of(job.agent).parser(job.path, job.part)
        stream = _Stream(_pack_pieces(pieces, packer))
        if reader_of(job.agent).framing(job.path) == "document":
            parser.feed(stream.read_all(), 1)
        else:
            for block in split_blocks(stream):
                feed(parser, block, job.path)
        return make_delta(job, Reading(parser, {}, [], None, False, job.size), packer, None)
    except MemoryError:
        why = "it is too large for this machine's memory"
    except Exception as error:  # noqa: BLE001 - a defect in one reader must not cost the sessions of the others
        why = f"no reader can read it ({type(error).__name__}: {error})"
    packer.forget_source()
    empty: list[Any] = []
    return Delta(
        job.agent, job.path, job.part, job.stamp, job.reader_version, job.known, False, job.size, None, empty, empty, empty,
        {}, why,
    )  # fmt: skip


def _pack_pieces(pieces: Iterable[bytes], packer: Packer) -> Iterator[bytes]:
    for piece in pieces:
        packer.add(piece)
        yield piece


class _Stream:
    """A stream over the pieces of a source."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._piece, self._at = b"", 0

    def read(self, size: int) -> bytes:
        while self._at >= len(self._piece):
            following = next(self._pieces, None)
            if following is None:
                return b""
            self._piece, self._at = following, 0
        start = self._at
        self._at += size
        return self._piece[start : self._at]

    def read_all(self) -> bytes:
        return b"".join([self._piece[self._at :], *self._pieces])


# Groups of sources, with a function that is applied to each session.
_ROOM = 64 * 1024 * 1024
"""Bytes of unpacked packs that are kept for the next source."""

Result = TypeVar("Result")


class UnreadableSession(NamedTuple):
    """A session that could not be read or processed."""

    session_id: int
    key: str
    why: str


def process_groups(
    connection: ArchiveConnection,
    pending: PendingSessions,
    work: Callable[[SourceGroup], Result],
    decoder: Decoder[Result],
) -> Generator[Result, None, None]:
    """The result of `work` for each group, in several processes if there is enough to do. `work` is sent to other processes by
    name, so it must be a module-level function. Close the generator to end those processes early."""
    loaded = (load_group(connection, group) for group in pending.groups)
    workers = min(os.cpu_count() or 1, 8)
    if workers < 2 or len(pending.groups) < 2 or pending.length < POOL_FROM:
        yield from map(work, loaded)
        return
    from preheat.ingest.pool import run_in_processes  # noqa: PLC0415 - slow to import, and seldom needed

    # Packs are sent to the workers: a forked process must not use a database that its parent has open.
    yield from map(decoder.decode, run_in_processes(partial(_run_and_pack, work), loaded, workers))


def _run_and_pack(work: Callable[[SourceGroup], Any], group: SourceGroup) -> bytes:
    return msgspec.msgpack.encode(work(group))


def process_sessions(
    group: SourceGroup, work: Callable[[PendingSession, Session], Result], stage: str
) -> tuple[list[Result], list[UnreadableSession]]:
    """The result of `work` for each wanted session, and the sessions that failed. An error in one of them is never raised."""
    done: list[Result] = []
    failures: list[UnreadableSession] = []
    gc.disable()  # nothing below makes cycles, and there are millions of small values
    try:
        for pending, session, why in read_group(group):
            if session is None:
                failures.append(UnreadableSession(pending.session_id, pending.key, why))
                continue
            try:
                done.append(work(pending, session))
            except Exception as error:  # noqa: BLE001 - a defect of ours in one session must not cost the others
                why = f"a defect in Preheat's {stage} ({type(error).__name__}: {error}); please report it"
                failures.append(UnreadableSession(pending.session_id, pending.key, why))
    finally:
        gc.enable()
    return done, failures


def read_group(group: SourceGroup) -> Iterator[tuple[PendingSession, Session | None, str]]:
    """Each wanted session of a group, or None and the reason where it cannot be read."""
    packs = UnpackedPacks(group.packs)
    for source, slices in zip(group.sources, group.slices, strict=True):
        yield from _sessions(source, packs, slices)


def _sessions(
    source: PendingSource, packs: "UnpackedPacks", slices: list[PackSlice]
) -> Iterator[tuple[PendingSession, Session | None, str]]:
    """The wanted sessions of one source, or None and the reason."""
    wanted = {session.key: session for session in source.sessions}
    why = "it is not in its source as this version reads that; run `preheat sync`"
    found: list[Session] = []
    try:
        found = read_stored_sessions(source.agent, source.path, source.part, packs.read_slices(slices))
    except PreheatError as error:
        why = str(error)
    except MemoryError:
        why = "it is too large for this machine's memory"
    except Exception as error:  # noqa: BLE001 - a defect in one reader must not cost the sessions of the others
        why = f"a defect in Preheat's reader ({type(error).__name__}: {error}); please report it"
    for session in found:
        pending = wanted.pop(f"{session.agent}:{session.id}", None)
        if pending is not None:
            yield pending, session, ""
    for pending in wanted.values():
        yield pending, None, why


class UnpackedPacks:
    """Packs by number, unpacked when needed and kept for the next source while there is room."""

    def __init__(self, packs: dict[int, bytes]) -> None:
        self._packs = packs
        self._unpacked: dict[int, bytes] = {}

    def read_slices(self, slices: list[PackSlice]) -> Iterator[bytes]:
        """The bytes of a source. Raises ArchiveUnusable if a pack's checksum is wrong; the hashes of the segments are checked by
        `doctor` only."""
        for piece in slices:
            yield self.unpack(piece.pack)[piece.start : piece.start + piece.length]

    def unpack(self, number: int) -> bytes:
        if number not in self._unpacked:
            data = decompress(self._packs[number])
            while self._unpacked and sum(map(len, self._unpacked.values())) + len(data) > _ROOM:
                del self._unpacked[next(iter(self._unpacked))]
            self._unpacked[number] = data
        return self._unpacked[number]


# Analysis.
AnalyseSession = Callable[[Session, frozenset[int]], AnalysisRows]
"""Analyses a session without the calls with these numbers, which count elsewhere. It is sent to other processes by name, so it
must be a module-level function."""


class AnalysedGroup(NamedTuple):
    """The analyses of a group, and the sessions that could not be analysed."""

    analysed: list[AnalysedSession]
    failures: list[UnreadableSession]


_GROUP_DECODER = msgspec.msgpack.Decoder(AnalysedGroup)


def analyse_pending(
    connection: ArchiveConnection,
    analyse: AnalyseSession,
    version: str,
    pending: PendingSessions,
    on_analysed: Callable[[str, int], None],
    until: float = math.inf,
) -> list[UnreadableSession]:
    """Analyse pending sessions; `on_analysed` is called with key and number of calls of each when it is stored. Outdated
    analyses of sessions that cannot be read are deleted. After `until` (of the monotonic clock) no other group is begun."""
    failures: list[UnreadableSession] = []
    outdated = analyses.has_outdated(connection, version)
    with closing(process_groups(connection, pending, partial(analyse_group, analyse), _GROUP_DECODER)) as groups:
        for found in groups:
            with connection.transaction():
                kept = analyses.store_analyses(connection, found.analysed)
                analyses.drop_outdated(connection, version, (failure.session_id for failure in found.failures))
            failures += found.failures
            for key, calls in kept:
                on_analysed(key, calls)
            if time.monotonic() >= until:
                break
    if outdated:
        with connection.transaction():
            analyses.drop_unused_texts(connection)
    return failures


def analyse_group(analyse: AnalyseSession, group: SourceGroup) -> AnalysedGroup:
    """Analyse the sessions of some sources. Never raises for anything about one of them."""

    def analyse_one(pending: PendingSession, session: Session) -> AnalysedSession:
        return AnalysedSession(pending, analyse(session, frozenset(group.copied_calls.get(pending.session_id, ()))))

    return AnalysedGroup(*process_sessions(group, analyse_one, "analysis"))
