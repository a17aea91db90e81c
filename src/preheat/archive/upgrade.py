"""Creates an archive or upgrades an older one. Loaded only when that is needed: Alembic is slow to import.

Knows nothing of what the tables are for.
"""

import io
import os
import sqlite3
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.util.exc import CommandError
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from preheat.archive.schema import METADATA
from preheat.errors import ArchiveDamaged, ArchiveUnusable

_DIALECTS_OWN = ("passages_index", "archive_changes")
"""Tables that each database has in its own way, or only one has."""


def upgrade(path: str) -> None:
    """Upgrade the archive at `path` to this version, in one transaction. Raises sqlite3.DatabaseError, as all of the archive."""
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path), poolclass=NullPool)
    # The driver would commit before every CREATE, so BEGIN is issued here.
    event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout = 30000")
            connection.rollback()
            _prepare_file(path)
            with connection.begin():
                _run_migrations(connection, os.path.dirname(path))
    except DBAPIError as error:  # as everywhere else, where SQLAlchemy is not used
        raise error.orig or error from error
    except CommandError as error:
        raise ArchiveDamaged(f"the version of its tables is lost: {error}", path) from error
    finally:
        engine.dispose()


def upgrade_server(open_connection: Callable[[], Any], folder: str, lock: int, revision: str = "head") -> None:
    """Create or upgrade the tables on a server, in one transaction and one machine at a time. Raises errors of the driver and
    ArchiveUnusable."""
    engine = create_engine("postgresql+psycopg://", creator=open_connection, poolclass=NullPool)
    try:
        with engine.connect() as connection, connection.begin():
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({lock})")
            _run_migrations(connection, folder, revision)
    except DBAPIError as error:
        raise error.orig or error from error
    except CommandError as error:
        raise ArchiveUnusable(f"the database is no archive of Preheat: {error}") from error
    finally:
        engine.dispose()


def _run_migrations(connection: Connection, folder: str, revision: str = "head") -> None:
    config = _config()
    config.attributes["connection"] = connection
    config.attributes["folder"] = folder
    command.upgrade(config, revision)


def _prepare_file(path: str) -> None:
    """Set what must be set before the first table is made: large pages for large blobs, and write-ahead logging."""
    if os.path.exists(path) and os.path.getsize(path):
        return
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA page_size = 8192")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise ArchiveUnusable(f"`{path}` is on a file system without write-ahead logs; set PREHEAT_HOME elsewhere")
    finally:
        connection.close()


def render_sql(dialect: str) -> str:
    """The migrations as SQL text for another database."""
    config = _config()
    config.set_main_option("dialect", dialect)
    config.output_buffer = io.StringIO()
    command.upgrade(config, "head", sql=True)
    return config.output_buffer.getvalue()


def compare_with_schema(connection: Connection) -> list[object]:
    """How the tables differ from the schema; for tests."""
    context = MigrationContext.configure(
        connection,
        opts={"include_name": lambda name, kind, _: kind != "table" or not str(name).startswith(_DIALECTS_OWN)},
    )
    return list(compare_metadata(context, METADATA))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("preheat.archive").joinpath("migrations")))
    return config
