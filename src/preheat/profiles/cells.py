"""Cells: some of the calls of all sessions, counted by session, and their rates with intervals.

Knows nothing of what tells one cell from another. All cells of a sheet are resampled from the same draws of sessions, so
that differences between cells that share sessions are right.
"""

import numpy as np
from numpy.typing import NDArray

from preheat.model.population import LEAST_CALLS, LEAST_SESSIONS, FailureMeasure, IntervalEstimate, PopulationCell
from preheat.model.profile import Rate
from preheat.profiles.tally import CALLS, ENVIRONMENT, FAILED, FINDINGS, MISTAKES, UNJUDGED, Floats, Ints
from preheat.statistics.intervals import (
    RESAMPLES,
    bundle_numbers,
    difference_with_interval,
    effective_sessions,
    rate_with_interval,
    ratios_of_draws,
    resample,
)

_AT_ONCE = 128
"""Cells that are resampled together: bounds the memory."""
MEASURE_COLUMNS = {"errors": FAILED, "mistakes": MISTAKES}


class CellCounts:
    """One cell: its counts by session, and after `Sheet.resample` its sums over the draws."""

    def __init__(self, name: str, session: Ints, counts: Ints) -> None:
        self.name = name
        self.session = session
        self.counts = counts
        self.totals = counts.sum(axis=0)
        self.sessions = int((counts[:, CALLS] > 0).sum())
        self.calls = int(self.totals[CALLS])
        self.effective = effective_sessions(counts[:, CALLS].astype(np.float64))
        self.draws: Floats = np.zeros((0, 3))

    @property
    def enough(self) -> bool:
        return self.sessions >= LEAST_SESSIONS and self.calls >= LEAST_CALLS

    def share(self, measure: FailureMeasure) -> float | None:
        return int(self.totals[MEASURE_COLUMNS[measure]]) / self.calls if self.calls else None

    def shares(self, measure: FailureMeasure) -> Floats:
        """The share in every resample."""
        return ratios_of_draws(self.draws[:, MEASURE_COLUMNS[measure]], self.draws[:, CALLS])


class CellSheet:
    """Cells over the same sessions."""

    def __init__(self, sessions: int) -> None:
        self._bundle = bundle_numbers(sessions)
        self._width = int(self._bundle.max()) + 1 if sessions else 0
        self._cells: list[CellCounts] = []
        self._design = 1.0

    def add(self, name: str, session: Ints, counts: Ints, chosen: NDArray[np.bool_] | None = None) -> CellCounts:
        """A cell of the chosen rows; a session may have several."""
        if chosen is not None:
            session, counts = session[chosen], counts[chosen]
        if len(session) and (np.diff(session) <= 0).any():
            distinct, place = np.unique(session, return_inverse=True)
            summed = [np.bincount(place, counts[:, column], len(distinct)) for column in range(counts.shape[1])]
            session, counts = distinct, np.stack(summed, axis=1).astype(np.int64)
        cell = CellCounts(name, session, counts)
        self._cells.append(cell)
        return cell

    def resample(self) -> None:
        """Resample; cells with too little data get no interval, so they need no resamples."""
        waiting = [cell for cell in self._cells if cell.enough]
        for first in range(0, len(waiting), _AT_ONCE):
            part = waiting[first : first + _AT_ONCE]
            dense = np.zeros((self._width, 3 * len(part)), np.float32)
            for place, cell in enumerate(part):
                np.add.at(dense[:, 3 * place : 3 * place + 3], self._bundle[cell.session], cell.counts[:, :3])
            sums = resample(dense)
            for place, cell in enumerate(part):
                cell.draws = sums[:, 3 * place : 3 * place + 3]

    def weigh(self, everything: CellCounts) -> None:
        """Learn from all calls together how much more their rate varies than that of independent ones would."""
        share = everything.share("errors")
        if everything.enough and share and share < 1:
            independent = share * (1 - share) / everything.calls
            self._design = max(1.0, float(np.nanvar(everything.shares("errors"))) / independent)

    def cell(self, counted: CellCounts) -> PopulationCell:
        """The public value of a cell."""
        return PopulationCell(
            name=counted.name,
            sessions=counted.sessions,
            errors=self._rate(counted, "errors"),
            mistakes=self._rate(counted, "mistakes"),
            findings=int(counted.totals[FINDINGS]),
            environment=int(counted.totals[ENVIRONMENT]),
            unjudged=int(counted.totals[UNJUDGED]),
        )

    def _rate(self, counted: CellCounts, measure: FailureMeasure) -> Rate:
        failed = int(counted.totals[MEASURE_COLUMNS[measure]])
        if not counted.enough:
            return Rate(failed, counted.calls, counted.share(measure))
        return rate_with_interval(failed, counted.calls, counted.shares(measure), counted.effective, self._design)


def rate_difference(one: CellCounts, other: CellCounts, measure: FailureMeasure) -> IntervalEstimate:
    """The rate of one cell minus that of the other."""
    first, second = one.share(measure), other.share(measure)
    if not (one.enough and other.enough) or first is None or second is None:
        return IntervalEstimate()
    draws = one.shares(measure) - other.shares(measure)
    return difference_with_interval(first - second, draws, min(one.effective, other.effective))


def join_cells(name: str, one: CellCounts, other: CellCounts) -> CellCounts:
    """Two cells without a session in common as one."""
    both = CellCounts(name, np.concatenate([one.session, other.session]), np.concatenate([one.counts, other.counts]))
    zero = np.zeros((RESAMPLES, 3))
    both.draws = sum((cell.draws if len(cell.draws) else zero for cell in (one, other)), zero)
    return both


def stratified_difference(pairs: list[tuple[CellCounts, CellCounts]], measure: FailureMeasure) -> IntervalEstimate:
    """The difference of two cells inside each stratum, weighted after Mantel and Haenszel: the mix of strata has no part
    in it. Strata that lack one of the two tell nothing."""
    full = [(one, other) for one, other in pairs if one.enough and other.enough]
    if len(pairs) < 2 or not full:
        return IntervalEstimate()
    column = MEASURE_COLUMNS[measure]

    def weigh(sums: list[tuple[Floats, Floats]]) -> Floats:
        above, below = np.zeros(len(sums[0][0])), np.zeros(len(sums[0][0]))
        for one, other in sums:
            calls = np.maximum(one[:, CALLS] + other[:, CALLS], 1)
            above += (one[:, column] * other[:, CALLS] - other[:, column] * one[:, CALLS]) / calls
            below += one[:, CALLS] * other[:, CALLS] / calls
        return ratios_of_draws(above, below)

    value = float(
        weigh([(one.totals[None, :].astype(float), other.totals[None, :].astype(float)) for one, other in full])[0]
    )
    draws = weigh([(one.draws, other.draws) for one, other in full])
    ones = sum(one.effective for one, _ in full)
    others = sum(other.effective for _, other in full)
    return difference_with_interval(value, draws, min(ones, others))
