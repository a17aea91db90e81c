"""What a prompt names and asks for, as an index can look it up: terms, keys of symbols, and paths. Knows no index."""

import re
from collections import Counter
from typing import NamedTuple

from preheat.prompt_text import own_words, without_addresses
from preheat.terms import key_of, split, symbol_key, tokens_of

_MOST_TERMS = 500
_MOST_KEYS = 400
_MOST_MENTIONS = 200
_LONGEST_RUN = 4
"""Words in a row that may be the name of one symbol."""
_MENTION = re.compile(r"[\w@~.+$\[\]()/\\-]{2,300}")
_CODE = re.compile(r"`([^`\n]{2,80})`|\b(\w*[a-z0-9][A-Z_]\w*|\w+_\w+)\b")


class PromptParts(NamedTuple):
    """What a prompt has for an index."""

    terms: dict[str, int]
    """Terms and how often they come, the most frequent first."""
    words: dict[str, str]
    """The word of the prompt behind each term."""
    identifiers: frozenset[str]
    """Words as they are written."""
    keys: tuple[str, ...]
    """Terms of symbols that the prompt may mean."""
    mentions: tuple[str, ...]
    """What looks like the path or the name of a file, with slashes."""
    stems: frozenset[str]
    """Names in code, in lower case, that may be those of files without their ending."""


def read_prompt(prompt: str) -> PromptParts:
    """Take a prompt apart; of a very long one its beginning and its end."""
    prompt = own_words(prompt)
    tokens = tokens_of(without_addresses(prompt))
    counts: Counter[str] = Counter()
    words: dict[str, str] = {}
    for token, number in Counter(tokens).items():
        for term in split(token):
            counts[term] += number
            words.setdefault(term, token)
    stems = {(quoted or name).strip().lower() for quoted, name in _CODE.findall(prompt)}
    return PromptParts(
        dict(counts.most_common(_MOST_TERMS)),
        words,
        frozenset(tokens),
        _symbol_keys(tokens),
        _find_mentions(prompt),
        frozenset(sorted(stems)[:_MOST_MENTIONS]),
    )


def _find_mentions(prompt: str) -> tuple[str, ...]:
    """What looks like a path or a name of a file: as it stands, and without brackets around it."""
    found: dict[str, None] = {}
    for text in _MENTION.findall(prompt):
        path = text.replace("\\", "/").rstrip(".").removeprefix("@").removeprefix("./")
        for each in (path, path.strip("()[]").rstrip(".").removeprefix("./")):
            if ("." in each or "/" in each) and len(found) < _MOST_MENTIONS:
                found[each] = None
    return tuple(found)


def _symbol_keys(tokens: list[str]) -> tuple[str, ...]:
    """The keys of single words, and of words in a row without the common ones between them."""
    keys: dict[str, None] = {}
    for token in tokens:
        if split(token):
            keys[symbol_key(token)] = None
    telling = [parts[0] for token in tokens if len(parts := split(token)) == 1]
    for length in range(2, _LONGEST_RUN + 1):
        for at in range(len(telling) - length + 1):
            if len(keys) >= _MOST_KEYS:
                return tuple(keys)
            keys[key_of(telling[at : at + length])] = None
    return tuple(keys)[:_MOST_KEYS]
