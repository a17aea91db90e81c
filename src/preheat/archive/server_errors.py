"""What an error of a PostgreSQL server means, in a line that says what to do. The address is shown without its password.

Knows nothing of what was asked.
"""

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout, TooManyRequests

from preheat.archive.address import ServerAddress
from preheat.errors import ArchiveBusy, ArchiveUnusable, ServerGone

_LONGEST = 200
_GONE = ("08", "57P")
"""How the codes of lost connections and of a server that is stopped begin."""


def explain_server_error(
    address: ServerAddress, error: psycopg.Error, is_broken: bool = False
) -> ArchiveBusy | ArchiveUnusable:
    """The exception that tells a person what an error of the server means and what to do."""
    place, code = f"`{address.shown}`", error.sqlstate or ""
    said = _first_line(address, error)
    if code == "57014":
        return ServerGone(
            f"{place} took longer than {address.statement_seconds:.0f} s; try again when it has less to do, or raise "
            "`statement_seconds` below `[archive]` in settings.toml"
        )
    if code in ("53100", "53200"):
        what = "has no room left on its disk" if code == "53100" else "has no memory left"
        return ServerGone(f"{place} {what}; make room there, then run `preheat sync` again")
    if code in ("55P03", "40P01", "40001"):
        return ArchiveBusy(f"another machine or program writes to {place}; try again when it is done")
    if code in ("42501", "25006"):
        return ArchiveUnusable(f"{place} may not be written by this user ({said}); ask its administrator for the right")
    if refused := _explain_refusal(place, code, said):
        return refused
    if is_broken or code.startswith(_GONE) or code == "53300" or isinstance(error, PoolTimeout | TooManyRequests):
        return ServerGone(f"{place} cannot be reached ({said}); start the server, or look at the network")
    return ArchiveUnusable(f"{place}: {said}")


def _explain_refusal(place: str, code: str, said: str) -> ArchiveUnusable | None:
    """Why the server let nobody in. While it connects the driver gives no code, so that its words have to do."""
    if code in ("28P01", "28000") or "authentication failed" in said or "no password supplied" in said:
        return ArchiveUnusable(
            f"{place} refuses this user or password; correct it in the address, or in ~/.pgpass (see the guide)"
        )
    if code == "3D000" or ("database" in said and "does not exist" in said):
        return ArchiveUnusable(f"{place} does not exist on the server; make it with `createdb`")
    if "invalid connection option" in said or "invalid URI" in said or "invalid port" in said or 'missing "="' in said:
        return ArchiveUnusable(f"{place} is no address of a PostgreSQL database ({said})")
    return None


def _first_line(address: ServerAddress, error: psycopg.Error) -> str:
    text = error.diag.message_primary or str(error)
    line = next((each.strip() for each in text.splitlines() if each.strip()), type(error).__name__)
    for password in _find_passwords(address.url):
        line = line.replace(password, "***")
    return line.removeprefix("connection failed: ")[:_LONGEST]


def _find_passwords(url: str) -> set[str]:
    """The password as it stands in an address, and as it is meant."""
    written = url.partition("://")[2].partition("?")[0].rpartition("@")[0].partition(":")[2]
    try:
        meant = conninfo_to_dict(url).get("password")
    except psycopg.Error:  # no address: what libpq says of it may quote it
        meant = None
    return {str(each) for each in (written, meant) if each}
