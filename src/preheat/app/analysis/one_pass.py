"""The one pass over a session: outcomes, measures, notes of the learners, episodes; and the archive's analyses kept up to date.

Knows none of the learners by name (`lessons.LEARNERS`), and nothing of what is concluded from their notes. A sync analyses every
session that it reads from the beginning, in the process that reads it; what is left (grown sessions, forks, other versions) is
read from the archive's packs by `analyse_archive`.
"""

import math
import sqlite3
import time
from collections.abc import Collection
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat import episodes, outcomes, profiles
from preheat.amounts import counted
from preheat.app.analysis.assessment import assess, judge
from preheat.app.projects import repository_of
from preheat.archive.analyses import count_outdated, forks, listed, pending
from preheat.archive.connect import connect, unusable
from preheat.archive.notes import row_of
from preheat.archive.packing import SmallPacker
from preheat.archive.rows import AnalysisRows, OutcomeRow
from preheat.calls.seen import LEARNED_FROM, Seen, SeenCall
from preheat.ingest.analysing import run
from preheat.ingest.rereading import Unreadable
from preheat.lessons.learners import LEARNERS
from preheat.lessons.projects import root_of
from preheat.lessons.touched import touches_of
from preheat.model.analysis import Analysis, Note
from preheat.model.outcome import CAUSES, RUNGS, STATUSES, Cause
from preheat.model.profile import CallRecord
from preheat.model.progress import SILENT, Progress
from preheat.model.session import Session, joined
from preheat.settings import archive_path

__all__ = [
    "AnalysisReport",
    "analyse",
    "analyse_archive",
    "analyse_forks",
    "analysed_rows",
    "assess",
    "judge",
    "rows_of",
    "seen_by_learners",
]

Part: TypeAlias = Literal["rows", "everything"]
"""What a question needs: rows of every session as it is now, by whichever version of the analysis, or everything by this one."""

_NOTERS = tuple(learner for learner in LEARNERS if learner.note is not None)
OUTCOMES_VERSION = f"{outcomes.VERSION}.{profiles.VERSION}+"
VERSION = f"{OUTCOMES_VERSION}{'.'.join(str(each.version) for each in _NOTERS)}+{episodes.VERSION}+"
"""Of the whole analysis: a session that was analysed by another is analysed again, when the machine has nothing else to do. What
begins with `OUTCOMES_VERSION` has the outcomes and measures of this one, whatever its notes are."""

_STATUSES = {status: place for place, status in enumerate(STATUSES)}
_RUNGS = {rung: place for place, rung in enumerate(RUNGS)}
_CAUSES: dict[Cause | None, int | None] = {None: None, **{cause: place for place, cause in enumerate(CAUSES)}}


# One session.
def analyse(session: Session, copied: Collection[int] = frozenset()) -> Analysis:
    """All that is made of a session; `copied` are the places of calls that stand in another session too, and count there."""
    verdicts = judge(session)
    records = profiles.trace(session, verdicts)
    own = [record for record in records if record.seq not in copied] if copied else records
    measured = profiles.profile(session, verdicts, own)
    seen = seen_by_learners(session, records, root_of(session.project, repository_of), copied)
    learned_from = session.starter in LEARNED_FROM and measured.messages > 0
    notes = _notes(seen) if learned_from else ()
    found = episodes.episodes(session, records, seen.root, copied, partial(touches_of, seen))
    return Analysis(records, measured, notes, found)


def seen_by_learners(
    session: Session, records: Collection[CallRecord], root: str, copied: Collection[int] = frozenset()
) -> Seen:
    """A session as the learners see it; `root` is the folder of its project."""
    calls = tuple(
        SeenCall(call, result, record)
        for (call, result), record in zip(joined(session), records, strict=True)
        if not record.bookkeeping and record.seq not in copied
    )
    return Seen(f"{session.agent}:{session.id}", root, session, calls)


def _notes(seen: Seen) -> tuple[Note, ...]:
    return tuple(Note(each.name, each.version, each.note(seen)) for each in _NOTERS if each.note is not None)


def analysed_rows(session: Session, copied: Collection[int] = frozenset()) -> AnalysisRows:
    """The same as the archive keeps it."""
    return rows_of(analyse(session, copied))


def rows_of(found: Analysis) -> AnalysisRows:
    """What the archive keeps of an analysis."""
    purposes: dict[tuple[str, str, str, bool], int] = {}
    signatures: dict[str, int] = {}
    rows = [
        OutcomeRow(
            each.seq, each.message, each.era,
            purposes.setdefault((each.tool, each.kind, each.activity, each.bookkeeping), len(purposes)),
            _STATUSES[each.status], _RUNGS[each.rung], _CAUSES[each.cause], each.exit_code,
            signatures.setdefault(each.signature, len(signatures)) if each.signature else None,
            each.confidence, each.repeated, each.reread, each.seconds, each.lost_seconds, each.lost_tokens, each.recovered_in,
        )
        for each in found.records
    ]  # fmt: skip
    packer = SmallPacker()
    notes = [
        row_of(each.learner, each.version, b"" if each.notes is None else msgspec.msgpack.encode(each.notes), packer)
        for each in found.notes
    ]
    packed = packer.pack(msgspec.msgpack.encode(found.episodes)) if found.episodes else b""
    return AnalysisRows(
        VERSION, found.profile.errors.count, list(purposes), list(signatures), rows, msgspec.json.encode(found.profile), notes,
        packed,
    )  # fmt: skip


# The archive.
def analyse_forks(connection: sqlite3.Connection, progress: Progress = SILENT) -> None:
    """Analyse the sessions that a sync found to begin with another's calls: whoever read them did not know which. One that
    cannot be is left for whoever asks."""
    keys = forks(connection)
    if not keys:
        return
    progress.begin("Analysing", len(keys), "sessions")
    try:
        run(
            connection, analysed_rows, OUTCOMES_VERSION, listed(connection, keys), lambda key, calls: progress.advance()
        )
    finally:
        progress.end()


class AnalysisReport(NamedTuple):
    """What bringing the analyses up to date did."""

    sessions: int
    """Analysed now, and stored."""
    calls: int
    left: int
    """For the next run, because they changed while they were analysed, or the time was over."""
    failures: list[Unreadable]
    seconds: float
    outdated: int = 0
    """Whose analysis is of another version, and was good enough for what was needed."""


def analyse_archive(
    folder: str, progress: Progress = SILENT, seconds: float = math.inf, need: Part = "everything"
) -> AnalysisReport:
    """Analyse every session of the archive that was not analysed as it is now. Where rows are all that is needed, what another
    version has analysed is left as it is: that is done again by `learn`, or when the machine is idle. After so many `seconds`
    nothing more is begun."""
    started = time.perf_counter()
    analysed: list[int] = []
    failures: list[Unreadable] = []
    calls = 0

    def safe(key: str, number: int) -> None:
        nonlocal calls
        calls += number
        analysed.append(number)
        progress.advance(1, counted(calls, "call"))

    connection = connect(folder)
    try:
        todo = pending(connection, VERSION if need == "everything" else "")
        if todo.sessions and seconds > 0:
            progress.begin("Analysing", todo.sessions, "sessions")
            try:
                failures = run(connection, analysed_rows, OUTCOMES_VERSION, todo, safe, time.monotonic() + seconds)
            finally:
                progress.end()
        outdated = count_outdated(connection, VERSION) if need == "rows" else 0
    except sqlite3.DatabaseError as error:
        raise unusable(archive_path(folder), error) from error
    finally:
        connection.close()
    left = todo.sessions - len(analysed) - len(failures)
    return AnalysisReport(len(analysed), calls, left, failures, time.perf_counter() - started, outdated)
