"""Cells: some of the calls of all sessions, counted by session, and their rates with intervals.

Knows nothing of what tells one cell from another. All cells of a sheet are resampled from the same draws of sessions, so
that differences between cells that share sessions are right.
"""

import numpy as np
from numpy.typing import NDArray

from preheat.model.population import LEAST_CALLS, LEAST_SESSIONS, Cell, Estimate, Measure
from preheat.model.profile import Rate
from preheat.profiles.gathering import CALLS, ENVIRONMENT, FAILED, FINDINGS, MISTAKES, UNJUDGED, Floats, Ints
from preheat.statistics.bootstrap import RESAMPLES, bundles, difference, effective, rate, ratios, resampled

_AT_ONCE = 128
"""Cells that are resampled together: bounds the memory."""
COLUMN = {"errors": FAILED, "mistakes": MISTAKES}


class Counted:
    """One cell: its counts by session, and after `Sheet.resample` its sums over the draws."""

    def __init__(self, name: str, session: Ints, counts: Ints) -> None:
        self.name = name
        self.session = session
        self.counts = counts
        self.totals = counts.sum(axis=0)
        self.sessions = int((counts[:, CALLS] > 0).sum())
        self.calls = int(self.totals[CALLS])
        self.effective = effective(counts[:, CALLS].astype(np.float64))
        self.draws: Floats = np.zeros((0, 3))

    @property
    def enough(self) -> bool:
        return self.sessions >= LEAST_SESSIONS and self.calls >= LEAST_CALLS

    def share(self, measure: Measure) -> float | None:
        return int(self.totals[COLUMN[measure]]) / self.calls if self.calls else None

    def shares(self, measure: Measure) -> Floats:
        """The share in every resample."""
        return ratios(self.draws[:, COLUMN[measure]], self.draws[:, CALLS])


class Sheet:
    """Cells over the same sessions."""

    def __init__(self, sessions: int) -> None:
        self._bundle = bundles(sessions)
        self._width = int(self._bundle.max()) + 1 if sessions else 0
        self._cells: list[Counted] = []
        self._design = 1.0

    def add(self, name: str, session: Ints, counts: Ints, chosen: NDArray[np.bool_] | None = None) -> Counted:
        """A cell of the chosen rows; a session may have several."""
        if chosen is not None:
            session, counts = session[chosen], counts[chosen]
        if len(session) and (np.diff(session) <= 0).any():
            distinct, place = np.unique(session, return_inverse=True)
            summed = [np.bincount(place, counts[:, column], len(distinct)) for column in range(counts.shape[1])]
            session, counts = distinct, np.stack(summed, axis=1).astype(np.int64)
        cell = Counted(name, session, counts)
        self._cells.append(cell)
        return cell

    def resample(self) -> None:
        """Draw; cells with too little data need no draws, as nothing is said of their spread."""
        waiting = [cell for cell in self._cells if cell.enough]
        for first in range(0, len(waiting), _AT_ONCE):
            part = waiting[first : first + _AT_ONCE]
            dense = np.zeros((self._width, 3 * len(part)), np.float32)
            for place, cell in enumerate(part):
                np.add.at(dense[:, 3 * place : 3 * place + 3], self._bundle[cell.session], cell.counts[:, :3])
            sums = resampled(dense)
            for place, cell in enumerate(part):
                cell.draws = sums[:, 3 * place : 3 * place + 3]

    def weigh(self, everything: Counted) -> None:
        """Learn from all calls together how much more their rate varies than that of independent ones would."""
        share = everything.share("errors")
        if everything.enough and share and share < 1:
            independent = share * (1 - share) / everything.calls
            self._design = max(1.0, float(np.nanvar(everything.shares("errors"))) / independent)

    def cell(self, counted: Counted) -> Cell:
        """What is told of a cell."""
        return Cell(
            name=counted.name,
            sessions=counted.sessions,
            errors=self._rate(counted, "errors"),
            mistakes=self._rate(counted, "mistakes"),
            findings=int(counted.totals[FINDINGS]),
            environment=int(counted.totals[ENVIRONMENT]),
            unjudged=int(counted.totals[UNJUDGED]),
        )

    def _rate(self, counted: Counted, measure: Measure) -> Rate:
        failed = int(counted.totals[COLUMN[measure]])
        if not counted.enough:
            return Rate(failed, counted.calls, counted.share(measure))
        return rate(failed, counted.calls, counted.shares(measure), counted.effective, self._design)


def less(one: Counted, other: Counted, measure: Measure) -> Estimate:
    """The rate of one cell minus that of the other."""
    first, second = one.share(measure), other.share(measure)
    if not (one.enough and other.enough) or first is None or second is None:
        return Estimate()
    draws = one.shares(measure) - other.shares(measure)
    return difference(first - second, draws, min(one.effective, other.effective))


def together(name: str, one: Counted, other: Counted) -> Counted:
    """Two cells without a session in common as one."""
    both = Counted(name, np.concatenate([one.session, other.session]), np.concatenate([one.counts, other.counts]))
    zero = np.zeros((RESAMPLES, 3))
    both.draws = sum((cell.draws if len(cell.draws) else zero for cell in (one, other)), zero)
    return both


def stratified(pairs: list[tuple[Counted, Counted]], measure: Measure) -> Estimate:
    """The difference of two cells inside each stratum, weighted after Mantel and Haenszel: the mix of strata has no part
    in it. Strata that lack one of the two tell nothing."""
    full = [(one, other) for one, other in pairs if one.enough and other.enough]
    if len(pairs) < 2 or not full:
        return Estimate()
    column = COLUMN[measure]

    def weighted(sums: list[tuple[Floats, Floats]]) -> Floats:
        above, below = np.zeros(len(sums[0][0])), np.zeros(len(sums[0][0]))
        for one, other in sums:
            calls = np.maximum(one[:, CALLS] + other[:, CALLS], 1)
            above += (one[:, column] * other[:, CALLS] - other[:, column] * one[:, CALLS]) / calls
            below += one[:, CALLS] * other[:, CALLS] / calls
        return ratios(above, below)

    value = float(
        weighted([(one.totals[None, :].astype(float), other.totals[None, :].astype(float)) for one, other in full])[0]
    )
    draws = weighted([(one.draws, other.draws) for one, other in full])
    ones = sum(one.effective for one, _ in full)
    others = sum(other.effective for _, other in full)
    return difference(value, draws, min(ones, others))
