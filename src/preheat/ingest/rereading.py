"""Reads sessions from the archive again, some sources at a time, and applies a function to each.

Knows nothing of that function, nor of where the bytes came from. An error in one session does not affect the others.
"""

import gc
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.msgpack import Decoder

from preheat.archive.analyses import Gathered, Pending, Stretch, Unanalysed, Unit, gather
from preheat.archive.packing import decompress
from preheat.errors import PreheatError
from preheat.ingest.stored import sessions_in
from preheat.model.session import Session

POOL_FROM = 24 * 1024 * 1024
"""Below this many bytes starting processes costs more than it saves."""
_ROOM = 64 * 1024 * 1024
"""Bytes of unpacked packs that are kept for the next source."""

Done = TypeVar("Done")


class Unreadable(NamedTuple):
    """A session that could not be read or processed."""

    session_id: int
    key: str
    why: str


def over_groups(
    connection: sqlite3.Connection, pending: Pending, work: Callable[[Gathered], Done], decoder: Decoder[Done]
) -> Iterator[Done]:
    """The result of `work` for each group, in several processes if there is enough to do. `work` is sent to other processes by
    name, so it must be a module-level function."""
    gathered = (gather(connection, group) for group in pending.groups)
    workers = min(os.cpu_count() or 1, 8)
    if workers < 2 or len(pending.groups) < 2 or pending.length < POOL_FROM:
        return map(work, gathered)
    from preheat.ingest.pool import side_by_side  # noqa: PLC0415 - slow to import, and seldom needed

    # Packs are sent to the workers: a forked process must not use a database that its parent has open.
    return map(decoder.decode, side_by_side(partial(_run_and_pack, work), gathered, workers))


def _run_and_pack(work: Callable[[Gathered], Any], group: Gathered) -> bytes:
    return msgspec.msgpack.encode(work(group))


def reread(
    group: Gathered, work: Callable[[Unanalysed, Session], Done], stage: str
) -> tuple[list[Done], list[Unreadable]]:
    """The result of `work` for each wanted session, and the sessions that failed. An error in one of them is never raised."""
    done: list[Done] = []
    failures: list[Unreadable] = []
    gc.disable()  # nothing below makes cycles, and there are millions of small values
    try:
        for of, session, why in sessions_of(group):
            if session is None:
                failures.append(Unreadable(of.session_id, of.key, why))
                continue
            try:
                done.append(work(of, session))
            except Exception as error:  # noqa: BLE001 - a defect of ours in one session must not cost the others
                why = f"a defect in Preheat's {stage} ({type(error).__name__}: {error}); please report it"
                failures.append(Unreadable(of.session_id, of.key, why))
    finally:
        gc.enable()
    return done, failures


def sessions_of(group: Gathered) -> Iterator[tuple[Unanalysed, Session | None, str]]:
    """Each wanted session of a group, or None and the reason where it cannot be read."""
    packs = Unpacked(group.packs)
    for unit, stretches in zip(group.units, group.stretches, strict=True):
        yield from _sessions(unit, packs, stretches)


def _sessions(
    unit: Unit, packs: "Unpacked", stretches: list[Stretch]
) -> Iterator[tuple[Unanalysed, Session | None, str]]:
    """The wanted sessions of one source, or None and the reason."""
    wanted = {session.key: session for session in unit.sessions}
    why = "it is not in its source as this version reads that; run `preheat sync`"
    found: list[Session] = []
    try:
        found = sessions_in(unit.agent, unit.path, unit.part, packs.pieces(stretches))
    except PreheatError as error:
        why = str(error)
    except MemoryError:
        why = "it is too large for this machine's memory"
    except Exception as error:  # noqa: BLE001 - a defect in one reader must not cost the sessions of the others
        why = f"a defect in Preheat's reader ({type(error).__name__}: {error}); please report it"
    for session in found:
        of = wanted.pop(f"{session.agent}:{session.id}", None)
        if of is not None:
            yield of, session, ""
    for of in wanted.values():
        yield of, None, why


class Unpacked:
    """Packs by number, unpacked when needed and kept for the next source while there is room."""

    def __init__(self, packs: dict[int, bytes]) -> None:
        self._packs = packs
        self._unpacked: dict[int, bytes] = {}

    def pieces(self, stretches: list[Stretch]) -> Iterator[bytes]:
        """The bytes of a source. Raises ArchiveUnusable if a pack's checksum is wrong; the hashes of the segments are checked by
        `doctor` only."""
        for stretch in stretches:
            yield self.unpacked(stretch.pack)[stretch.start : stretch.start + stretch.length]

    def unpacked(self, number: int) -> bytes:
        if number not in self._unpacked:
            data = decompress(self._packs[number])
            while self._unpacked and sum(map(len, self._unpacked.values())) + len(data) > _ROOM:
                del self._unpacked[next(iter(self._unpacked))]
            self._unpacked[number] = data
        return self._unpacked[number]
