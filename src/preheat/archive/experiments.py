"""How the sessions of the archive went, as far as a comparison asks. Plain SQL, as in `writer.py`.

Knows nothing of who got what by chance: that is kept in the state beside the archive.
"""

import sqlite3
from collections.abc import Mapping

from preheat.archive.checks import last_checks
from preheat.model.experiment import Rating, Went
from preheat.model.outcome import CAUSES, FAILURES, JUDGED, STATUSES

_OUTPUT, _CACHE_READ, _CACHE_WRITE = 5.0, 0.1, 1.25
"""What tokens cost beside those of fresh input: rough ratios of usual prices."""
_JUDGED = ", ".join(str(place) for place, status in enumerate(STATUSES) if status in JUDGED)
_FAILED = ", ".join(str(place) for place, status in enumerate(STATUSES) if status in FAILURES)
_MISTAKE = CAUSES.index("mistake")


def call_failures(connection: sqlite3.Connection, session: str) -> list[tuple[float, bool]]:
    """The judged calls of a session that say when they were made: the moment, and whether it failed by the agent's mistake."""
    rows = connection.execute(
        "SELECT calls.at, outcomes.status, outcomes.cause FROM outcomes"  # noqa: S608 - numbers of our own
        " JOIN sessions ON sessions.id = outcomes.session_id"
        " JOIN calls ON calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq"
        " JOIN purposes ON purposes.id = outcomes.purpose_id"
        f" WHERE sessions.key = ? AND calls.at IS NOT NULL AND NOT purposes.bookkeeping AND outcomes.status IN ({_JUDGED})"
        " ORDER BY outcomes.seq",
        (session,),
    )
    failed = {place for place, status in enumerate(STATUSES) if status in FAILURES}
    return [(at, status in failed and cause == _MISTAKE) for at, status, cause in rows]


def went(connection: sqlite3.Connection, corrections: Mapping[str, int], ratings: Mapping[str, Rating]) -> list[Went]:
    """How every session of the archive went, but those that were delegated or that Preheat started; `corrections` and `ratings`
    by key. Calls that were copied from another session count there."""
    rates = _rates(connection)
    passed = last_checks(connection)
    roots = dict(connection.execute("SELECT folder, root FROM projects"))
    judged = {row[0] for row in connection.execute("SELECT session_id FROM judgements")}
    rows = connection.execute(
        "SELECT id, key, agent, project, parent, relation, started_at, ended_at, input_tokens, output_tokens,"
        " cache_read_tokens, cache_write_tokens FROM sessions"
        " WHERE coalesce(relation, '') != 'subagent' AND starter != 'preheat' ORDER BY id"
    )
    found = []
    for number, key, agent, project, parent, relation, started, ended, fresh, out, read, written in rows:
        calls, failed, mistakes = rates.get(number, (0, 0, 0))
        rating = ratings.get(key)
        found.append(
            Went(
                session=key,
                agent=agent,
                project=roots.get(project) or project,
                parent=f"{agent}:{parent}" if parent else "",
                relation=relation or "",
                started_at=started,
                ended_at=ended,
                judged=number in judged,
                calls=calls,
                mistakes=mistakes,
                errors=failed,
                passed=passed.get(key),
                tokens=fresh + out + read + written,
                cost=fresh + _OUTPUT * out + _CACHE_READ * read + _CACHE_WRITE * written,
                corrections=corrections.get(key, 0),
                rating=None if rating is None else rating.good,
            )
        )
    return found


def _rates(connection: sqlite3.Connection) -> dict[int, tuple[int, int, int]]:
    """By the number of a session: its calls that a rate is taken over, how many failed, and how many by the agent's mistake."""
    rows = connection.execute(
        "SELECT session_id, count(*), sum(failed), sum(failed AND cause = ?) FROM ("  # noqa: S608 - numbers of our own
        f" SELECT outcomes.session_id, outcomes.cause, outcomes.status IN ({_FAILED}) AS failed FROM outcomes"
        " JOIN purposes ON purposes.id = outcomes.purpose_id"
        f" WHERE outcomes.status IN ({_JUDGED}) AND NOT purposes.bookkeeping AND NOT EXISTS"
        "  (SELECT 1 FROM calls INDEXED BY calls_copied"
        "   WHERE copied AND calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq)"
        ") GROUP BY session_id",
        (_MISTAKE,),
    )
    return {number: (calls, failed or 0, mistakes or 0) for number, calls, failed, mistakes in rows}
