"""Opens the team's database, checks the version of its tables, and says in one line what an error of the server means.

Knows nothing of the tables but the one that holds the version. No message has a password in it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from preheat.errors import UserError
from preheat.model.team import TeamAddress

HEAD = "0002"
"""The newest migration; a test checks that."""
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 120
LOCK_SECONDS = 30
_LOCAL = ("localhost", "127.0.0.1", "::1")
NOT_LOST = "nothing is lost: what was not sent is sent by the next `preheat team push`"


class TeamUnreachable(UserError):  # noqa: N818 - reads as a sentence where it is raised
    """The team's server is away, too slow, or does not let us in: what was to be sent waits."""


@contextmanager
def connect(address: TeamAddress, password: str, seconds: int = CONNECT_SECONDS) -> Iterator[psycopg.Connection]:
    """A connection to a team's database, whose tables are of this version. Errors inside are raised as UserError."""
    with open_server(address, password, seconds) as connection:
        require_version(connection)
        yield connection


@contextmanager
def open_server(address: TeamAddress, password: str, seconds: int = CONNECT_SECONDS) -> Iterator[psycopg.Connection]:
    """A connection to a database, whether it has a team or not. An empty password is taken from PGPASSWORD or ~/.pgpass."""
    try:
        # Over a network nothing is sent in the clear, unless the address says so.
        sslmode = address.sslmode or os.environ.get("PGSSLMODE") or ("prefer" if address.host in _LOCAL else "require")
        connection = psycopg.connect(
            host=address.host, port=address.port, dbname=address.database, user=address.user, password=password or None,
            sslmode=sslmode, sslrootcert=address.sslrootcert or None, connect_timeout=seconds,
            application_name="preheat team", client_encoding="utf8", autocommit=True,
            keepalives_idle=30, keepalives_interval=10, keepalives_count=3, tcp_user_timeout=30_000,
            # Names are always given with their schema, so nothing that somebody made elsewhere is called.
            options=f"-c search_path=pg_catalog -c statement_timeout={STATEMENT_SECONDS}s -c lock_timeout={LOCK_SECONDS}s "
            f"-c idle_in_transaction_session_timeout={STATEMENT_SECONDS}s",
        )  # fmt: skip
    except (psycopg.Error, ValueError) as error:
        raise _explain_connecting(address, error) from error
    try:
        yield connection
    except psycopg.Error as error:
        raise explain_error(address, error) from error
    finally:
        connection.close()


def find_time(connection: psycopg.Connection) -> float:
    """The server's clock, which orders what machines with different ones do."""
    row = connection.execute("SELECT extract(epoch FROM now())::float8").fetchone()
    return float(row[0]) if row else 0.0


def find_version(connection: psycopg.Connection) -> str:
    """The version of the team's tables; empty if there is no team in this database, or none that we may see."""
    if connection.execute("SELECT to_regnamespace('preheat_team')").fetchone() == (None,):
        return ""
    try:
        row = connection.execute("SELECT version_num FROM preheat_team.alembic_version").fetchone()
    except errors.UndefinedTable:
        return ""
    return str(row[0]) if row else ""


def require_version(connection: psycopg.Connection) -> None:
    """Raise UserError unless the team's tables are of this version."""
    version = find_version(connection)
    if not version:
        raise UserError("there is no team in this database; its owner runs `preheat team init` first")
    if version > HEAD:
        raise UserError(
            f"the team's tables are of a newer Preheat (version {version}, this one knows {HEAD}); update this one"
        )
    if version < HEAD:
        raise UserError(
            f"the team's tables are of an older Preheat (version {version}, this one needs {HEAD}); "
            "the team's owner runs `preheat team init` once more"
        )


def _explain_connecting(address: TeamAddress, error: Exception) -> UserError:
    text = " ".join(str(error).split())
    place = f"`{address.host}:{address.port}`"
    if "password authentication failed" in text or "no password supplied" in text:
        return TeamUnreachable(
            f"{place} does not take the password of `{address.user}`; `preheat team join {address}` asks for it again"
        )
    if "is not permitted to log in" in text:
        return TeamUnreachable(f"`{address.user}` may no longer log in at {place}; ask the team's owner")
    if "does not exist" in text and address.database in text:
        return TeamUnreachable(f"there is no database `{address.database}` at {place}; check the address")
    if "too many" in text or "remaining connection slots" in text:
        return TeamUnreachable(f"{place} has too many connections now; {NOT_LOST}")
    if "SSL" in text and "server does not support" in text:
        return TeamUnreachable(
            f"{place} does not encrypt; have its administrator set up TLS, or add `?sslmode=disable` to the address if the "
            "network is your own"
        )
    if "timeout" in text or "timed out" in text:
        return TeamUnreachable(f"{place} did not answer within {CONNECT_SECONDS} s; {NOT_LOST}")
    reason = (str(error).splitlines() or [""])[0].rpartition("failed: ")[2][:200]
    return TeamUnreachable(f"{place} cannot be reached ({reason}); {NOT_LOST}")


_REFUSALS = {
    "PH001": "the owner of a team cannot leave it; `preheat team remove NAME` removes the others",
    "PH002": "reviews are only ever added to; a new one outweighs an earlier one",
    "PH003": "no such lesson is proposed any more; `preheat team lessons` shows those that are",
    "PH004": "you proposed this lesson yourself, and so far nobody else did: another reviewer approves it",
}
"""What the functions of the schema refuse, by their code."""


def explain_error(address: TeamAddress, error: psycopg.Error) -> UserError:
    """The error that tells a person what an error of the server means and what to do."""
    place = f"`{address.host}:{address.port}`"
    if error.sqlstate in _REFUSALS:
        return UserError(_REFUSALS[error.sqlstate])
    if isinstance(error, errors.InsufficientPrivilege):
        return UserError(
            f"`{address.user}` may not do that in this team, or is no longer in it; `preheat team status` says who you are"
        )
    if isinstance(error, errors.DiskFull | errors.OutOfMemory | errors.InsufficientResources):
        return TeamUnreachable(f"the disk of {place} is full, says the server; tell its administrator; {NOT_LOST}")
    if isinstance(error, errors.QueryCanceled | errors.LockNotAvailable):
        return TeamUnreachable(f"{place} is too slow now, or another push of yours is at work; {NOT_LOST}")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return TeamUnreachable(f"{place} takes nothing now: it is read-only; {NOT_LOST}")
    if isinstance(error, psycopg.OperationalError):
        return TeamUnreachable(f"{place} went away in the middle; {NOT_LOST}")
    return UserError(f"{place} refused it ({' '.join(str(error).split())[:200]}); {NOT_LOST}")
