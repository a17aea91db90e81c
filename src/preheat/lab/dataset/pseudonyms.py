"""Pseudonyms: the same thing has the same one throughout an export, and another one in the next. Knows no text.

Keyed by a salt that is not in the export: without it nobody can try out names until one fits. Made of consonants only, so
that none reads as a word, a number or a hash.
"""

from hashlib import blake2b
from typing import Literal, TypeAlias, get_args

Sort: TypeAlias = Literal[
    "secret", "url", "email", "path", "file", "host", "ip", "person", "name", "repository", "project", "session", "id",
    "phone", "number", "handle", "ticket", "date", "lesson", "template", "text",
]  # fmt: skip
"""What a pseudonym stands for."""
SORTS: tuple[Sort, ...] = get_args(Sort)

LETTERS = "bcdfghjklmnpqrst"
LENGTH = 10
LEAST_SALT = 16
"""Bytes; a shorter one could be guessed."""


class Pseudonyms:
    """Gives names in the place of names."""

    def __init__(self, salt: bytes) -> None:
        self._key = blake2b(salt, digest_size=32).digest()

    def pseudonym(self, sort: Sort, value: str) -> str:
        """`path-bcdfghjklm`."""
        subject = f"{sort}\0{value}".encode("utf-8", "surrogatepass")
        digest = blake2b(subject, key=self._key, digest_size=LENGTH // 2).digest()
        letters = "".join(LETTERS[byte >> 4] + LETTERS[byte & 15] for byte in digest)
        return f"{sort}-{letters}"
