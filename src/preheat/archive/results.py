"""How the sessions of the archive went: calls, mistakes, the last check, cost. Plain SQL, as in `writer.py`.

Knows nothing of assignments: they are kept in the state beside the archive.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from preheat.archive.database import ArchiveConnection
from preheat.archive.projects import load_session_roots
from preheat.commands.values import CHECKS
from preheat.model.experiment import Rating, SessionResult
from preheat.model.outcome import CAUSES, FAILURES, JUDGED, STATUSES, Cause, Status

# The archive stores statuses and causes as indexes into these tuples.
_PASSED = frozenset(place for place, status in enumerate(STATUSES) if status in ("ok", "empty"))
_FAILED = frozenset(place for place, status in enumerate(STATUSES) if status in FAILURES)
_PASSED_OR_FAILED_SQL = ", ".join(map(str, sorted(_PASSED | _FAILED)))
_FAILED_SQL = ", ".join(map(str, sorted(_FAILED)))
_JUDGED_SQL = ", ".join(str(place) for place, status in enumerate(STATUSES) if status in JUDGED)
_MISTAKE, _FINDING = CAUSES.index("mistake"), CAUSES.index("finding")
_OUTPUT, _CACHE_READ, _CACHE_WRITE = 5.0, 0.1, 1.25
"""Costs of tokens relative to fresh input: rough ratios of usual prices."""


def load_last_checks(connection: ArchiveConnection) -> dict[str, bool]:
    """Whether the last check (a test, a build, a linter or a type checker) passed, by the key of each session with one;
    interrupted checks are ignored."""
    marks = ", ".join("?" * len(CHECKS))
    rows = connection.execute(
        "SELECT sessions.key, outcomes.status FROM (SELECT session_id, max(seq) AS last FROM outcomes "  # noqa: S608 - only marks
        f"JOIN purposes ON purposes.id = outcomes.purpose_id WHERE purposes.activity IN ({marks}) "
        f"AND outcomes.status IN ({_PASSED_OR_FAILED_SQL}) GROUP BY session_id) checks "
        "JOIN outcomes ON outcomes.session_id = checks.session_id AND outcomes.seq = checks.last "
        "JOIN sessions ON sessions.id = outcomes.session_id ORDER BY sessions.key",
        [f"shell:{purpose}" for purpose in sorted(CHECKS)],
    )
    return {key: status in _PASSED for key, status in rows}


class ShellRun(NamedTuple):
    """A judged shell call of a project."""

    session: str
    """The key of its session."""
    seq: int
    command: str
    """On one line, capped."""
    status: Status
    cause: Cause | None
    at: float | None


def load_shell_runs(connection: ArchiveConnection, project: str) -> list[ShellRun]:
    """The judged shell calls of a project's sessions, given its key, in time order; copied calls and those of Preheat's own runs
    are left out."""
    rows = connection.execute(
        "SELECT sessions.key, calls.seq, calls.summary, outcomes.status, outcomes.cause, calls.at FROM outcomes"
        " JOIN sessions ON sessions.id = outcomes.session_id JOIN places ON places.session_id = outcomes.session_id"
        " JOIN calls ON calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq"
        " WHERE places.project = ? AND calls.kind = 'shell' AND NOT calls.copied"
        " AND sessions.starter NOT IN ('preheat', 'background')"
        " ORDER BY coalesce(calls.at, sessions.started_at, 0), sessions.key, calls.seq",
        (project,),
    )
    return [
        ShellRun(key, seq, command, STATUSES[status], None if cause is None else CAUSES[cause], at)
        for key, seq, command, status, cause, at in rows
    ]


def find_failed_calls(connection: ArchiveConnection, calls: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
    """Those of these calls (key of the session and place) that failed; a finding is no failure of the call."""
    query = (
        "SELECT status, cause FROM outcomes JOIN sessions ON sessions.id = outcomes.session_id"
        " WHERE sessions.key = ? AND outcomes.seq = ?"
    )
    found = set()
    for key, seq in calls:
        row = connection.execute(query, (key, seq)).fetchone()
        if row is not None and row[0] in _FAILED and row[1] != _FINDING:
            found.add((key, seq))
    return found


def load_call_summaries(connection: ArchiveConnection, calls: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """What each of these calls (key of the session and place) was, in short."""
    query = (
        "SELECT calls.summary FROM calls JOIN sessions ON sessions.id = calls.session_id"
        " WHERE sessions.key = ? AND calls.seq = ?"
    )
    rows = {(key, seq): connection.execute(query, (key, seq)).fetchone() for key, seq in calls}
    return {call: row[0] for call, row in rows.items() if row is not None and row[0]}


def load_call_failures(connection: ArchiveConnection, session: str) -> list[tuple[float, bool]]:
    """The judged and dated calls of a session: the time, and whether the call failed by the agent's mistake."""
    rows = connection.execute(
        "SELECT calls.at, outcomes.status, outcomes.cause FROM outcomes"  # noqa: S608 - numbers of our own
        " JOIN sessions ON sessions.id = outcomes.session_id"
        " JOIN calls ON calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq"
        " JOIN purposes ON purposes.id = outcomes.purpose_id"
        f" WHERE sessions.key = ? AND calls.at IS NOT NULL AND NOT purposes.bookkeeping AND outcomes.status IN ({_JUDGED_SQL})"
        " ORDER BY outcomes.seq",
        (session,),
    )
    return [(at, status in _FAILED and cause == _MISTAKE) for at, status, cause in rows]


class CallCost(NamedTuple):
    """A dated call, and the tokens that were new to the model in its response."""

    seq: int
    at: float
    tokens: int
    """Fresh input, what was written to the cache, and output; 0 for a further call of the same response."""


def load_call_costs(connection: ArchiveConnection, session: str) -> list[CallCost]:
    """The dated calls of a session in their order, without copies of another's."""
    rows = connection.execute(
        "SELECT calls.seq, calls.at, calls.response, coalesce(responses.input_tokens + responses.cache_write_tokens"
        " + responses.output_tokens, 0) FROM calls JOIN sessions ON sessions.id = calls.session_id"
        " LEFT JOIN responses ON responses.session_id = calls.session_id AND responses.response = calls.response"
        " WHERE sessions.key = ? AND calls.at IS NOT NULL AND NOT calls.copied ORDER BY calls.seq",
        (session,),
    )
    counted: set[int] = set()
    found: list[CallCost] = []
    for seq, at, response, tokens in rows:
        found.append(CallCost(seq, at, 0 if response in counted else tokens))
        counted.add(response)
    return found


def load_session_results(
    connection: ArchiveConnection, corrections: Mapping[str, int], ratings: Mapping[str, Rating]
) -> list[SessionResult]:
    """The results of all sessions except subagents' and Preheat's own; `corrections` and `ratings` by key. Calls that were copied
    from another session count there."""
    counts = _count_failures(connection)
    passed = load_last_checks(connection)
    roots = load_session_roots(connection)
    judged = {row[0] for row in connection.execute("SELECT session_id FROM judgements")}
    rows = connection.execute(
        "SELECT id, key, agent, project, parent, relation, started_at, ended_at, input_tokens, output_tokens,"
        " cache_read_tokens, cache_write_tokens FROM sessions"
        " WHERE coalesce(relation, '') != 'subagent' AND starter != 'preheat' ORDER BY id"
    )
    results = []
    for number, key, agent, project, parent, relation, started, ended, fresh, output, cached, cache_written in rows:
        calls, failed, mistakes = counts.get(number, (0, 0, 0))
        rating = ratings.get(key)
        results.append(
            SessionResult(
                session=key,
                agent=agent,
                project=roots.get(number) or project,
                parent=f"{agent}:{parent}" if parent else "",
                relation=relation or "",
                started_at=started,
                ended_at=ended,
                judged=number in judged,
                calls=calls,
                mistakes=mistakes,
                errors=failed,
                passed=passed.get(key),
                tokens=fresh + output + cached + cache_written,
                cost=fresh + _OUTPUT * output + _CACHE_READ * cached + _CACHE_WRITE * cache_written,
                corrections=corrections.get(key, 0),
                rating=None if rating is None else rating.good,
            )
        )
    return results


def _count_failures(connection: ArchiveConnection) -> dict[int, tuple[int, int, int]]:
    """By session id: judged calls, how many of them failed, and how many by the agent's mistake."""
    rows = connection.execute(
        "SELECT session_id, count(*), count(CASE WHEN failed THEN 1 END),"  # noqa: S608 - numbers of our own
        " count(CASE WHEN failed AND cause = ? THEN 1 END) FROM ("
        f" SELECT outcomes.session_id, outcomes.cause, outcomes.status IN ({_FAILED_SQL}) AS failed FROM outcomes"
        " JOIN purposes ON purposes.id = outcomes.purpose_id"
        f" WHERE outcomes.status IN ({_JUDGED_SQL}) AND NOT purposes.bookkeeping AND NOT EXISTS"
        "  (SELECT 1 FROM calls INDEXED BY calls_copied"
        "   WHERE copied AND calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq)"
        ") judged GROUP BY session_id",
        (_MISTAKE,),
    )
    return {number: (calls, failed, mistakes) for number, calls, failed, mistakes in rows}
