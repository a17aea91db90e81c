"""Analyses the sessions of the archive whose analysis is missing or outdated: grown sessions, forks that begin with copies of
another session, and all after a change of version. They are read in several processes and stored in short transactions.

Knows nothing of how a session is analysed: that function is passed in. No lock is held: a sync, a forgetting or a second run may
happen meanwhile, and an analysis is stored only if its session is unchanged. After a kill the next run does the rest.
"""

import math
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import msgspec

from preheat.archive import analyses
from preheat.archive.analyses import AnalysedSession, PendingSession, PendingSessions, SourceGroup
from preheat.archive.rows import AnalysisRows
from preheat.archive.writer import write_transaction
from preheat.ingest.rereading import UnreadableSession, process_groups, process_sessions
from preheat.model.session import Session

AnalyseSession = Callable[[Session, frozenset[int]], AnalysisRows]
"""Analyses a session without the calls with these numbers, which count elsewhere. It is sent to other processes by name, so it
must be a module-level function."""


class AnalysedGroup(NamedTuple):
    """The analyses of a group, and the sessions that could not be analysed."""

    analysed: list[AnalysedSession]
    failures: list[UnreadableSession]


_FOUND = msgspec.msgpack.Decoder(AnalysedGroup)


def analyse_pending(
    connection: sqlite3.Connection,
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
    for found in process_groups(connection, pending, partial(analyse_group, analyse), _FOUND):
        with write_transaction(connection):
            kept = analyses.store_analyses(connection, found.analysed)
            analyses.drop_outdated(connection, version, (failure.session_id for failure in found.failures))
        failures += found.failures
        for key, calls in kept:
            on_analysed(key, calls)
        if time.monotonic() >= until:
            break
    if outdated:
        with write_transaction(connection):
            analyses.drop_unused_texts(connection)
    return failures


def analyse_group(analyse: AnalyseSession, group: SourceGroup) -> AnalysedGroup:
    """Analyse the sessions of some sources. Never raises for anything about one of them."""

    def analyse_one(of: PendingSession, session: Session) -> AnalysedSession:
        return AnalysedSession(of, analyse(session, frozenset(group.copied_calls.get(of.session_id, ()))))

    return AnalysedGroup(*process_sessions(group, analyse_one, "analysis"))
