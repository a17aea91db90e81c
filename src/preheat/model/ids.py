"""Ids as numbers and digests. Light: the quick path imports it, and needs no hash most of the time."""


def number_of(name: str) -> int:
    """A long id as a 64-bit number: a third of the room wherever it is repeated."""
    from hashlib import blake2b

    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def digest_of(*names: str) -> bytes:
    """How a forgotten source or session is remembered."""
    from hashlib import sha256

    return sha256("\0".join(names).encode("utf-8", "surrogateescape")).digest()
