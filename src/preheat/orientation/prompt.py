"""The telling words of a prompt: without what programs put around it, addresses, and words that say nothing. Any language."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from preheat.terms import split, tokens_of
from preheat.text_cache import cache_short_texts

LONGEST = 20_000
"""Characters of a prompt that are read; of a longer one half from each end."""
_WRAPPED = re.compile(r"\A\s*<([A-Za-z][\w-]{0,40})>.*?</\1>", re.DOTALL)
_ADDRESS = re.compile(r"\b[a-z]{2,9}://\S+")
_EMPTY = frozenset(
    """
    add address branch change check code commit continue create docs explain file fix following go implement issue look merge
    okay plan pr pull push question request review run start task test thing think thought update work
    """.split()  # noqa: SIM905 - a list in this form can be read
)
_SAYS_LITTLE = frozenset(term for word in _EMPTY for term in split(word))
"""Words that come in prompts about anything: alone they do not say where the work is."""


def own_words(prompt: str) -> str:
    """The prompt without blocks in tags that a program put before it, unless nothing else is there."""
    if len(prompt) > LONGEST:
        prompt = f"{prompt[: LONGEST // 2]}\n{prompt[-LONGEST // 2 :]}"
    rest = prompt
    while (found := _WRAPPED.match(rest)) is not None:
        rest = rest[found.end() :]
    return rest if rest.strip() else prompt


@cache_short_texts
def count_terms(text: str) -> Mapping[str, float]:
    """The terms of a text with their weights: more for what comes again."""
    counts = Counter(term for token in tokens_of(_ADDRESS.sub(" ", own_words(text))) for term in split(token))
    return {term: 1 + math.log(number) for term, number in counts.items()}


def is_telling(terms: Mapping[str, float]) -> bool:
    """Whether the terms say anything about where the work is."""
    return any(term not in _SAYS_LITTLE for term in terms)


def find_words(text: str, terms: Iterable[str]) -> list[str]:
    """The words of a text behind these terms, in their order, in lower case; a term that is no word of it is left out."""
    words: dict[str, str] = {}
    for token in tokens_of(own_words(text)):
        parts = split(token)
        if len(parts) == 1:
            words.setdefault(parts[0], token.lower())
    return [words[term] for term in terms if term in words]
