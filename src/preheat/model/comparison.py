"""Comparisons: the calls before and after a compaction, and one session or set of sessions with another.

Frozen values; how they are measured is in `profiles`. An unknown number is None or `too little data`, never a NaN.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.profile import Rate

PreservationVerdict: TypeAlias = Literal["preserved", "not preserved", "too little data"]
ComparisonFinding: TypeAlias = Literal["a is higher", "b is higher", "no difference shown", "too little data"]
CrossingKind: TypeAlias = Literal["in place", "compaction", "continuation"]
"""How the work went on after a compaction: in the same session, or in a new one."""
MeasureUnit: TypeAlias = Literal["share", "seconds", "tokens"]

COMPARED_CALLS = 30
"""Calls before and after a compaction that are compared by default."""
PRESERVED_MARGIN = 0.2
"""The relative increase that still counts as preserved, by default."""


class MeasureChange(msgspec.Struct, frozen=True, kw_only=True):
    """One measure before and after a compaction."""

    measure: str
    before: Rate
    after: Rate
    ratio: float | None = None
    """The rate after divided by the rate before; None if that was 0."""
    low: float | None = None
    """The ratio is above this with 95 % confidence (one-sided); None with too little data."""
    high: float | None = None
    """The ratio is below this with 95 % confidence (one-sided); None with too little data."""
    verdict: PreservationVerdict
    needed: int | None = None
    """With too little data: roughly how many calls each side needs, if in truth nothing changed."""


class CompactionBoundary(msgspec.Struct, frozen=True, kw_only=True):
    """One compaction with the measures around it."""

    session: str
    """The key of the session before it."""
    child: str | None
    """The key of the session after it, if that is another one."""
    agent: str
    number: int
    """Its number among the compactions of the session, from 1."""
    how: CrossingKind
    at: float | None
    tokens_before: int | None
    window: tuple[MeasureChange, ...]
    """Equal windows on both sides: the main comparison."""
    whole: tuple[MeasureChange, ...]
    """Everything between the neighbouring boundaries."""
    verdict: PreservationVerdict


class CompactionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The compactions of one session, or of all."""

    margin: float
    """The relative increase that still counts as preserved."""
    size: int
    """Calls in a window, at most."""
    sessions: int
    crossings: int
    window: tuple[MeasureChange, ...]
    whole: tuple[MeasureChange, ...]
    agents: dict[str, tuple[MeasureChange, ...]]
    """The windows by agent, where there is more than one."""
    verdict: PreservationVerdict
    """Of the error rate in the windows: this measure was chosen beforehand."""
    boundaries: tuple[CompactionBoundary, ...]


class ComparisonSide(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison."""

    label: str
    sessions: int
    calls: int
    """Without bookkeeping calls."""
    judged: int
    """Calls whose success or failure is known."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One measure on both sides. For shares `count` of `total`; for amounts their sum over the calls."""

    measure: str
    unit: MeasureUnit
    a_count: float
    a_total: int
    a: float | None
    b_count: float
    b_total: int
    b: float | None
    difference: float | None = None
    """A minus B."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """The p-value of the difference."""
    finding: ComparisonFinding


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    a: ComparisonSide
    b: ComparisonSide
    of: Literal["sessions", "sets"]
    method: str
    differences: tuple[Difference, ...]
    """The first one, the error rate, decides; the others are for information."""
    shared: int
    """Sessions of both sets; they count in the smaller set only."""
    verdict: ComparisonFinding
