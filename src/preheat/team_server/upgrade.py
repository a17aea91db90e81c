"""Makes the team's schema or brings an older one up to date. Loaded only for that: Alembic is slow to import.

Knows nothing of what the tables are for.
"""

from importlib.resources import files

import psycopg
from alembic import command
from alembic.config import Config
from psycopg import sql
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from preheat.team_server.connect import HEAD


def upgrade(connection: psycopg.Connection, keeper: str, revision: str = HEAD) -> None:
    """Make or upgrade the schema on an open connection as its keeper, in one transaction. Raises psycopg.Error."""
    engine = create_engine("postgresql+psycopg://", creator=lambda: connection, poolclass=StaticPool)
    config = Config()
    config.set_main_option("script_location", str(files("preheat.team_server").joinpath("migrations")))
    role = sql.Identifier(keeper).as_string(connection)
    connection.autocommit = False
    try:
        with engine.connect() as opened, opened.begin():
            opened.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS preheat_team AUTHORIZATION {role}")
            opened.exec_driver_sql(f"SET LOCAL ROLE {role}")
            config.attributes["connection"] = opened
            command.upgrade(config, revision)
    except DBAPIError as error:  # as everywhere else, where SQLAlchemy is not used
        raise error.orig or error from error
    finally:
        connection.autocommit = True
