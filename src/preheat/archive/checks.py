"""The result of the last check (a test, a build, a linter or a type checker) of each session in the archive.

Knows nothing of how a call is judged.
"""

import sqlite3

from preheat.commands.values import CHECKS
from preheat.model.outcome import FAILURES, STATUSES

_PASSED_STATUSES = frozenset(place for place, status in enumerate(STATUSES) if status in ("ok", "empty"))
_FAILED_STATUSES = frozenset(place for place, status in enumerate(STATUSES) if status in FAILURES)


def load_last_checks(connection: sqlite3.Connection) -> dict[str, bool]:
    """Whether the last check passed, by the key of each session with a check; interrupted checks are ignored."""
    marks = ", ".join("?" * len(CHECKS))
    decided = sorted(_PASSED_STATUSES | _FAILED_STATUSES)
    rows = connection.execute(
        "SELECT sessions.key, outcomes.status, max(outcomes.seq) FROM outcomes "  # noqa: S608 - only marks are put in
        "JOIN purposes ON purposes.id = outcomes.purpose_id JOIN sessions ON sessions.id = outcomes.session_id "
        f"WHERE purposes.activity IN ({marks}) AND outcomes.status IN ({', '.join(map(str, decided))}) "
        "GROUP BY outcomes.session_id ORDER BY sessions.key",
        [f"shell:{purpose}" for purpose in sorted(CHECKS)],
    )
    return {key: status in _PASSED_STATUSES for key, status, _ in rows}
