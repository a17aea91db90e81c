"""Makes messages of the same failure equal: numbers, paths, hashes and quotes are masked. Knows nothing of what they mean."""

import re
from functools import lru_cache

LONGEST = 160
_ENDINGS = "py|go|ts|tsx|js|jsx|mjs|rs|java|rb|php|c|h|cpp|md|json|toml|yaml|yml|txt|sh|html|css|sql|lock"
_MASKED: tuple[tuple[str, str], ...] = (
    ("", r"\x1b\[[0-9;?]*[A-Za-z]|</?\w[\w-]*>"),
    ("URL", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"`<>)]+"),
    ("…", r"'[^'\n]{1,300}'(?!\w)|\"[^\"\n]{1,300}\"|`[^`\n]{1,300}`"),
    ("PATH", r"(?<![\w.])(?:[A-Za-z]:)?(?:[~.]{0,2}[/\\])?(?:[\w.@+-]+[/\\])+[\w.@+-]*|(?<!\w)[~.]{0,2}/[\w.@+-]+"),
    ("PATH", rf"\b[\w-]+\.(?:{_ENDINGS})\b"),
    ("HASH", r"\b(?=[0-9A-Fa-f-]*\d)(?=[0-9A-Fa-f-]*[A-Fa-f])[0-9A-Fa-f]{7,64}(?:-[0-9A-Fa-f]{4,12})*\b"),
    ("N", r"\d+(?:[.,:]\d+)*"),
)
"""What is put in the place of what; of two that fit at the same place, the first."""
_MASK = re.compile("|".join(f"({form})" for _, form in _MASKED))


@lru_cache(maxsize=4096)
def signature(message: str) -> str:
    """The message with everything masked that differs from one time to the next."""
    text = _MASK.sub(lambda found: _MASKED[(found.lastindex or 1) - 1][0], message[: 4 * LONGEST])
    return " ".join(text.split()).strip(" .:")[:LONGEST]
