"""Open connections for the commands that do not go through the application object yet. Interim: goes with the last of them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from preheat.app.sessions import opened
from preheat.cli.home import archived


@contextmanager
def archive() -> Iterator[sqlite3.Connection]:
    """The archive, which must be there already."""
    connection = opened(archived().folder)
    try:
        yield connection
    finally:
        connection.close()
