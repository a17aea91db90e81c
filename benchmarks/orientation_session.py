"""Orientation over a whole session: the lists of all its prompts so far, for `benchmarks.orientation`.

A session is given lists as the product gives them: what was named is not named again, a list after the first needs a surer first
file, and files of it that are less sure than the limit are left out. Each list is measured only on what the session touched after
it, and had not opened before:

- recall: of the existing files that the session edits, those that a list named before they were opened or edited;
- reads: of the file reads before the session's first edit, those of files that a list named before;
- precision: of the first five files of each list, those that the session used after it; every list counts the same.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from preheat.orientation.ranking import LEAST_AGAIN, LEAST_PROBABILITY, MOST_FILES

FIGURES = ("recall", "reads", "precision", "lists", "files")
_FIRST = 5


class SessionCase(Protocol):
    """What is needed of a prompt and what came after it."""

    @property
    def session(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def is_telling(self) -> bool: ...
    @property
    def edited(self) -> frozenset[str]: ...
    @property
    def used(self) -> frozenset[str]: ...
    @property
    def read_before_edit(self) -> frozenset[str]: ...
    @property
    def reads(self) -> tuple[str, ...]: ...


def give_lists(several: Sequence[SessionCase], surest: Callable[[SessionCase], Mapping[str, float]]) -> list[list[str]]:
    """What the prompts of a session are told, in their order; `surest` gives the files of a prompt with their probabilities, the
    surest first."""
    named: set[str] = set()
    given: list[list[str]] = []
    for case in several:
        sure = surest(case)
        files = [path for path in sure if path not in named][:MOST_FILES]
        if named:
            files = [path for path in files if sure[path] >= LEAST_PROBABILITY]
        least = LEAST_AGAIN if named else LEAST_PROBABILITY
        given.append(files if case.is_telling and files and sure[files[0]] >= least else [])
        named.update(given[-1])
    return given


def measure_sessions(
    cases: Sequence[SessionCase], surest: Callable[[SessionCase], Mapping[str, float]]
) -> dict[str, list[float]]:
    """The figures of each session that edits existing files."""
    sessions: defaultdict[str, list[SessionCase]] = defaultdict(list)
    for case in cases:
        sessions[case.session].append(case)
    found: dict[str, list[float]] = {figure: [] for figure in FIGURES}
    for several in sessions.values():
        several.sort(key=lambda case: case.number)
        first = several[0]
        if first.number or not first.edited:
            continue
        given = give_lists(several, surest)
        hits: set[str] = set()
        read: set[str] = set()
        for case, files in zip(several, given, strict=True):
            hits |= case.edited & set(files)
            read |= case.read_before_edit & set(files)
            if files:
                found["precision"].append(len(case.used & set(files[:_FIRST])) / len(files[:_FIRST]))
        found["recall"].append(len(hits) / len(first.edited))
        if first.reads:
            found["reads"].append(sum(path in read for path in first.reads) / len(first.reads))
        found["lists"].append(sum(map(bool, given)))
        found["files"].append(sum(map(len, given)))
    return found


def average(figures: Mapping[str, Sequence[float]]) -> dict[str, float | None]:
    return {name: statistics.fmean(values) if values else None for name, values in figures.items()}
