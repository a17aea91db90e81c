"""Analyses the sessions of the archive that have not been analysed as they are now: grown ones, forks that begin with copies of
another session, and all when a version has changed. Read from the packs side by side, stored in short transactions.

Knows nothing of how a session is analysed: that is handed over. No lock is held. A sync, a forgetting or a second run may
go on meanwhile: bytes are gathered in one reading transaction, and an analysis is stored only while its session still is what
was analysed. A run can be killed at any moment: what was stored is whole, the rest is done by the next one.
"""

import math
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import msgspec

from preheat.archive import analyses
from preheat.archive.analyses import Analysed, Gathered, Pending, Unanalysed
from preheat.archive.rows import AnalysisRows
from preheat.archive.writer import writing
from preheat.ingest.rereading import Unreadable, over_groups, reread
from preheat.model.session import Session

Analyse = Callable[[Session, frozenset[int]], AnalysisRows]
"""Makes all of a session that is kept of it, without the calls in these places: they count elsewhere. Goes to other processes by
its name: it must stand at the top of a module."""


class Found(NamedTuple):
    """What became of a group."""

    analysed: list[Analysed]
    failures: list[Unreadable]


_FOUND = msgspec.msgpack.Decoder(Found)


def run(
    connection: sqlite3.Connection,
    analyse: Analyse,
    version: str,
    pending: Pending,
    on_analysed: Callable[[str, int], None],
    until: float = math.inf,
) -> list[Unreadable]:
    """Analyse what is pending; each session is told by its key and calls when its analysis is safe in the archive. What versions
    that do not begin with `version` said of sessions that cannot be read is taken away. After the moment `until` (of the
    monotonic clock) no other group is taken up."""
    failures: list[Unreadable] = []
    outdated = analyses.has_outdated(connection, version)
    for found in over_groups(connection, pending, partial(analyse_group, analyse), _FOUND):
        with writing(connection):
            kept = analyses.store(connection, found.analysed)
            analyses.drop_outdated(connection, version, (failure.session_id for failure in found.failures))
        failures += found.failures
        for key, calls in kept:
            on_analysed(key, calls)
        if time.monotonic() >= until:
            break
    if outdated:
        with writing(connection):
            analyses.drop_unused(connection)
    return failures


def analyse_group(analyse: Analyse, group: Gathered) -> Found:
    """Analyse the sessions of some sources. Never raises for anything about one of them."""

    def analysed(of: Unanalysed, session: Session) -> Analysed:
        return Analysed(of, analyse(session, frozenset(group.copied.get(of.session_id, ()))))

    return Found(*reread(group, analysed, "analysis"))
