"""Ids as numbers, to store them in less space."""

from hashlib import blake2b


def number_of_id(name: str) -> int:
    """A hash of a long id as a 64-bit number."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
