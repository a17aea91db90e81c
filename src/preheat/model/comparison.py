"""Comparisons: the calls before and after a compaction, and one session or set of sessions with another.

Frozen values; how they are measured is in `profiles`. An unknown number is None or `too little data`, never a NaN.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.profile import Rate

PreservationVerdict: TypeAlias = Literal["preserved", "not preserved", "too little data"]
"""Whether a measure is as good after a compaction as before, up to a margin."""
ComparisonFinding: TypeAlias = Literal["a is higher", "b is higher", "no difference shown", "too little data"]
"""What the comparison of one measure on two sides shows."""
CrossingKind: TypeAlias = Literal["in place", "compaction", "continuation"]
"""How the work went on after a compaction: in the same session, or in a new one."""
MeasureUnit: TypeAlias = Literal["share", "seconds", "tokens"]
"""Whether a measure is a share of calls, or an amount per call."""

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
    """How many calls each side needs, roughly, if in truth nothing changed; only with too little data."""


class CompactionBoundary(msgspec.Struct, frozen=True, kw_only=True):
    """One compaction with the measures around it."""

    session: str
    """The key of the session before it."""
    child: str | None
    """The key of the session after it, if that is another one."""
    agent: str
    number: int
    """Number of the compaction among those of the session, from 1."""
    how: CrossingKind
    """Whether the work went on in the same session or in a new one."""
    at: float | None
    """When it happened, in seconds since the epoch."""
    tokens_before: int | None
    """Tokens in the context right before the compaction, where known."""
    window: tuple[MeasureChange, ...]
    """The measures over equally many calls before and after the compaction: the main comparison."""
    whole: tuple[MeasureChange, ...]
    """The measures over all calls between this compaction and its neighbours."""
    verdict: PreservationVerdict


class CompactionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The compactions of one session, or of all."""

    margin: float
    """The relative increase that still counts as preserved."""
    size: int
    """How many calls before and after a compaction are compared, at most."""
    sessions: int
    """Sessions with at least one compaction."""
    crossings: int
    """Compactions that are compared."""
    window: tuple[MeasureChange, ...]
    """The measures over equally many calls before and after each compaction, all together."""
    whole: tuple[MeasureChange, ...]
    """The measures over all calls between neighbouring compactions, all together."""
    agents: dict[str, tuple[MeasureChange, ...]]
    """`window` by agent, where there is more than one agent."""
    verdict: PreservationVerdict
    """The verdict on the error rate in `window`: this measure was chosen beforehand."""
    boundaries: tuple[CompactionBoundary, ...]


class ComparisonSide(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison."""

    label: str
    sessions: int
    calls: int
    """Calls without bookkeeping."""
    judged: int
    """Calls whose success or failure is known."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One measure on both sides: the share `count` of `total`, or an amount `count` summed over `total` calls."""

    measure: str
    unit: MeasureUnit
    a_count: float
    a_total: int
    a: float | None
    """The share, or the mean amount per call, on side A."""
    b_count: float
    b_total: int
    b: float | None
    """The share, or the mean amount per call, on side B."""
    difference: float | None = None
    """A minus B."""
    low: float | None = None
    high: float | None = None
    """The ends of the 95 % interval of the difference; None with too little data."""
    p: float | None = None
    """The p-value of the difference."""
    finding: ComparisonFinding


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two sessions, or two sets of sessions, compared by several measures."""

    a: ComparisonSide
    b: ComparisonSide
    of: Literal["sessions", "sets"]
    """Whether single sessions or sets of sessions are compared."""
    method: str
    """The statistical method, in words."""
    differences: tuple[Difference, ...]
    """One for each measure. The first one, the error rate, decides; the others are for information."""
    shared: int
    """Sessions that are in both sets; they count in the smaller set only."""
    verdict: ComparisonFinding
    """The finding on the error rate."""
