"""The words that identify an error, without the names in it. Knows no call and no session.

Of a long message the first eight words and the last three: what stands between them names what was worked on.
"""

import re

_FIRST, _LAST = 8, 3
MASK = re.compile(r"\b(?:URL|PATH|HASH|N)\b|<[^<>]{0,40}>")
"""What `outcomes.signature` puts in the place of what differs from one time to the next."""
_WORD = re.compile(r"[^\W\d_]+")


def telling_words(signature: str) -> tuple[str, ...]:
    """The words that a mistake is known by; none of a signature that has nothing but masks."""
    words = _WORD.findall(MASK.sub(" ", signature).lower())
    return tuple(words) if len(words) <= _FIRST + _LAST else (*words[:_FIRST], "…", *words[-_LAST:])
