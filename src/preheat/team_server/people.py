"""People of a team: its owner makes it, invites, lists and removes. Each person is a login of the database server.

Knows nothing of what they push. A password is made here, goes to the server as a SCRAM verifier only, and is given back once.
"""

import secrets

import psycopg
from psycopg import sql

from preheat.errors import UserError
from preheat.model.pushed import PUSHED_TABLES
from preheat.model.team import TeamIdentity, TeamMember, TeamRole
from preheat.team_server.connect import HEAD, find_version
from preheat.team_server.upgrade import upgrade

EVERYBODY = (
    "my_member()", "my_role()", "describe_team()", "numbers()", "approved_lessons()", "count_lessons()", "leave(boolean)",
)  # fmt: skip
REVIEWERS = (
    "waiting_lessons()", "review_lesson(text, text, text)", "list_reviews()", "list_transcripts()", "read_transcript(text)",
)  # fmt: skip
"""What may be called, as it is granted."""
_OF_SESSION = ("outcomes", "episodes", "transcripts")


# Making a team.
def make_team(connection: psycopg.Connection, name: str, least_people: int, owner: str) -> bool:
    """Make a team in a database, or bring the tables of one up to date; whether it is new. Raises UserError."""
    version = find_version(connection)
    if version > HEAD:
        raise UserError(
            f"the team's tables are of a newer Preheat (version {version}, this one knows {HEAD}); update this one"
        )
    if version:
        require_owner(connection)
        keeper = _find_keeper(connection)
    else:
        _require_rights(connection)
        keeper = _make_keeper(connection)
    upgrade(connection, keeper)
    with connection.transaction():
        _act_as_keeper(connection)
        is_new = connection.execute("SELECT 1 FROM preheat_team.team").fetchone() is None
        if is_new:
            connection.execute(
                "INSERT INTO preheat_team.team (name, least_people) VALUES (%s, %s)", (name, least_people)
            )
            connection.execute(
                "INSERT INTO preheat_team.members (login, name, role, made_login) VALUES (session_user, %s, 'owner', false)",
                (owner,),
            )
        people = connection.execute("SELECT login, role FROM preheat_team.members WHERE left_at IS NULL").fetchall()
        for login, role in people:
            _grant(connection, login, role)
    return is_new


def _require_rights(connection: psycopg.Connection) -> None:
    row = connection.execute(
        "SELECT rolsuper OR rolcreaterole, has_database_privilege(current_database(), 'CREATE'), current_database(), "
        "session_user FROM pg_roles WHERE rolname = session_user"
    ).fetchone()
    makes_roles, makes_schemas, database, login = row or (False, False, "", "")
    if not makes_schemas:
        raise UserError(
            f"`{login}` may make no schema; an administrator runs: GRANT CREATE ON DATABASE {database} TO {login}"
        )
    if not makes_roles:
        raise UserError(f"`{login}` may make no logins; an administrator runs: ALTER ROLE {login} CREATEROLE")


def _make_keeper(connection: psycopg.Connection) -> str:
    """The role that owns the schema: nobody logs in as it, functions run as it, and it is bound by row-level security."""
    row = connection.execute(
        "SELECT 'preheat_keeper_' || oid FROM pg_database WHERE datname = current_database()"
    ).fetchone()
    keeper = str(row[0]) if row else ""
    name = sql.Identifier(keeper)
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (keeper,)).fetchone():
        connection.execute(
            sql.SQL("CREATE ROLE {} NOLOGIN NOSUPERUSER NOCREATEDB CREATEROLE NOREPLICATION").format(name)
        )
    connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(name))
    return keeper


def _find_keeper(connection: psycopg.Connection) -> str:
    row = connection.execute(
        "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'preheat_team'"
    ).fetchone()
    return str(row[0]) if row else ""


def _act_as_keeper(connection: psycopg.Connection) -> None:
    """Act as the role that owns the schema until the transaction ends, as only the team's owner can."""
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(_find_keeper(connection))))


def identify(connection: psycopg.Connection) -> TeamIdentity:
    """Who this login is in the team. Raises UserError if nobody."""
    row = connection.execute("SELECT team, me, my_role, least_people FROM preheat_team.describe_team()").fetchone()
    if row is None:
        raise UserError("this login is not in the team; its owner runs `preheat team invite`")
    return TeamIdentity(team=row[0], name=row[1], role=row[2], least_people=row[3])


def require_owner(connection: psycopg.Connection) -> None:
    """Raise UserError unless this login owns the team."""
    if identify(connection).role != "owner":
        raise UserError("only the team's owner does that; `preheat team status` says who you are")


# Inviting and removing.
def invite(connection: psycopg.Connection, name: str, role: TeamRole, login: str = "") -> tuple[str, str]:
    """Let somebody into the team: a new login with a password, or the existing `login` without one. Gives login and password."""
    require_owner(connection)
    password = "" if login else secrets.token_urlsafe(24)
    with connection.transaction():
        _act_as_keeper(connection)
        if connection.execute(
            "SELECT 1 FROM preheat_team.members WHERE name = %s AND left_at IS NULL", (name,)
        ).fetchone():
            raise UserError(f"`{name}` is in the team already; `preheat team members` lists everybody")
        if login:
            _require_plain_login(connection, login)
        else:
            login = f"preheat_{name}"
            _make_login(connection, login, password)
        connection.execute(
            "INSERT INTO preheat_team.members (login, name, role, made_login) VALUES (%s, %s, %s, %s)",
            (login, name, role, bool(password)),
        )
        _grant(connection, login, role)
    return login, password


def _make_login(connection: psycopg.Connection, login: str, password: str) -> None:
    """Make a login, or open the one again of somebody who left."""
    verifier = connection.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256").decode()
    known = connection.execute("SELECT rolcanlogin FROM pg_roles WHERE rolname = %s", (login,)).fetchone()
    left = connection.execute("SELECT 1 FROM preheat_team.members WHERE login = %s AND made_login", (login,)).fetchone()
    if known and (known[0] or not left):
        raise UserError(
            f"there is a login `{login}` already; `--login {login}` lets it in, another name makes a new one"
        )
    connection.execute(
        sql.SQL(
            "{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS PASSWORD {}"
            if not known else "{} ROLE {} LOGIN PASSWORD {}"
        ).format(sql.SQL("ALTER" if known else "CREATE"), sql.Identifier(login), sql.Literal(verifier))
    )  # fmt: skip


def _require_plain_login(connection: psycopg.Connection, login: str) -> None:
    row = connection.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s", (login,)).fetchone()
    if row is None:
        raise UserError(f"there is no login `{login}`; without `--login` one is made")
    if row[0]:
        raise UserError(f"row-level security does not hold for `{login}`, a superuser; choose another login")
    if connection.execute(
        "SELECT 1 FROM preheat_team.members WHERE login = %s AND left_at IS NULL", (login,)
    ).fetchone():
        raise UserError(f"`{login}` is in the team already; `preheat team members` lists everybody")


def _grant(connection: psycopg.Connection, login: str, role: str) -> None:
    """Give a login what its role may do, and nothing else."""
    who = sql.Identifier(login)
    _revoke(connection, login)
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA preheat_team TO {}").format(who))
    connection.execute(sql.SQL("GRANT SELECT ON preheat_team.alembic_version TO {}").format(who))
    for function in (*EVERYBODY, *(REVIEWERS if role in ("reviewer", "owner") else ())):
        connection.execute(sql.SQL("GRANT EXECUTE ON FUNCTION preheat_team.{} TO {}").format(sql.SQL(function), who))
    if role == "reader":
        return
    for table in PUSHED_TABLES:
        columns = sql.SQL(", ").join(map(sql.Identifier, columns_of(table)))
        place = sql.Identifier("preheat_team", table)
        connection.execute(sql.SQL("GRANT SELECT, DELETE ON {} TO {}").format(place, who))
        connection.execute(sql.SQL("GRANT INSERT ({}) ON {} TO {}").format(columns, place, who))


def columns_of(table: str) -> tuple[str, ...]:
    """The columns that a machine fills; the database itself fills in who and when."""
    fields = PUSHED_TABLES[table][0].__struct_fields__
    return ("machine", *(("session",) if table in _OF_SESSION else ()), *fields)


def _revoke(connection: psycopg.Connection, login: str) -> None:
    who = sql.Identifier(login)
    for what in ("ALL TABLES IN SCHEMA preheat_team", "ALL FUNCTIONS IN SCHEMA preheat_team", "SCHEMA preheat_team"):
        connection.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(sql.SQL(what), who))


def list_members(connection: psycopg.Connection) -> list[TeamMember]:
    """Everybody in the team, for its owner."""
    require_owner(connection)
    with connection.transaction():
        _act_as_keeper(connection)
        rows = connection.execute(
            "SELECT name, login, role, extract(epoch FROM since)::float8 FROM preheat_team.members "
            "WHERE left_at IS NULL ORDER BY id"
        ).fetchall()
    return [TeamMember(name=name, login=login, role=role, since=since) for name, login, role, since in rows]


def remove(connection: psycopg.Connection, name: str, keep: bool) -> None:
    """Remove somebody from the team at once: nothing is granted to their login any more, and one that was made for the team is
    closed. Their derived rows are kept without a person, or deleted. Raises UserError."""
    require_owner(connection)
    with connection.transaction():
        _act_as_keeper(connection)
        row = connection.execute(
            "SELECT id, login, role, made_login FROM preheat_team.members WHERE name = %s AND left_at IS NULL", (name,)
        ).fetchone()
        if row is None:
            raise UserError(f"there is no `{name}` in the team; `preheat team members` lists everybody")
        member, login, role, made_login = row
        if role == "owner":
            raise UserError("the owner of a team cannot be removed from it")
        _revoke(connection, login)
        connection.execute("SELECT preheat_team.end_membership(%s, %s)", (member, keep))
        if made_login:
            who = sql.Identifier(login)
            connection.execute(sql.SQL("ALTER ROLE {} NOLOGIN").format(who))
    if made_login:
        _end_connections(connection, login)


def _end_connections(connection: psycopg.Connection, login: str) -> None:
    """End the connections of a login. They could do nothing any more; that they are gone is only tidier, so it may fail."""
    who = sql.Identifier(login)
    try:
        with connection.transaction():
            connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(who))
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (login,))
            connection.execute(sql.SQL("REVOKE {} FROM CURRENT_USER").format(who))
    except psycopg.errors.InsufficientPrivilege:
        return


def leave(connection: psycopg.Connection, keep: bool) -> None:
    """Leave the team: derived rows stay without a person, or are deleted with the rest."""
    connection.execute("SELECT preheat_team.leave(%s)", (keep,))
