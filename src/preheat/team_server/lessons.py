"""Lessons of a team: those that wait for a review, those that are approved, who decided what. Knows nothing of their content."""

from typing import Literal

import psycopg

from preheat.model.team import ProposedLesson

_COLUMNS = (
    "digest, repository, content, calls_for, sessions_for, calls_against, sessions_against, "
    "coalesce(first_day::text, ''), coalesce(last_day::text, '')"
)
Verdict = Literal["approved", "declined"]


def load_approved(connection: psycopg.Connection) -> list[ProposedLesson]:
    """The lessons whose last review approved them and that somebody still proposes."""
    return _load(connection, "approved_lessons")


def load_waiting(connection: psycopg.Connection) -> list[ProposedLesson]:
    """The lessons that nobody has reviewed, the oldest first, by the server's clock."""
    return _load(connection, "waiting_lessons")


def _load(
    connection: psycopg.Connection, function: Literal["approved_lessons", "waiting_lessons"]
) -> list[ProposedLesson]:
    query = f"SELECT {_COLUMNS} FROM preheat_team.{function}()"  # noqa: S608 - names of our own
    return [
        ProposedLesson(
            digest=digest, repository=repository, content=content, calls_for=int(counts[0]), sessions_for=int(counts[1]),
            calls_against=int(counts[2]), sessions_against=int(counts[3]), first_day=counts[4], last_day=counts[5],
        )
        for digest, repository, content, *counts in connection.execute(query.encode())
    ]  # fmt: skip


def review(connection: psycopg.Connection, digest: str, verdict: Verdict, why: str) -> None:
    """Add a review of a lesson; who and when is what the database knows."""
    connection.execute("SELECT preheat_team.review_lesson(%s, %s, %s)", (digest, verdict, why))


def load_reviews(connection: psycopg.Connection) -> list[tuple[str, str, str, Verdict, str, str, float]]:
    """Every review, the newest first: digest, repository, content (empty if nobody proposes it any more), verdict, reason,
    reviewer, when."""
    return connection.execute(
        "SELECT digest, repository, content, verdict, why, reviewer, extract(epoch FROM at)::float8 "
        "FROM preheat_team.list_reviews()"
    ).fetchall()


def count_lessons(connection: psycopg.Connection) -> dict[str, int]:
    """The number of lessons by verdict; empty: waiting."""
    return dict(connection.execute("SELECT verdict, lessons FROM preheat_team.count_lessons()").fetchall())
