"""The next stage: judge every call, and measure every session. Knows nothing of what is learned from that."""

import math
import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple

from preheat.agents import dialect_of
from preheat.amounts import counted
from preheat.archive.connect import connect, unusable
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

if TYPE_CHECKING:
    from preheat.ingest.judging import Assessment
    from preheat.ingest.rereading import Unreadable
    from preheat.model.outcome import Outcome
    from preheat.model.session import Session


def judge(session: "Session") -> "tuple[Outcome, ...]":
    """What came of every call of a session, in their order."""
    from preheat.outcomes import judge as judge_calls

    return judge_calls(session, dialect_of(session.agent))


def assess(session: "Session") -> "Assessment":
    """Judge a session and measure it: all that the archive keeps of that."""
    from preheat.ingest.judging import Assessment
    from preheat.profiles import profile, trace

    outcomes = judge(session)
    records = trace(session, outcomes)
    return Assessment(records, profile(session, outcomes, records))


class JudgeReport(NamedTuple):
    """What judging the archive did."""

    sessions: int
    """Judged now, and stored."""
    calls: int
    left: int
    """For the next run, because they changed while they were judged, or the time was over."""
    failures: "list[Unreadable]"
    seconds: float


def judge_archive(folder: str, progress: Progress = SILENT, seconds: float = math.inf) -> JudgeReport:
    """Judge every session of the archive that this version of the judge has not judged as it is now. After so many `seconds`
    nothing more is begun."""
    from preheat import outcomes, profiles
    from preheat.archive.judged import pending
    from preheat.ingest.judging import Judge, run

    started = time.perf_counter()
    judged: list[int] = []
    failures: list[Unreadable] = []
    by = Judge(f"{outcomes.VERSION}.{profiles.VERSION}", assess)

    def told(key: str, calls: int) -> None:
        judged.append(calls)
        progress.advance(1, counted(sum(judged), "call"))

    connection = connect(folder)
    try:
        todo = pending(connection, by.version)
        if todo.sessions and seconds > 0:
            progress.begin("Judging", todo.sessions, "sessions")
            failures = run(connection, by, todo, told, time.monotonic() + seconds)
            progress.end()
    except sqlite3.DatabaseError as error:
        raise unusable(archive_path(folder), error) from error
    finally:
        connection.close()
    left = todo.sessions - len(judged) - len(failures)
    return JudgeReport(len(judged), sum(judged), left, failures, time.perf_counter() - started)
