"""Texts made fit for other people: without secrets, names in home folders and e-mail addresses. Knows no file and no page."""

import re

from preheat.ingest.redact import redact

_HOMES = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s\"'`:;,)\]]+|/root(?=/|$)")
_ADDRESSES = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


def redact_for_sharing(text: str) -> str:
    """A text without secrets (by today's rules), without the names in home folders, and without e-mail addresses."""
    if not text.strip():
        return text
    clean = (
        redact(text.encode("utf-8", "replace"))[0].decode("utf-8", "replace") if len(text) >= _LEAST_SECRET else text
    )
    return _ADDRESSES.sub("[address]", _HOMES.sub("~", clean))


_LEAST_SECRET = 8
"""Characters: nothing shorter is a secret, and most texts of a page are shorter."""
