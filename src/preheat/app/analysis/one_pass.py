"""The whole analysis of a session in one pass (outcomes, measures, learners' notes, episodes), for one session or the archive.

Knows no learner by name (`lessons.LEARNERS`), and nothing of the lessons learned from their notes. A sync analyses every session
that it reads from the beginning, in the process that reads it; the others (grown sessions, forks, sessions analysed by another
version) are read from the archive by `analyse_archive`.
"""

import math
import sqlite3
import time
from collections.abc import Collection
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat import episodes, outcomes, profiles, projects
from preheat.amounts import format_count
from preheat.app.analysis.assessment import assess, judge
from preheat.app.projects import find_place
from preheat.archive.analyses import count_outdated, find_forks, find_pending, find_sessions
from preheat.archive.connect import connect, explain_database_error
from preheat.archive.database import ArchiveConnection
from preheat.archive.notes import make_note_row
from preheat.archive.packing import SmallCompressor
from preheat.archive.projects import encode_place
from preheat.archive.rows import AnalysisRows, OutcomeRow
from preheat.calls.judged import LEARNABLE_STARTERS, JudgedCall, JudgedSession
from preheat.ingest.stored_sessions import UnreadableSession, analyse_pending
from preheat.lessons.call_facts import all_touches
from preheat.lessons.learners import LEARNERS
from preheat.model.analysis import Analysis, LearnerNote
from preheat.model.outcome import CAUSES, RUNGS, STATUSES, Cause
from preheat.model.profile import CallRecord
from preheat.model.progress import SILENT, Progress
from preheat.model.session import Session, pair_calls_with_results
from preheat.settings import archive_path

__all__ = [
    "AnalysisReport",
    "analyse",
    "analyse_archive",
    "analyse_forks",
    "analyse_to_rows",
    "assess",
    "judge",
    "prepare_for_learners",
    "rows_of",
]

AnalysisNeed: TypeAlias = Literal["rows", "everything"]
"""How much must be up to date: the rows of every session, by any version of the analysis; or everything, by this version."""

_NOTE_TAKERS = tuple(learner for learner in LEARNERS if learner.take_notes is not None)
OUTCOMES_VERSION = f"{outcomes.VERSION}.{profiles.VERSION}+"
VERSION = (
    f"{OUTCOMES_VERSION}{'.'.join(str(each.version) for each in _NOTE_TAKERS)}+{episodes.VERSION}+{projects.VERSION}+"
)
"""The version of the whole analysis. A session that was analysed by another version is analysed again when the machine is idle.
Versions that begin with `OUTCOMES_VERSION` have the same outcomes and measures, whatever their notes are."""

_STATUSES = {status: place for place, status in enumerate(STATUSES)}
_RUNGS = {rung: place for place, rung in enumerate(RUNGS)}
_CAUSES: dict[Cause | None, int | None] = {None: None, **{cause: place for place, cause in enumerate(CAUSES)}}


# One session.
def analyse(session: Session, copied: Collection[int] = frozenset()) -> Analysis:
    """The analysis of a session; `copied` are the places of calls that it copied from another session, where they count."""
    verdicts = judge(session)
    records = profiles.trace(session, verdicts)
    own = [record for record in records if record.seq not in copied] if copied else records
    measured = profiles.profile_session(session, verdicts, own)
    place = find_place(session)
    seen_session = prepare_for_learners(session, records, place.root, copied)
    teaches = session.starter in LEARNABLE_STARTERS and measured.messages > 0
    notes = _take_notes(seen_session) if teaches else ()
    episodes_found = episodes.split_episodes(
        session, records, seen_session.root, copied, partial(all_touches, seen_session)
    )
    return Analysis(records, measured, notes, episodes_found, place)


def prepare_for_learners(
    session: Session, records: Collection[CallRecord], root: str, copied: Collection[int] = frozenset()
) -> JudgedSession:
    """A session as the learners see it; `root` is the folder of its project."""
    calls = tuple(
        JudgedCall(call, result, record)
        for (call, result), record in zip(pair_calls_with_results(session), records, strict=True)
        if not record.bookkeeping and record.seq not in copied
    )
    return JudgedSession(f"{session.agent}:{session.id}", root, session, calls)


def _take_notes(seen: JudgedSession) -> tuple[LearnerNote, ...]:
    return tuple(
        LearnerNote(each.name, each.version, each.take_notes(seen))
        for each in _NOTE_TAKERS
        if each.take_notes is not None
    )


def analyse_to_rows(session: Session, copied: Collection[int] = frozenset()) -> AnalysisRows:
    """Analyse a session, and return the rows that the archive stores."""
    return rows_of(analyse(session, copied))


def rows_of(analysis: Analysis) -> AnalysisRows:
    """The rows that the archive stores of an analysis."""
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
        for each in analysis.records
    ]  # fmt: skip
    packer = SmallCompressor()
    notes = [
        make_note_row(
            each.learner, each.version, b"" if each.notes is None else msgspec.msgpack.encode(each.notes), packer
        )
        for each in analysis.notes
    ]
    packed = packer.compress(msgspec.msgpack.encode(analysis.episodes)) if analysis.episodes else b""
    return AnalysisRows(
        VERSION, analysis.profile.errors.count, list(purposes), list(signatures), rows, msgspec.json.encode(analysis.profile),
        notes, packed, *encode_place(analysis.place),
    )  # fmt: skip


# The archive.
def analyse_forks(connection: ArchiveConnection, progress: Progress = SILENT) -> None:
    """Analyse sessions that begin with the calls of another one: only after a sync is it known which calls these are. A session
    that cannot be read is skipped."""
    keys = find_forks(connection)
    if not keys:
        return
    progress.begin("Analysing", len(keys), "sessions")
    try:
        analyse_pending(
            connection,
            analyse_to_rows,
            OUTCOMES_VERSION,
            find_sessions(connection, keys),
            lambda key, calls: progress.advance(),
        )
    finally:
        progress.end()


class AnalysisReport(NamedTuple):
    """What an analysis of the archive did."""

    sessions: int
    """Sessions that were analysed now."""
    calls: int
    left: int
    """Sessions left for the next run, because they changed meanwhile or the time was over."""
    failures: list[UnreadableSession]
    seconds: float
    outdated: int = 0
    """Sessions analysed by another version, which was enough for what was needed."""


def analyse_archive(
    folder: str, progress: Progress = SILENT, seconds: float = math.inf, need: AnalysisNeed = "everything"
) -> AnalysisReport:
    """Analyse every session of the archive that is new, has grown, or was analysed by another version. If only rows are needed,
    analyses of other versions are left to `learn` or to an idle machine. After so many `seconds` no further session is begun."""
    started = time.perf_counter()
    analysed: list[int] = []
    failures: list[UnreadableSession] = []
    calls = 0

    def count_session(key: str, call_count: int) -> None:
        nonlocal calls
        calls += call_count
        analysed.append(call_count)
        progress.advance(1, format_count(calls, "call"))

    connection = connect(folder)
    try:
        todo = find_pending(connection, VERSION if need == "everything" else "")
        if todo.sessions and seconds > 0 and not connection.read_only:
            progress.begin("Analysing", todo.sessions, "sessions")
            try:
                failures = analyse_pending(
                    connection, analyse_to_rows, OUTCOMES_VERSION, todo, count_session, time.monotonic() + seconds
                )
            finally:
                progress.end()
        outdated = count_outdated(connection, VERSION) if need == "rows" else 0
    except sqlite3.DatabaseError as error:
        raise explain_database_error(archive_path(folder), error) from error
    finally:
        connection.close()
    left_over = todo.sessions - len(analysed) - len(failures)
    return AnalysisReport(len(analysed), calls, left_over, failures, time.perf_counter() - started, outdated)
