"""A team on a real PostgreSQL: an owner, a reviewer, two members and a reader, each a login of the server."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from preheat.team.address import read_address
from preheat.team_server import people
from preheat.team_server.connect import open_server
from tests.postgresql import OWNER, PostgresqlServer
from tests.team.builders import OWNER_PASSWORD, TestedTeam
from tests.team.colleagues import Colleague

TEAM_OWNER = "preheat_team_owner"


@pytest.fixture
def empty_team(postgresql_server: PostgresqlServer, postgresql_url: str) -> Iterator[TestedTeam]:
    """A database whose owner may make a team in it."""
    database = postgresql_url.rpartition("/")[2]
    address = read_address(f"postgresql://{TEAM_OWNER}@127.0.0.1:{postgresql_server.port}/{database}")
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {TEAM_OWNER} LOGIN CREATEROLE PASSWORD '{OWNER_PASSWORD}'".encode())
        connection.execute(f"GRANT CREATE ON DATABASE {database} TO {TEAM_OWNER}".encode())
    team = TestedTeam(address, postgresql_server, postgresql_url)
    yield team
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS preheat_team CASCADE")
        rows = connection.execute(
            "SELECT rolname FROM pg_roles WHERE rolname LIKE 'preheat\\_%%' AND rolname <> %s", (OWNER,)
        )
        for (name,) in rows.fetchall():
            connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def team(empty_team: TestedTeam) -> TestedTeam:
    """A team of five."""
    with open_server(empty_team.address, OWNER_PASSWORD) as connection:
        people.make_team(connection, "shop", 2, "founder")
        for name, role in (("checker", "reviewer"), ("first", "member"), ("second", "member"), ("viewer", "reader")):
            login, password = people.invite(connection, name, role)  # type: ignore[arg-type]
            empty_team.logins[name] = (login, password)
    return empty_team


@pytest.fixture
def colleagues(
    team: TestedTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, Colleague]:
    """Everybody of the team at a machine of their own; nobody has joined yet."""
    return {name: Colleague(name, tmp_path, team, monkeypatch, capsys) for name in team.logins}
