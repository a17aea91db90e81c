"""The telling words of a prompt: without what programs put around it, addresses, and words that say nothing. Any language."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from preheat.prompt_text import own_words, without_addresses
from preheat.terms import split, stem, tokens_of
from preheat.text_cache import cache_short_texts

_EMPTY = frozenset(
    """
    add address branch change check code commit continue create docs explain file fix following go implement issue look merge
    okay plan pr pull push question request review run start task test thing think thought update work
    """.split()  # noqa: SIM905 - a list in this form can be read
)
_SAYS_LITTLE = frozenset(term for word in _EMPTY for term in split(word))
"""Words that come in prompts about anything: alone they do not say where the work is."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_BRANCH_WEIGHT = 0.5
"""What a word of the branch's name weighs beside one of the prompt."""


@cache_short_texts
def count_terms(text: str) -> Mapping[str, float]:
    """The terms of a text with their weights: more for what comes again."""
    counts = Counter(term for token in tokens_of(without_addresses(own_words(text))) for term in split(token))
    return {term: 1 + math.log(number) for term, number in counts.items()}


def is_telling(terms: Mapping[str, float]) -> bool:
    """Whether the terms say anything about where the work is."""
    return any(term not in _SAYS_LITTLE for term in terms)


def pairs_of(text: str) -> list[tuple[str, str]]:
    """The words of a text that follow each other, two by two: `default_branch` and "the default branch" have a pair in common,
    although each word alone says little."""
    words = [stem(part.lower()) for part in _PART.findall(text)]
    return list(pairwise(words))


@cache_short_texts
def find_runs(prompt: str) -> frozenset[tuple[str, str]]:
    """The pairs of a prompt in the person's own words."""
    return frozenset(pairs_of(without_addresses(own_words(prompt))))


def find_words(text: str, terms: Iterable[str]) -> list[str]:
    """The words of a text behind these terms, in their order, in lower case; a term that is no word of it is left out."""
    words: dict[str, str] = {}
    for token in tokens_of(own_words(text)):
        parts = split(token)
        if len(parts) == 1:
            words.setdefault(parts[0], token.lower())
    return [words[term] for term in terms if term in words]


MAIN_BRANCHES = frozenset(["", "main", "master", "trunk", "develop", "dev", "next", "HEAD"])
"""Branches that everybody works on: their names say nothing about a piece of work."""


def branch_words(branch: str) -> str:
    """What the name of a branch says about the work on it: `fix/empty-invoices` is about empty invoices."""
    if branch in MAIN_BRANCHES:
        return ""
    kind, slash, rest = branch.partition("/")
    return " ".join(word for word in re.split(r"[/_-]+", rest if slash else kind) if not word.isdigit())


def with_branch(terms: Mapping[str, float], branch: str) -> Mapping[str, float]:
    """Terms of a prompt with those of the branch's name, which count less."""
    return {**dict.fromkeys(count_terms(branch_words(branch)), _BRANCH_WEIGHT), **terms}
