"""Which values may be published: only those that occur in enough projects. Knows no text.

Counted in projects, not in sessions: a thousand sessions of one team are still one team's.
"""

import re
from collections import Counter, defaultdict

from preheat.lab.dataset.rows import OTHER

_JOINTS = re.compile(r"(?<=[-._:])|(?=[-._:])")


class Spread:
    """The projects in which each value of each sort occurs, and how often it does."""

    def __init__(self, least: int) -> None:
        self.least = least
        self.left_out: dict[str, set[str]] = defaultdict(set)
        """The values that were asked for and have too few projects, by sort."""
        self._projects: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._times: Counter[tuple[str, str]] = Counter()

    def add(self, sort: str, value: str, project: str, times: int = 1) -> None:
        """Count a value in a project; a session without a project counts for none."""
        self._times[sort, value] += times
        if project:
            self._projects[sort, value].add(project)

    def add_beginnings(self, sort: str, value: str, project: str) -> None:
        """Count every beginning of a value in a project."""
        for beginning in beginnings(value):
            self.add(sort, beginning, project)

    def projects(self, sort: str, value: str) -> int:
        return len(self._projects.get((sort, value), ()))

    def times(self, sort: str, value: str) -> int:
        return self._times[sort, value]

    def has_enough(self, sort: str, value: str) -> bool:
        kept = self.projects(sort, value) >= self.least
        if not kept:
            self.left_out[sort].add(value)
        return kept

    def shared_beginning(self, sort: str, value: str) -> str:
        """The longest beginning that enough projects share; `other` if there is none."""
        for beginning in beginnings(value):
            if self.projects(sort, beginning) >= self.least:
                if beginning != value:
                    self.left_out[sort].add(value)
                return beginning
        if value:
            self.left_out[sort].add(value)
        return OTHER if value else ""

    def values(self, sort: str) -> list[str]:
        """The values of a sort that enough projects share, sorted; the others count as left out."""
        return sorted(value for kind, value in self._times if kind == sort and self.has_enough(sort, value))


def beginnings(value: str) -> list[str]:
    """`2.1.220` gives itself, `2.1` and `2`: the longest first."""
    parts = _JOINTS.split(value)
    found = ["".join(parts[:end]) for end in range(len(parts), 0, -2)]
    return [each for each in found if each]
