"""Judges the sessions of the archive that have not been judged as they are now: read side by side, stored in short
transactions.

Knows nothing of how a session is judged: that is handed over. No lock is held. A sync, a forgetting or a second judging may
run meanwhile: bytes are gathered in one reading transaction, and a verdict is stored only while its session still is what
was judged. A run can be killed at any moment: what was stored is whole, the rest is judged by the next one.
"""

import gc
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import msgspec

from preheat.archive import judged
from preheat.archive.judged import Gathered, Stretch, Unit, Unjudged, Verdict
from preheat.archive.packing import decompress
from preheat.archive.writer import writing
from preheat.errors import PreheatError
from preheat.ingest.stored import sessions_in
from preheat.model.profile import CallRecord, SessionProfile
from preheat.model.session import Session

POOL_FROM = 24 * 1024 * 1024
"""Below this many bytes starting processes costs more than it saves."""
_ROOM = 64 * 1024 * 1024
"""Bytes of unpacked packs that are kept for the next source."""


class Assessment(NamedTuple):
    """All that is kept of a judged session."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile


class Judge(NamedTuple):
    """How to judge. The function goes to other processes by its name: it must stand at the top of a module."""

    version: str
    assess: Callable[[Session], Assessment]


class Unreadable(NamedTuple):
    """A session that could not be judged."""

    session_id: int
    key: str
    why: str


class Found(NamedTuple):
    """What became of a group."""

    verdicts: list[Verdict]
    failures: list[Unreadable]


_FOUND = msgspec.msgpack.Decoder(Found)


def run(
    connection: sqlite3.Connection, judge: Judge, pending: judged.Pending, on_judged: Callable[[str, int], None]
) -> list[Unreadable]:
    """Judge what is pending; each session is told by its key and calls when its verdict is safe in the archive."""
    failures: list[Unreadable] = []
    outdated = judged.has_outdated(connection, judge.version)
    for found in _judged(connection, judge, pending):
        with writing(connection):
            kept = judged.store(connection, judge.version, found.verdicts)
            judged.drop_outdated(connection, judge.version, (failure.session_id for failure in found.failures))
        failures += found.failures
        for key, calls in kept:
            on_judged(key, calls)
    if outdated:
        with writing(connection):
            judged.drop_unused(connection)
    return failures


def _judged(connection: sqlite3.Connection, judge: Judge, pending: judged.Pending) -> Iterator[Found]:
    gathered = (judged.gather(connection, group) for group in pending.groups)
    workers = min(os.cpu_count() or 1, 8)
    if workers < 2 or len(pending.groups) < 2 or pending.length < POOL_FROM:
        return (judge_group(judge, group) for group in gathered)
    from preheat.ingest.pool import side_by_side  # slow to import, and seldom needed

    # The packs travel as they are stored: a worker must not open a database that its parent had open when it forked.
    return map(_FOUND.decode, side_by_side(partial(_judge_packed, judge), gathered, workers))


def _judge_packed(judge: Judge, group: Gathered) -> bytes:
    return msgspec.msgpack.encode(judge_group(judge, group))


# One group, in whichever process.
def judge_group(judge: Judge, group: Gathered) -> Found:
    """Judge the sessions of some sources. Never raises for anything about one of them."""
    found = Found([], [])
    packs = Unpacked(group.packs)
    gc.disable()  # nothing below makes cycles, and there are millions of small values
    try:
        for unit, stretches in zip(group.units, group.stretches, strict=True):
            _judge_unit(judge, unit, packs, stretches, found)
    finally:
        gc.enable()
    return found


def _judge_unit(judge: Judge, unit: Unit, packs: "Unpacked", stretches: list[Stretch], found: Found) -> None:
    wanted = {session.key: session for session in unit.sessions}
    why = "it is not in its source as this version reads that; run `preheat sync`"
    try:
        for session in sessions_in(unit.agent, unit.path, unit.part, packs.pieces(stretches)):
            unjudged = wanted.pop(f"{session.agent}:{session.id}", None)
            if unjudged is not None:
                _assess(judge, unjudged, session, found)
    except PreheatError as error:
        why = str(error)
    except MemoryError:
        why = "it is too large for this machine's memory"
    except Exception as error:  # noqa: BLE001 - a defect of ours in one reader must not cost the sessions of the others
        why = f"a defect in Preheat's reader ({type(error).__name__}: {error}); please report it"
    found.failures.extend(Unreadable(session.session_id, session.key, why) for session in wanted.values())


def _assess(judge: Judge, unjudged: Unjudged, session: Session, found: Found) -> None:
    try:
        found.verdicts.append(judged.encoded(unjudged, *judge.assess(session)))
    except Exception as error:  # noqa: BLE001 - nor must one in the judge
        why = f"a defect in Preheat's judge ({type(error).__name__}: {error}); please report it"
        found.failures.append(Unreadable(unjudged.session_id, unjudged.key, why))


class Unpacked:
    """Packs by their number, unpacked when they are needed and kept for the next source while there is room."""

    def __init__(self, packs: dict[int, bytes]) -> None:
        self._packs = packs
        self._unpacked: dict[int, bytes] = {}

    def pieces(self, stretches: list[Stretch]) -> Iterator[bytes]:
        """The bytes of a source. Raises ArchiveUnusable if they are damaged: each pack has a checksum of its own, so the
        hashes of the stretches, which `doctor` compares, are not computed here."""
        for stretch in stretches:
            yield self.unpacked(stretch.pack)[stretch.start : stretch.start + stretch.length]

    def unpacked(self, number: int) -> bytes:
        if number not in self._unpacked:
            data = decompress(self._packs[number])
            while self._unpacked and sum(map(len, self._unpacked.values())) + len(data) > _ROOM:
                del self._unpacked[next(iter(self._unpacked))]
            self._unpacked[number] = data
        return self._unpacked[number]
