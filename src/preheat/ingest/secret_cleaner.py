"""Cleans what is already stored: with today's rules, and of every value that these found elsewhere with more context.

A row or a log may repeat a secret without the name that gives it away. The values are kept in memory only.
"""

from typing import Any

import re2

from preheat.ingest.redact import find_secrets, redact

_LEAST = 10
"""Bytes; a shorter value may stand for itself somewhere else."""
_LONGEST = 512
_MOST = 20_000


class SecretCleaner:
    """Cleans blocks, and remembers the values that it has found in sources."""

    def __init__(self) -> None:
        self._values: dict[bytes, str] = {}
        self._known: Any = None

    def look(self, block: bytes) -> None:
        """Remember the secrets of a block."""
        for span in find_secrets(block):
            value = block[span.start : span.end]
            if _LEAST <= len(value) <= _LONGEST and len(self._values) < _MOST:
                self._values[value] = span.kind
                self._known = None

    def clean(self, block: bytes) -> tuple[bytes, dict[str, int]]:
        """A block without its secrets and without those remembered."""
        block, counts = redact(block)
        if not self._values:
            return block, counts
        if self._known is None:
            options = re2.Options()
            options.max_mem = 256 << 20
            options.longest_match = True
            self._known = re2.compile(b"|".join(map(re2.escape, self._values)), options)
        pieces: list[bytes] = []
        done = 0
        for match in self._known.finditer(block):
            kind = self._values[match[0]]
            counts[kind] = counts.get(kind, 0) + 1
            pieces += (block[done : match.start()], b"[REDACTED:%s]" % kind.encode())
            done = match.end()
        return (b"".join((*pieces, block[done:])) if pieces else block), counts
