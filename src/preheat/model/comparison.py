"""Two things side by side: the calls before and after a compaction, one session or set of sessions against another.

Frozen values; how they are measured is in `profiles`. What cannot be said is None or `too little data`, never a NaN.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.profile import Rate

Verdict: TypeAlias = Literal["preserved", "not preserved", "too little data"]
Finding: TypeAlias = Literal["a is higher", "b is higher", "no difference shown", "too little data"]
Crossed: TypeAlias = Literal["in place", "compaction", "continuation"]
"""How the boundary was crossed: within one session, or into a new one."""
Unit: TypeAlias = Literal["share", "seconds", "tokens"]

WINDOW = 30
"""Calls before and after a compaction that are compared, unless told."""
MARGIN = 0.2
"""How much more, relatively, still counts as preserved, unless told."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One measure before and after."""

    measure: str
    before: Rate
    after: Rate
    ratio: float | None = None
    """After by before; None when there is nothing before to divide by."""
    low: float | None = None
    """The ratio is above this with 95 % confidence (one-sided); None when nothing can be said."""
    high: float | None = None
    """The ratio is below this with 95 % confidence (one-sided); None when nothing can be said."""
    verdict: Verdict
    needed: int | None = None
    """Where data is too little: roughly how many on each side would do, if the truth is that nothing changed."""


class Boundary(msgspec.Struct, frozen=True, kw_only=True):
    """One compaction."""

    session: str
    """The key of the session before it."""
    child: str | None
    """The key of the session after it, if that is another one."""
    agent: str
    number: int
    """The how-manieth of the session, from 1."""
    how: Crossed
    at: float | None
    tokens_before: int | None
    window: tuple[Change, ...]
    """Equal windows on both sides: the main comparison."""
    whole: tuple[Change, ...]
    """Everything between the neighbouring boundaries."""
    verdict: Verdict


class CompactionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One session's compactions, or everyone's."""

    margin: float
    """By how much more, relatively, still counts as preserved."""
    size: int
    """Calls in a window, at most."""
    sessions: int
    crossings: int
    window: tuple[Change, ...]
    whole: tuple[Change, ...]
    agents: dict[str, tuple[Change, ...]]
    """The windows by agent, where there is more than one."""
    verdict: Verdict
    """That of the error rate in the windows: chosen before anything was measured."""
    boundaries: tuple[Boundary, ...]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What stands on one side of a comparison."""

    label: str
    sessions: int
    calls: int
    """Without the agent's notes to itself."""
    judged: int
    """Calls of which it is known whether they worked."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One measure on both sides. For shares `count` of `total`; for amounts their sum over the calls."""

    measure: str
    unit: Unit
    a_count: float
    a_total: int
    a: float | None
    b_count: float
    b_total: int
    b: float | None
    difference: float | None = None
    """A less B."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """How often chance alone makes a difference as large."""
    finding: Finding


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    a: Side
    b: Side
    of: Literal["sessions", "sets"]
    method: str
    differences: tuple[Difference, ...]
    """The first, the error rate, is the one that counts; the others are looks at the same calls."""
    shared: int
    """Sessions that were in both sets, and count in the smaller one only."""
    verdict: Finding
