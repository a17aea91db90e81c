"""The words that a text is about, in their order: small letters, names of code taken apart. Knows no session."""

import re
from collections.abc import Iterator

_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_COMMON = frozenset(
    [
        "a", "about", "after", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
        "been", "but", "by", "can", "could", "did", "do", "does", "done", "each", "every", "for", "from", "get",
        "go", "had", "has", "have", "help", "here", "how", "i", "if", "in", "into", "is", "it", "its", "just",
        "let", "like", "look", "make", "me", "more", "most", "must", "my", "need", "new", "no", "not", "now", "of",
        "off", "ok", "on", "one", "only", "or", "other", "our", "out", "over", "please", "put", "see", "set",
        "shall", "she", "should", "so", "some", "such", "take", "than", "thank", "thanks", "that", "the", "their",
        "them", "then", "there", "these", "they", "this", "those", "to", "too", "try", "up", "us", "use", "used",
        "using", "want", "was", "we", "well", "were", "what", "when", "where", "which", "while", "who", "why",
        "will", "with", "would", "you", "your", "yes",
    ]
)  # fmt: skip


def words_in(text: str) -> Iterator[str]:
    """The words of a text without the common ones, repeated ones too: of `parseUserName` its parts and the whole."""
    for run in _RUN.findall(text):
        parts = _PART.findall(run)
        for part in (*parts, run) if len(parts) > 1 else (run,):
            word = part.lower()
            if word not in _COMMON and (len(word) > 1 or not word.isascii()):
                yield word
