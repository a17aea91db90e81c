"""The words of texts: those that identify an error, those of any text, and the one line that summarises a call. Knows no call."""

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec

_FIRST, _LAST = 8, 3
MASK = re.compile(r"\b(?:URL|PATH|HASH|N)\b|<[^<>]{0,40}>")
"""What `outcomes.verdict.signature` puts in the place of what differs from one time to the next."""
_WORD = re.compile(r"[^\W\d_]+")


def telling_words(signature: str) -> tuple[str, ...]:
    """The words that a mistake is known by; none of a signature that has nothing but masks."""
    words = _WORD.findall(MASK.sub(" ", signature).lower())
    return tuple(words) if len(words) <= _FIRST + _LAST else (*words[:_FIRST], "…", *words[-_LAST:])


KEY_MARK = "#"
"""Begins the digest of an error's words, where lessons are shared without the words."""


def words_key(signature: str) -> str:
    """A digest of the words that a mistake is known by; empty without words."""
    return digest_words(" ".join(telling_words(signature)))


@lru_cache(maxsize=1024)
def digest_words(words: str) -> str:
    """The digest of telling words that stand in one text; empty of none."""
    return f"{KEY_MARK}{blake2b(words[:300].encode('utf-8', 'replace'), digest_size=6).hexdigest()}" if words else ""


# The words that a text is about, in their order
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


# The argument that says most about a call, on one line
LONGEST_SUMMARY = 300

_TELLING = (
    "command", "cmd", "commands", "script", "code", "file_path", "filePath", "path", "notebook_path", "target_file",
    "pattern", "query", "url", "regex", "action", "input", "patch", "text", "prompt", "description", "goal", "name",
)  # fmt: skip
"""In order of what they tell."""


def summarise(arguments: dict[str, Any]) -> str:
    """The argument that tells most about a call, on one line."""
    for name in _TELLING:
        value = arguments.get(name)
        if value:
            text = value if isinstance(value, str) else flatten(value)
            break
    else:
        text = flatten(arguments) if arguments else ""
    return " ".join(text[: 4 * LONGEST_SUMMARY].split())


def flatten(value: Any) -> str:
    """Any value as a text."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        if len(value) == 3 and value[1] in ("-c", "-lc"):  # a shell and its script
            return str(value[2])
        return " ".join(value)
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError, RecursionError):
        return str(value)
