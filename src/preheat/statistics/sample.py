"""Two arms of a comparison as checked arrays. Knows no estimator.

A value that is no number is refused; a session with nothing to count is left out, with a remark.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from preheat.amounts import format_count
from preheat.errors import UserError
from preheat.model.experiment import Observation

Numbers: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.int64]

FEWEST_CLUSTERS = 5
"""With fewer clusters their variance is hardly known, and sessions are the unit if both arms are inside each cluster."""


class Sample(NamedTuple):
    """The sessions of two arms, in an order that does not depend on the input."""

    above: Numbers
    below: Numbers
    treated: Flags
    cluster: Codes
    """The number of each session's cluster; a session without one is a cluster of its own."""
    stratum: tuple[str, ...]
    before: Numbers
    """NaN where nothing is known from before."""
    at: Numbers
    clustered: bool
    """Whether clusters, not sessions, are the unit of the variance."""
    remarks: tuple[str, ...]
    """What a reader must know, a sentence each."""

    @property
    def units(self) -> tuple[int, int]:
        return int(self.treated.sum()), int((~self.treated).sum())

    @property
    def clusters(self) -> int:
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0


def make_sample(units: Iterable[Observation], arm: str, against: str) -> Sample:
    """The sample of these two arms. Raises UserError for values that are no number, and for duplicate sessions."""
    if arm == against:
        raise UserError(f"an arm cannot be held against itself (`{arm}`); name two")
    chosen = sorted((each for each in units if each.arm in (arm, against)), key=_order)
    for each in chosen:
        _check(each)
    for one, other in pairwise(chosen):
        if one.session and one.session == other.session:
            raise UserError(f"session `{one.session}` stands in the comparison twice; give each session once")
    kept = [each for each in chosen if each.below > 0]
    named = _remark_on_empty_sessions(chosen, arm, against)
    clusters, clustered, remark = _clusters(kept, arm)
    return Sample(
        np.array([each.above for each in kept], dtype=float),
        np.array([each.below for each in kept], dtype=float),
        np.array([each.arm == arm for each in kept], dtype=bool),
        clusters,
        tuple(each.stratum for each in kept),
        np.array([np.nan if each.before is None else each.before for each in kept], dtype=float),
        np.array([each.at for each in kept], dtype=float),
        clustered,
        named + remark,
    )


def _order(each: Observation) -> tuple[str, str, float, float, str, str]:
    return (each.session, each.arm, each.above, each.below, each.cluster, each.stratum)


def _check(each: Observation) -> None:
    for value in (each.above, each.below, each.at, 0.0 if each.before is None else each.before):
        if not isfinite(value):
            raise UserError(
                f"session `{each.session}` has {value}, which is no number; measure it again or leave it out"
            )
    if each.below < 0:
        raise UserError(
            f"session `{each.session}` is measured over {each.below:g}, less than nothing; measure it again"
        )
    if each.below == 0 and each.above != 0:
        raise UserError(f"session `{each.session}` has {each.above:g} out of nothing; measure it again or leave it out")


def _remark_on_empty_sessions(chosen: Sequence[Observation], arm: str, against: str) -> tuple[str, ...]:
    empty = {name: sum(each.below == 0 for each in chosen if each.arm == name) for name in (arm, against)}
    return tuple(
        f"{format_count(count, 'session')} of `{name}` had nothing to count and {'is' if count == 1 else 'are'} left out"
        for name, count in empty.items()
        if count
    )


def _clusters(kept: Sequence[Observation], arm: str) -> tuple[Codes, bool, tuple[str, ...]]:
    """The numbers of the clusters, whether they are the unit, and a remark on that.

    Arms were assigned to sessions. Where clusters are few and each holds sessions of both arms, sessions are the unit and the
    result holds for these clusters; where a whole cluster is in one arm, clusters are the unit, however few there are."""
    names = [each.cluster or f"\0{number}" for number, each in enumerate(kept)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sorted(names)))}
    codes = np.array([numbers[name] for name in names], dtype=np.int64)
    if len(numbers) == len(kept):
        return codes, False, ()
    arms: dict[str, set[bool]] = {}
    sizes: dict[str, int] = {}
    for name, each in zip(names, kept, strict=True):
        arms.setdefault(name, set()).add(each.arm == arm)
        sizes[name] = sizes.get(name, 0) + 1
    inside = all(len(arms[name]) == 2 for name in arms if sizes[name] > 3)
    if len(numbers) >= FEWEST_CLUSTERS or not inside:
        return codes, True, ()
    which = "one cluster" if len(numbers) == 1 else f"{len(numbers)} clusters"
    return codes, False, (f"all sessions are of {which}: the interval holds for those, not for others",)
