"""Digests of forgotten sources and sessions, by which they are recognised. Light: the quick path of a sync imports it."""


def forgotten_digest(*names: str) -> bytes:
    """The digest of a source (path and part) or of a session (key)."""
    from hashlib import sha256  # noqa: PLC0415 - the quick path needs no hash most of the time

    return sha256("\0".join(names).encode("utf-8", "surrogateescape")).digest()
