"""The rows that machines push: what is there already, what is sent, what is deleted. Bulk goes by COPY.

Knows nothing of how rows are made. Whoever sends sees and deletes their own rows only, which the database sees to.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from preheat.model.pushed import PushedLesson, PushedRows
from preheat.model.team import NUMBER_GROUPINGS, TeamNumber
from preheat.team_server.people import columns_of


class StoredSession(NamedTuple):
    """A session of a machine as the server has it."""

    digest: str
    origin: str
    repository: str


def load_stored(connection: psycopg.Connection, machine: str) -> dict[str, StoredSession]:
    """The sessions of a machine on the server, by their hashes."""
    rows = connection.execute(
        "SELECT session, digest, origin, repository FROM preheat_team.sessions WHERE machine = %s", (machine,)
    )
    return {session: StoredSession(*rest) for session, *rest in rows}


def push_sessions(connection: psycopg.Connection, machine: str, batch: Sequence[PushedRows]) -> int:
    """Send sessions in place of earlier forms of them, all or none; how many were new or changed. Another push of the same
    machine waits meanwhile, and what it has sent is not sent again."""
    with connection.transaction():
        _hold_machine(connection, machine)
        names = [each.session.session for each in batch]
        rows = connection.execute(
            "SELECT session, digest FROM preheat_team.sessions WHERE machine = %s AND session = ANY (%s)",
            (machine, names),
        )
        present: dict[str, str] = dict(rows.fetchall())
        changed = [each for each in batch if present.get(each.session.session) != each.session.digest]
        _delete(connection, machine, [each.session.session for each in changed if each.session.session in present])
        _copy(connection, "sessions", ((machine, *_values(each.session)) for each in changed))
        for table in ("outcomes", "episodes"):
            _copy(
                connection,
                table,
                ((machine, each.session.session, *_values(row)) for each in changed for row in getattr(each, table)),
            )
        _copy(
            connection,
            "transcripts",
            (
                (machine, each.session.session, each.transcript.content)
                for each in changed
                if each.transcript is not None
            ),
        )
    return len(changed)


def push_lessons(connection: psycopg.Connection, machine: str, lessons: Sequence[PushedLesson]) -> int:
    """Make these the lessons that a machine proposes; how many it no longer does."""
    wanted = {each.digest: each for each in lessons}
    with connection.transaction():
        _hold_machine(connection, machine)
        fields = sql.SQL(", ").join(map(sql.Identifier, PushedLesson.__struct_fields__))
        rows = connection.execute(
            sql.SQL("SELECT {} FROM preheat_team.lessons WHERE machine = %s").format(fields), (machine,)
        ).fetchall()
        present = {
            row[0]: tuple(str(each or "") if place > 6 else each for place, each in enumerate(row)) for row in rows
        }
        stale = [digest for digest, row in present.items() if digest not in wanted or _values(wanted[digest]) != row]
        connection.execute(
            "DELETE FROM preheat_team.lessons WHERE machine = %s AND digest = ANY (%s)", (machine, stale)
        )
        _copy(
            connection,
            "lessons",
            (
                (machine, *(value if place < 7 else value or None for place, value in enumerate(_values(each))))
                for each in wanted.values()
                if each.digest in stale or each.digest not in present
            ),
        )
    return len(present.keys() - wanted.keys())


def delete_sessions(connection: psycopg.Connection, sessions: Iterable[str]) -> int:
    """Delete sessions of this person, of whichever machine, with everything that belongs to them; how many there were."""
    found = connection.execute(
        "DELETE FROM preheat_team.sessions WHERE session = ANY (%s) AND member = preheat_team.my_member()",
        (list(sessions),),
    )
    return found.rowcount


def delete_machine_sessions(connection: psycopg.Connection, machine: str, sessions: Sequence[str]) -> int:
    """Delete sessions of one machine."""
    with connection.transaction():
        _hold_machine(connection, machine)
        return _delete(connection, machine, sessions)


def _delete(connection: psycopg.Connection, machine: str, sessions: Sequence[str]) -> int:
    if not sessions:
        return 0
    return connection.execute(
        "DELETE FROM preheat_team.sessions WHERE machine = %s AND session = ANY (%s)", (machine, list(sessions))
    ).rowcount


def _hold_machine(connection: psycopg.Connection, machine: str) -> None:
    """Let one push of a machine at a time go on, until the transaction ends."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"preheat_team {machine}",))


def _values(row: Any) -> tuple[Any, ...]:
    return tuple(
        list(value) if isinstance(value := getattr(row, name), tuple) else value for name in row.__struct_fields__
    )


def _copy(connection: psycopg.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add rows to a table. COPY cannot write where row-level security holds, so it fills a table of this transaction first."""
    names = columns_of(table)
    columns = sql.SQL(", ").join(map(sql.Identifier, names))
    place, incoming = sql.Identifier("preheat_team", table), sql.Identifier("pg_temp", f"incoming_{table}")
    with connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA").format(
                sql.Identifier(f"incoming_{table}"), columns, place
            )
        )
        with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(incoming, columns)) as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(place, columns, columns, incoming))


# What everybody may see.
def load_numbers(connection: psycopg.Connection) -> dict[str, tuple[TeamNumber, ...]]:
    """The numbers of the team by every grouping, without those of too few people."""
    found: dict[str, list[TeamNumber]] = {grouping: [] for grouping in NUMBER_GROUPINGS}
    for grouping, name, people, sessions, calls, failed, mistakes, tokens, *rest in connection.execute(
        "SELECT * FROM preheat_team.numbers()"
    ):
        money, failed_money, unpriced, seconds = rest
        number = TeamNumber(
            name=name, people=people, sessions=sessions, calls=calls, failed=failed, mistakes=mistakes, tokens=int(tokens),
            money=money or 0.0, failed_money=failed_money or 0.0, unpriced=unpriced, work_seconds=seconds,
        )  # fmt: skip
        found[grouping].append(number)
    return {grouping: tuple(some) for grouping, some in found.items()}


def list_transcripts(connection: psycopg.Connection) -> list[tuple[Any, ...]]:
    """Every transcript that people pushed, for a reviewer: hash, repository, agent, model, calls, bytes, when."""
    return connection.execute(
        "SELECT session, repository, agent, model, calls, bytes, extract(epoch FROM pushed_at)::float8 "
        "FROM preheat_team.list_transcripts()"
    ).fetchall()


def read_transcript(connection: psycopg.Connection, session: str) -> bytes | None:
    """A transcript by its hash, compressed as it was pushed, for a reviewer."""
    row = connection.execute("SELECT preheat_team.read_transcript(%s)", (session,)).fetchone()
    return None if row is None or row[0] is None else bytes(row[0])
