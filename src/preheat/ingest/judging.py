"""Judges the sessions of the archive that have not been judged as they are now: read side by side, stored in short
transactions.

Knows nothing of how a session is judged: that is handed over. No lock is held. A sync, a forgetting or a second judging may
run meanwhile: bytes are gathered in one reading transaction, and a verdict is stored only while its session still is what
was judged. A run can be killed at any moment: what was stored is whole, the rest is judged by the next one.
"""

import math
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import msgspec

from preheat.archive import judged
from preheat.archive.judged import Gathered, Unjudged, Verdict
from preheat.archive.writer import writing
from preheat.ingest.rereading import Unreadable, over_groups, reread
from preheat.model.profile import CallRecord, SessionProfile
from preheat.model.session import Session


class Assessment(NamedTuple):
    """All that is kept of a judged session."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile


class Judge(NamedTuple):
    """How to judge. The function goes to other processes by its name: it must stand at the top of a module."""

    version: str
    assess: Callable[[Session], Assessment]


class Found(NamedTuple):
    """What became of a group."""

    verdicts: list[Verdict]
    failures: list[Unreadable]


_FOUND = msgspec.msgpack.Decoder(Found)


def run(
    connection: sqlite3.Connection,
    judge: Judge,
    pending: judged.Pending,
    on_judged: Callable[[str, int], None],
    until: float = math.inf,
) -> list[Unreadable]:
    """Judge what is pending; each session is told by its key and calls when its verdict is safe in the archive. After the
    moment `until` (of the monotonic clock) no other group is taken up."""
    failures: list[Unreadable] = []
    outdated = judged.has_outdated(connection, judge.version)
    for found in over_groups(connection, pending, partial(judge_group, judge), _FOUND):
        with writing(connection):
            kept = judged.store(connection, judge.version, found.verdicts)
            judged.drop_outdated(connection, judge.version, (failure.session_id for failure in found.failures))
        failures += found.failures
        for key, calls in kept:
            on_judged(key, calls)
        if time.monotonic() >= until:
            break
    if outdated:
        with writing(connection):
            judged.drop_unused(connection)
    return failures


def judge_group(judge: Judge, group: Gathered) -> Found:
    """Judge the sessions of some sources. Never raises for anything about one of them."""

    def judged_one(of: Unjudged, session: Session) -> Verdict:
        return judged.encoded(of, *judge.assess(session))

    return Found(*reread(group, judged_one, "judge"))
