"""Which files changed together, and for what: the newest commits, bounded in number, age and size. Knows no index."""

import heapq
import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from preheat.prompt_text import without_addresses
from preheat.terms import split, tokens_of
from preheat.tree.contents import may_be_named
from preheat.tree.git import Repository, ask, read_git

MOST_COMMITS = 1000
MOST_DAYS = 90
MOST_FILES = 30
"""Files of a commit; a larger one renames or formats, and says nothing about what belongs together."""
_SECONDS = 20.0
_DAY = 86400
_MARK, _AFTER_TITLE = b"\x01", b"\x02"
_MOST_LIKE = 20
"""Commits whose titles are like a prompt that count, the most alike."""
_LONGEST_TITLE = 300


class Commit(msgspec.Struct, frozen=True, array_like=True):
    """One commit."""

    at: int
    paths: tuple[str, ...]
    terms: tuple[str, ...] = ()
    """Of its title."""


class History:
    """The newest commits, for questions about files."""

    def __init__(self, commits: Sequence[Commit] = ()) -> None:
        self.commits = commits

    @cached_property
    def _by_path(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, commit in enumerate(self.commits):
            for path in commit.paths:
                found.setdefault(path, []).append(number)
        return found

    @cached_property
    def _newest(self) -> int:
        return max((commit.at for commit in self.commits), default=0)

    def count_changes(self, path: str) -> int:
        """In how many commits a file was changed."""
        return len(self._by_path.get(path, ()))

    def days_since(self, path: str) -> float | None:
        """Days from the last change of a file to the newest commit; None if no commit changed it."""
        numbers = self._by_path.get(path)
        if not numbers:
            return None
        return max(0.0, (self._newest - max(self.commits[number].at for number in numbers)) / _DAY)

    def changed_with(self, touched: Iterable[str]) -> Counter[str]:
        """In how many commits each file changed together with any of these."""
        wanted = set(touched)
        numbers = {number for path in wanted for number in self._by_path.get(path, ())}
        counts = Counter(path for number in numbers for path in self.commits[number].paths)
        return Counter({path: count for path, count in counts.items() if path not in wanted})

    @cached_property
    def _by_term(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, commit in enumerate(self.commits):
            for term in commit.terms:
                found.setdefault(term, []).append(number)
        return found

    def _rarity(self, term: str) -> float:
        have = len(self._by_term.get(term, ()))
        return math.log(1 + (len(self.commits) - have + 0.5) / (have + 0.5)) if have else 0.0

    @cached_property
    def _lengths(self) -> list[float]:
        rarities = {term: self._rarity(term) for term in self._by_term}
        return [math.sqrt(sum(rarities[term] ** 2 for term in commit.terms)) for commit in self.commits]

    def score_by_titles(self, terms: Iterable[str]) -> dict[str, float]:
        """How much the titles of the commits that changed a file are like these terms: rare terms count more, and so does a
        commit of few files."""
        rarities = {term: rarity for term in terms if (rarity := self._rarity(term))}
        length = math.sqrt(sum(rarity**2 for rarity in rarities.values()))
        shared: dict[int, float] = {}
        for term, rarity in rarities.items():
            for number in self._by_term[term]:
                shared[number] = shared.get(number, 0.0) + rarity**2
        likeness = {number: value / (math.sqrt(self._lengths[number]) * length) for number, value in shared.items()}
        found: dict[str, float] = {}
        for number in heapq.nlargest(_MOST_LIKE, likeness, key=lambda each: (likeness[each], -each)):
            paths = self.commits[number].paths
            for path in paths:
                found[path] = found.get(path, 0.0) + likeness[number] / math.log(2 + len(paths))
        return found

    def most_recent(self, most: int) -> list[str]:
        """The files that changed last, each once."""
        found: dict[str, None] = {}
        for commit in self.commits:
            found.update(dict.fromkeys(commit.paths))
            if len(found) >= most:
                break
        return list(found)[:most]


def read_commits(repository: Repository, head: str) -> list[Commit]:
    """The newest commits before `head`, the newest first. If git takes too long, those that it has named by then."""
    newest = ask(repository, "show", "-s", "--format=%ct", head)
    if not newest.isdigit():
        return []
    words = (
        "log", "-z", "--name-only", "--no-renames", "--no-merges", "--no-ext-diff", "--no-textconv", "--relative",
        f"--format={_MARK.decode()}%ct %s{_AFTER_TITLE.decode()}", f"--max-count={MOST_COMMITS}",
        f"--since={int(newest) - MOST_DAYS * _DAY}", head,
    )  # fmt: skip
    *whole, last = b"".join(read_git(repository, *words, seconds=_SECONDS)).split(_MARK)
    found: list[Commit] = []
    for text in (*whole[1:], last) if whole else ():
        about, _, listed = text.partition(_AFTER_TITLE)
        time, _, title = about.partition(b" ")
        names = listed.split(b"\0")
        paths = tuple(path for name in names if may_be_named(path := os.fsdecode(name.lstrip(b"\n"))))
        if time.isdigit() and 0 < len(paths) <= MOST_FILES:
            found.append(Commit(int(time), paths, _read_title(title)))
    return found


def _read_title(title: bytes) -> tuple[str, ...]:
    words = tokens_of(without_addresses(title[:_LONGEST_TITLE].decode("utf-8", "replace")))
    return tuple(dict.fromkeys(term for word in words for term in split(word)))
