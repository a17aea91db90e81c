"""Documents that a prompt refers to: a plan, a review, an issue kept as a file. What they say is part of what is asked.

Finds their paths in a prompt and the part of a text that the prompt means. Reads no file.
"""

import re
from collections.abc import Mapping

from preheat.orientation.prompt import count_terms
from preheat.prompt_text import own_words
from preheat.terms import split

MOST_DOCUMENTS = 3
LONGEST_PART = 12_000
"""Characters of a document that count."""
MOST_BYTES = 400_000
"""Of a document that is read."""
_LONGEST_PROMPT = 50_000
_WORD = re.compile(r"[\w./\\+@~:\[\]()-]{4,300}")
_ENDING = re.compile(r"[^/]\.(?:md|mdx|markdown|txt|rst|adoc|org)$")
_KNOWN_TO_ALL = re.compile(
    r"(?i)(?:^|[/\\])(?:claude|agents|gemini|copilot-instructions|readme|changelog|contributing|license|skill|security)\.\w+$"
)
"""What every session may read, about the whole project: naming it says nothing about where the work is."""
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_FEW_WORDS = 2
_HANDING_OVER = frozenset(
    term
    for word in ("attached", "files", "following", "implement", "plan", "proceed", "read", "review", "user")
    for term in split(word)
)
"""Words with which a document is handed over."""
_LEAST_SHARE = 0.5
"""Of the words of a heading that a prompt must have to mean what is below it."""


def find_documents(prompt: str) -> list[str]:
    """The paths of documents in a prompt, as they are written there, in their order; also those that a program attached."""
    words = (_strip(word) for word in _WORD.findall(prompt[:_LONGEST_PROMPT]))
    found = dict.fromkeys(word for word in words if _is_document(word))
    return list(found)[:MOST_DOCUMENTS]


def _strip(word: str) -> str:
    """A word without what stands around a path, with slashes."""
    return word.replace("\\", "/").lstrip("(@").rstrip("().:-").removeprefix("./")


def _is_document(path: str) -> bool:
    return bool(_ENDING.search(path)) and "//" not in path and not _KNOWN_TO_ALL.search(path)


def choose_part(text: str, prompt: str) -> str:
    """The part of a document that a prompt means: the section whose heading it repeats, else the beginning."""
    terms = count_terms(prompt)
    headings = list(_HEADING.finditer(text))
    shares = [_share_of(heading[1], terms) for heading in headings]
    best = max(shares, default=0.0)
    if best < _LEAST_SHARE or shares.count(best) > 1 or len(headings) < 2:
        return text[:LONGEST_PART]
    number = shares.index(best)
    start = headings[number]
    level = len(start[0]) - len(start[0].lstrip("#"))
    end = next(
        (each.start() for each in headings[number + 1 :] if len(each[0]) - len(each[0].lstrip("#")) <= level), len(text)
    )
    return text[start.start() : end][:LONGEST_PART]


def ask_for(prompt: str, part: str) -> str:
    """What is asked with a prompt and a part of a document: a prompt that says next to nothing but the document's name means what
    the document says."""
    rest = _WORD.sub(lambda found: " " if _is_document(_strip(found[0])) else found[0], own_words(prompt))
    if not part or sum(term not in _HANDING_OVER for term in count_terms(rest)) > _FEW_WORDS:
        return prompt
    return f"{rest}\n{part}" if rest.strip() else part


def _share_of(heading: str, terms: Mapping[str, float]) -> float:
    """How much of a heading a prompt has; nothing if only one word is left to compare."""
    words = [term for term in count_terms(heading) if "_" not in term]
    shared = sum(word in terms for word in words)
    return shared / len(words) if shared > 1 else 0.0
