"""The archive on a PostgreSQL server. Imported only where one is configured: the driver is an extra.

Behaves as the archive in a file does: one writer at a time, a transaction whole or not at all. Errors of the driver become
those of Preheat here, with the address but never the password. Knows no table but the one that counts changes.
"""

import atexit
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import Any, Literal

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper, StrDumperUnknown
from psycopg_pool import ConnectionPool

from preheat.archive.address import ServerAddress
from preheat.archive.database import Parameters, Rows
from preheat.archive.server_errors import explain_server_error
from preheat.archive.translation import arrange, translate
from preheat.errors import ArchiveUnusable

_WRITER = 0x707265686561_01
"""The advisory lock of who writes: as in SQLite, one at a time."""
_NUL, _REPLACEMENT = "\0", "\ufffd"
_ROWS_AT_ONCE = 50_000


# Values.
class _Number(NumericBinaryLoader):
    """Sums of whole numbers as whole numbers, averages as floats, as SQLite gives them."""

    def load(self, data: Any) -> Any:
        value = super().load(data)
        exponent = value.as_tuple().exponent
        return int(value) if exponent == 0 else float(value)


def replace_nul(text: str) -> str:
    """A text without the one character that PostgreSQL does not keep."""
    return text.replace(_NUL, _REPLACEMENT) if _NUL in text else text


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(replace_nul(obj))


class _BinaryText(StrBinaryDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(replace_nul(obj))


def _make_adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_dumper(str, _BinaryText)
    adapters.register_dumper(str, _Text)
    adapters.register_loader("numeric", _Number)
    return adapters


_ADAPTERS = _make_adapters()
_COLUMN_TYPES: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}
"""By address, table and columns: the types, which COPY needs to know."""


class PostgresqlArchive:
    """A connection to the archive on a server."""

    kind: Literal["postgresql"] = "postgresql"

    def __init__(
        self,
        connection: "psycopg.Connection[Any]",
        address: ServerAddress,
        folder: str,
        release: Callable[["psycopg.Connection[Any]"], None],
        wait: float = 30.0,
    ) -> None:
        self._connection = connection
        self._address = address
        self._release = release
        self._wait = wait
        self._is_closed = False
        self._waiting: dict[tuple[str, tuple[str, ...]], list[Sequence[Any]]] = {}
        """Rows that are not sent yet, by table and columns: many small inserts become one COPY."""
        self.folder = folder
        self.path = address.shown
        self.read_only = False

    # Statements.
    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        translated = translate(statement)
        self._send_rows(translated.tables if translated.reads_only else None)
        return self._run(translated.text, arrange(translated, parameters))

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> Rows:
        translated = translate(statement)
        self._send_rows(None)
        cursor = self._connection.cursor(binary=True)
        with self._explaining():
            cursor.executemany(translated.text, [arrange(translated, each) for each in parameters])
        return cursor

    def insert(self, statement: str, parameters: Parameters, /) -> int:
        translated = translate(f"{statement} RETURNING id")
        row = self._run(translated.text, arrange(translated, parameters)).fetchone()
        return int(row[0])

    def insert_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        waiting = self._waiting.setdefault((table, tuple(columns)), [])
        waiting.extend(rows)
        if not self.in_transaction or len(waiting) >= _ROWS_AT_ONCE:
            self._send_rows(None)

    def _send_rows(self, tables: frozenset[str] | None) -> None:
        """Send the rows that wait, in the order in which their tables came; only if one is of these tables, if some are named."""
        if not self._waiting or (tables is not None and not any(table in tables for table, _ in self._waiting)):
            return
        waiting, self._waiting = self._waiting, {}
        for (table, columns), rows in waiting.items():
            if rows:
                self._copy(table, columns, rows)

    def _copy(self, table: str, columns: tuple[str, ...], rows: list[Sequence[Any]]) -> None:
        types = self._find_types(table, columns)
        names = ", ".join(f'"{name}"' for name in columns)
        cursor = self._connection.cursor()
        with self._explaining(), cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def _find_types(self, table: str, columns: tuple[str, ...]) -> list[int]:
        key = (self._address.url, table, columns)
        if key not in _COLUMN_TYPES:
            rows = self._run(
                "SELECT attname, atttypid FROM pg_attribute WHERE attrelid = CAST($1 AS regclass) AND attnum > 0",
                [table],
            )
            types = dict(rows.fetchall())
            _COLUMN_TYPES[key] = [int(types[name]) for name in columns]
        return _COLUMN_TYPES[key]

    def _run(self, text: str, values: list[Any]) -> Rows:
        with self._explaining():
            return self._connection.cursor(binary=True).execute(text, values)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise explain_server_error(self._address, error, self._connection.broken) from error

    # Transactions.
    @property
    def in_transaction(self) -> bool:
        return self._connection.info.transaction_status != TransactionStatus.IDLE

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._in_transaction("BEGIN"):
            self._run(f"SET LOCAL lock_timeout = {int(self._wait * 1000)}", [])
            self._run("SELECT pg_advisory_xact_lock($1)", [_WRITER])
            yield
            self._send_rows(None)
            self._run("UPDATE archive_changes SET number = number + 1", [])

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._in_transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield

    @contextmanager
    def _in_transaction(self, begin: str) -> Iterator[None]:
        self._run(begin, [])
        try:
            yield
            self._run("COMMIT", [])
        except BaseException:
            self._waiting.clear()
            with suppress(psycopg.Error):  # a lost connection has nothing to roll back
                self._connection.rollback()
            raise

    # What each database does in its own way.
    def storable_text(self, text: str) -> str:
        return replace_nul(text)

    def begin_secure_deletion(self) -> None:
        """Nothing: `overwrite_free_pages` writes the tables anew."""

    def overwrite_free_pages(self) -> None:
        tables = self._run(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tableowner = current_user", []
        ).fetchall()
        self._run("SET statement_timeout = 0", [])
        try:
            for (table,) in tables:
                self._run(f'VACUUM (FULL, ANALYZE) "{table}"', [])
        finally:
            self._run("RESET statement_timeout", [])

    def find_damage(self) -> list[str]:
        return []

    def size(self) -> int:
        return int(self._run("SELECT pg_database_size(current_database())", []).fetchone()[0])

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._waiting.clear()
            self._release(self._connection)


# Connections.
_POOLS: dict[ServerAddress, Any] = {}
_POOL_LOCK = Lock()
_is_pooling = False
atexit.register(lambda: end_keeping())  # threads of a pool would keep the process


def keep_connections() -> None:
    """From now on connections of this process are kept for the next question: for a program that answers many."""
    global _is_pooling
    _is_pooling = True


def is_keeping() -> bool:
    """Whether this process keeps connections."""
    return _is_pooling


def end_keeping() -> None:
    """Close the connections that were kept, and keep no more."""
    global _is_pooling
    _is_pooling = False
    with _POOL_LOCK:
        while _POOLS:
            _POOLS.popitem()[1].close()


def open_server(address: ServerAddress, folder: str, wait: float) -> PostgresqlArchive:
    """A connection to a server; nothing is known of what is in its database. Raises ServerGone and ArchiveUnusable."""
    try:
        if not _is_pooling:
            return PostgresqlArchive(_connect(address), address, folder, _close, wait)
        pool = _find_pool(address)
        connection = pool.getconn(timeout=address.connect_seconds)
        return PostgresqlArchive(connection, address, folder, partial(_return, pool), wait)
    except psycopg.Error as error:
        raise explain_server_error(address, error, is_broken=True) from error
    except UnicodeError as error:
        raise ArchiveUnusable(f"`{address.shown}` is no address of a PostgreSQL database") from error


def connection_options(address: ServerAddress) -> Mapping[str, Any]:
    """What every connection to the server is made with."""
    return {
        "connect_timeout": max(2, int(address.connect_seconds)),
        "application_name": "preheat",
        "options": f"-c statement_timeout={int(address.statement_seconds * 1000)} -c client_min_messages=warning -c jit=off",
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": int(address.statement_seconds * 1000),
    }


def _connect(address: ServerAddress) -> "psycopg.Connection[Any]":
    return psycopg.connect(
        address.url,
        autocommit=True,
        cursor_factory=psycopg.RawCursor,
        context=_Context(),
        **connection_options(address),
    )


class _Context:
    """What psycopg takes its adapters from."""

    adapters = _ADAPTERS
    connection = None


def _close(connection: "psycopg.Connection[Any]") -> None:
    with suppress(psycopg.Error):
        connection.close()


def _return(pool: Any, connection: "psycopg.Connection[Any]") -> None:
    pool.putconn(connection)


def _find_pool(address: ServerAddress) -> Any:
    with _POOL_LOCK:
        if address not in _POOLS:
            pool = ConnectionPool(
                address.url,
                kwargs={
                    "autocommit": True,
                    "cursor_factory": psycopg.RawCursor,
                    "context": _Context(),
                    **connection_options(address),
                },
                min_size=0,
                max_size=8,
                max_idle=60.0,
                timeout=address.connect_seconds,
                reconnect_timeout=address.connect_seconds,
                check=ConnectionPool.check_connection,
                open=True,
            )
            _POOLS[address] = pool
        return _POOLS[address]
