"""Reads the address of a team's database. Knows nothing of connections; a password is refused, for it would be seen by others."""

from urllib.parse import parse_qsl, unquote, urlsplit

from preheat.errors import UserError
from preheat.model.team import TeamAddress

_EXAMPLE = "postgresql://LOGIN@HOST/DATABASE"
_OPTIONS = ("sslmode", "sslrootcert")
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def read_address(text: str) -> TeamAddress:
    """An address, given as `postgresql://LOGIN@HOST:PORT/DATABASE`. Raises UserError, without what could be a password."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port or 5432
        password, user, host = parts.password, unquote(parts.username or ""), parts.hostname or ""
    except ValueError as error:
        raise UserError(f"this is no address of a database; write `{_EXAMPLE}`") from error
    if password is not None:
        raise UserError(
            f"leave the password out of the address, where other programs see it: `{_EXAMPLE}`; "
            "it is asked for, or taken from PGPASSWORD or ~/.pgpass"
        )
    database = unquote(parts.path.lstrip("/"))
    if parts.scheme not in ("postgresql", "postgres") or not (host and user and database) or "/" in database:
        raise UserError(f"this is no address of a team's database; write `{_EXAMPLE}`")
    options = dict(parse_qsl(parts.query))
    if unknown := sorted(options.keys() - set(_OPTIONS)):
        raise UserError(f"`{unknown[0][:40]}` is no option of an address; there are {' and '.join(_OPTIONS)}")
    if options.get("sslmode", "require") not in _SSL_MODES:
        raise UserError(f"`sslmode` is one of {', '.join(_SSL_MODES)}")
    return TeamAddress(host=host, port=port, database=database, user=user, **options)
