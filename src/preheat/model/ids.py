"""Ids as numbers."""

from hashlib import blake2b


def number_of(name: str) -> int:
    """A long id as a 64-bit number: a third of the room wherever it is repeated."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
