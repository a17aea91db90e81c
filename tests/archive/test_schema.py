"""The tables of the archive: the migrations build the schema, on SQLite and as SQL for PostgreSQL."""

import os
import sqlite3
from typing import Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from preheat.archive import migrations, schema, writer
from preheat.archive.connect import HEAD, connect
from preheat.archive.upgrade import compare_with_schema, render_sql
from preheat.errors import ArchiveDamaged
from preheat.model.outcome import FAILURES, STATUSES


def test_the_migrations_build_the_schema(tmp_path: Any) -> None:
    connect(str(tmp_path)).close()
    engine = create_engine(f"sqlite:///{tmp_path}/archive.db")
    with engine.connect() as connection:
        assert compare_with_schema(connection) == []
    engine.dispose()


def test_the_newest_migration_is_the_expected_version() -> None:
    config = Config()
    config.set_main_option("script_location", os.path.dirname(migrations.__file__))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_the_migrations_render_for_postgresql() -> None:
    """Including search."""
    sql = render_sql("postgresql")
    for table in schema.METADATA.tables:
        assert f"CREATE TABLE {table} " in sql
    assert "USING gin" in sql
    assert "fts5" not in sql


def test_the_writer_fills_every_column_of_a_session() -> None:
    columns = {column.name for column in schema.SESSIONS.columns} - {"id"}
    assert columns == {*writer._SESSION_COLUMNS, *writer._TOKENS}


def test_the_writers_status_numbers_are_those_of_the_model() -> None:
    assert ", ".join(str(place) for place, status in enumerate(STATUSES) if status in FAILURES) == writer._FAILED
    assert STATUSES[int(writer._UNKNOWN)] == "unknown"


def test_an_archive_is_created_completely_or_not_at_all(tmp_path: Any) -> None:
    """Leftovers of killed processes are ignored."""
    with open(tmp_path / "archive.db.new-1-1", "wb") as stream:
        stream.write(b"half")
    connection = connect(str(tmp_path))
    assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    connection.close()


def test_an_empty_file_or_another_database_is_never_made_an_archive(tmp_path: Any) -> None:
    """An archive appears complete or not at all: an empty file is one whose bytes were lost."""
    (tmp_path / "archive.db").touch()
    with pytest.raises(ArchiveDamaged, match="it is empty"):
        connect(str(tmp_path))
    other = sqlite3.connect(tmp_path / "archive.db")
    other.execute("CREATE TABLE theirs (id)")
    other.close()
    with pytest.raises(ArchiveDamaged, match="no archive of Preheat"):
        connect(str(tmp_path))
