"""The archive on a real PostgreSQL server: its tables from every revision, its errors in one line, its odd values."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Boolean, Float, Integer, LargeBinary, MetaData, Table, create_engine, insert, select

from preheat.archive import postgresql, server_errors
from preheat.archive.address import ServerAddress, find_server
from preheat.archive.connect import HEAD, connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.server import connect_server
from preheat.archive.upgrade import compare_with_schema, upgrade_server
from preheat.errors import ArchiveBusy, ArchiveUnusable, ServerGone, UserError
from preheat.settings import environment_for
from preheat.state.connect import reading
from preheat.state.marks import marks
from tests.postgresql import PostgresqlServer

REVISIONS = [f"{number:04}" for number in range(1, int(HEAD))]


@pytest.fixture
def archive(archive_url: str, tmp_path: Path) -> Iterator[ArchiveConnection]:
    with closing(connect_server(ServerAddress(archive_url), str(tmp_path), HEAD, 5.0)) as connection:
        yield connection


@pytest.fixture
def archive_url(postgresql_server: PostgresqlServer, archive_template: str) -> Iterator[str]:
    """The address of an empty archive."""
    url = postgresql_server.create_database(archive_template)
    yield url
    postgresql_server.drop_database(url)


def open_at(url: str, folder: Path, **changes: Any) -> ArchiveConnection:
    return connect_server(ServerAddress(url)._replace(**changes), str(folder), HEAD, 5.0)


# Revisions.
def make_row(table: Table) -> dict[str, Any]:
    """A row for a table of any revision: every number and text is the same, so that rows belong together."""
    row: dict[str, Any] = {}
    for column in table.columns:
        if isinstance(column.type, Boolean):
            row[column.name] = False
        elif isinstance(column.type, Float):
            row[column.name] = 1.5
        elif isinstance(column.type, Integer):
            row[column.name] = 1
        elif isinstance(column.type, LargeBinary):
            row[column.name] = b'{"misuse":{"count":1},"causes":{"misuse":2}}'
        else:
            row[column.name] = "pinned" if column.name == "mark" else "same"
    return row


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_archive_of_every_revision_is_upgraded_with_its_rows(
    postgresql_url: str, tmp_path: Path, revision: str
) -> None:
    upgrade_server(lambda: psycopg.connect(postgresql_url), str(tmp_path), 1, revision)
    engine = create_engine(postgresql_url.replace("postgresql://", "postgresql+psycopg://"))
    before, after = MetaData(), MetaData()
    with engine.begin() as connection:
        before.reflect(connection)
        tables = [each for each in before.sorted_tables if each.name not in ("alembic_version", "archive_changes")]
        for each in tables:
            if each.name != "passages_index":
                connection.execute(insert(each).values(make_row(each)))
    open_at(postgresql_url, tmp_path).close()
    with engine.begin() as connection:
        after.reflect(connection)
        assert compare_with_schema(connection) == []
        for each in tables:
            if each.name in after.tables and each.name not in ("passages_index", "projects", "judgements", "profiles"):
                names = [column.name for column in each.columns if column.name != "errors"]
                kept = connection.execute(select(*(after.tables[each.name].c[name] for name in names))).one()
                assert kept._asdict() == {name: make_row(each)[name] for name in names}, each.name
        if "profiles" in before.tables:
            data = connection.execute(select(after.tables["profiles"].c.data)).scalar_one()
            old = b"misuse" if revision >= "0007" else b"mistake"
            assert old in data
    engine.dispose()
    if "marks" in before.tables:
        with reading(str(tmp_path)) as state:
            assert set(marks(state)) == {"same"}


def test_two_machines_create_the_tables_at_once(postgresql_url: str, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom preheat.archive.server import connect_server\nfrom preheat.archive.connect import HEAD\n"
        "from preheat.archive.address import ServerAddress\n"
        "connect_server(ServerAddress(sys.argv[1]), sys.argv[2], HEAD, 30.0).close()"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, postgresql_url, str(tmp_path)], stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    assert [(each.communicate()[1], each.returncode) for each in started] == [(b"", 0)] * 3


def test_tables_of_a_newer_preheat_are_left_alone(archive: ArchiveConnection, archive_url: str, tmp_path: Path) -> None:
    archive.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ArchiveUnusable, match=r"made by a newer Preheat \(schema 9999"):
        open_at(archive_url, tmp_path)


def test_a_database_of_another_program_is_left_alone(postgresql_url: str, tmp_path: Path) -> None:
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num text)")
        connection.execute("INSERT INTO alembic_version VALUES ('ae1027a6acf')")
    with pytest.raises(ArchiveUnusable, match="belongs to another program"):
        open_at(postgresql_url, tmp_path)


# Errors.
def test_a_wrong_password_is_said_and_never_shown(
    postgresql_server: PostgresqlServer, archive_url: str, tmp_path: Path
) -> None:
    wrong = archive_url.replace(postgresql_server.password, "hunter2secret")
    with pytest.raises(ArchiveUnusable, match="refuses this user or password") as error:
        open_at(wrong, tmp_path)
    assert not isinstance(error.value, ServerGone)
    assert "hunter2secret" not in str(error.value)
    assert "preheat_owner@127.0.0.1" in str(error.value)


def test_a_database_that_is_not_there_is_said(postgresql_server: PostgresqlServer, tmp_path: Path) -> None:
    with pytest.raises(ArchiveUnusable, match="does not exist on the server; make it with `createdb`"):
        open_at(postgresql_server.url_of("nowhere"), tmp_path)


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("mysql://me@here/db", "is no address of a PostgreSQL database"),
        ("/var/lib/archive.db", "is no address of a PostgreSQL database"),
        ("postgresql://me:secret@here", "names no database"),
    ],
)
def test_what_is_no_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str, what: str
) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_ARCHIVE", address)
    with pytest.raises(UserError, match=what) as error:
        connect(str(tmp_path))
    assert "secret" not in str(error.value)


def test_the_variable_is_for_the_own_folder_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A demo makes an archive in another folder."""
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_ARCHIVE", "postgresql://me:secret@here:5432/db?sslmode=require&password=hidden")
    found = find_server(str(tmp_path))
    assert found is not None
    assert found.shown == "postgresql://me@here:5432/db"
    assert find_server(str(tmp_path / "demo")) is None
    assert "PREHEAT_ARCHIVE" not in environment_for(str(tmp_path / "demo"))
    assert environment_for(str(tmp_path))["PREHEAT_ARCHIVE"].startswith("postgresql://me")


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ("[archive]\naddress = 5\n", "Expected `str`, got `int`"),
        ('[archive]\nadress = "postgresql://a/b"\n', "unknown field `adress`"),
        ('[archive]\naddress = "postgresql://a/b"\nstatement_seconds = 0\n', "Expected `float` >= 1.0"),
        ('[archive]\naddress = "sqlite://x"\n', "is no address of a PostgreSQL database"),
    ],
)
def test_a_setting_that_cannot_be_used_is_said(tmp_path: Path, settings: str, what: str) -> None:
    (tmp_path / "settings.toml").write_text(settings)
    with pytest.raises(UserError, match=what):
        find_server(str(tmp_path))


def test_a_statement_that_takes_too_long_is_given_up(archive_url: str, tmp_path: Path) -> None:
    with closing(open_at(archive_url, tmp_path, statement_seconds=0.2)) as connection:
        with pytest.raises(ServerGone, match="took longer than 0 s; try again when it has less to do"):
            connection.execute("SELECT pg_sleep(30)")
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)


def test_a_full_disk_is_said_and_nothing_of_the_transaction_is_left(archive: ArchiveConnection) -> None:
    archive.execute(
        "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION USING ERRCODE = '53100', "
        "MESSAGE = 'could not extend file: No space left on device'; END$$"
    )
    archive.execute("CREATE TRIGGER fill BEFORE INSERT ON packs FOR EACH ROW EXECUTE FUNCTION fill()")

    def store() -> None:
        with archive.transaction():
            archive.execute("INSERT INTO forgotten (digest, at) VALUES (?, ?)", (b"x", 1.0))
            archive.insert("INSERT INTO packs (data) VALUES (?)", (b"bytes",))

    with pytest.raises(ServerGone, match="has no room left on its disk; make room there"):
        store()
    assert archive.execute("SELECT count(*) FROM forgotten").fetchone() == (0,)


def test_who_writes_lets_others_wait_and_then_say_so(
    archive: ArchiveConnection, archive_url: str, tmp_path: Path
) -> None:
    with closing(connect_server(ServerAddress(archive_url), str(tmp_path), HEAD, 0.2)) as other, archive.transaction():
        with pytest.raises(ArchiveBusy, match="another machine or program writes"), other.transaction():
            pass
        assert other.execute("SELECT count(*) FROM sessions").fetchone() == (0,)  # reading goes on


def test_a_connection_that_is_cut_is_said_and_the_next_one_works(
    archive: ArchiveConnection, archive_url: str, postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    (number,) = archive.execute("SELECT pg_backend_pid()").fetchone()
    with psycopg.connect(postgresql_server.url_of("postgres"), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (number,))
    with pytest.raises(ServerGone, match="cannot be reached"), archive.transaction():
        archive.execute("SELECT 1")
    archive.close()
    open_at(archive_url, tmp_path).close()


def test_kept_connections_are_used_again_and_replaced_when_the_server_was_away(
    archive_url: str, postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    postgresql.keep_connections()
    numbers = []
    for _ in range(2):
        with closing(open_at(archive_url, tmp_path)) as connection:
            numbers += connection.execute("SELECT pg_backend_pid()").fetchone()
    assert numbers[0] == numbers[1]
    postgresql_server.stop()
    with pytest.raises(ServerGone, match="cannot be reached"):
        open_at(archive_url, tmp_path)
    postgresql_server.start()
    with closing(open_at(archive_url, tmp_path)) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    postgresql.end_keeping()


def test_without_the_driver_the_command_says_what_to_install(tmp_path: Path, archive_url: str) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('No module named psycopg')")
    home = tmp_path / "home"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PREHEAT_HOME": str(home), "PREHEAT_ARCHIVE": archive_url}
    ran = subprocess.run(
        [sys.executable, "-m", "preheat", "sessions", "list"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "preheat: an archive on PostgreSQL needs the driver for it: `pip install 'preheat[postgresql]'`\n"
    )


def test_a_message_with_the_password_in_it_loses_it() -> None:
    address = ServerAddress("postgresql://me:hunter2@here/db")
    said = str(server_errors.explain_server_error(address, psycopg.OperationalError("cannot use hunter2 at here")))
    assert "hunter2" not in said


# Values.
def test_a_text_with_a_nul_is_stored_without_it(archive: ArchiveConnection) -> None:
    archive.execute("INSERT INTO signatures (text) VALUES (?)", ("broken\0pipe",))
    archive.insert_rows("signatures", ("text",), [("another\0one",)])
    rows = archive.execute("SELECT text FROM signatures ORDER BY text").fetchall()
    assert rows == [("another\ufffdone",), ("broken\ufffdpipe",)]
    assert archive.storable_text("broken\0pipe") == "broken\ufffdpipe"


def test_numbers_come_back_as_those_of_a_file(archive: ArchiveConnection) -> None:
    archive.insert_rows("packs", ("id", "data"), [(number, b"\0\xff") for number in range(1, 4)])
    row = archive.execute(
        "SELECT sum(id), avg(id), count(*), (SELECT data FROM packs LIMIT 1), 3221225786 FROM packs"
    ).fetchone()
    assert row == (6, 2.0, 3, b"\0\xff", 3221225786)
    assert [type(value) for value in row] == [int, float, int, bytes, int]


def test_rows_wait_until_something_asks_for_them(archive: ArchiveConnection) -> None:
    with archive.transaction():
        archive.insert_rows("purposes", ("tool", "kind", "activity", "bookkeeping"), [("sh", "shell", "run", False)])
        assert archive.execute("SELECT count(*) FROM packs").fetchone() == (0,)
        assert archive.execute("SELECT tool, bookkeeping FROM purposes").fetchall() == [("sh", False)]
