"""The tests' own PostgreSQL: a database is empty, a stopped server refuses, and a started one has what was written."""

import psycopg
import pytest

from tests.postgresql import PostgresqlServer


def test_a_stopped_server_refuses_and_a_started_one_has_what_was_written(
    postgresql_server: PostgresqlServer, postgresql_url: str
) -> None:
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("CREATE TABLE kept (value int)")
        connection.execute("INSERT INTO kept VALUES (7)")
    postgresql_server.stop()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(postgresql_url, connect_timeout=5)
    postgresql_server.start()
    with psycopg.connect(postgresql_url) as connection:
        assert connection.execute("SELECT value FROM kept").fetchall() == [(7,)]
