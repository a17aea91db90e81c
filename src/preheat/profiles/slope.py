"""How a rate changes within sessions: least squares on the place in the session, each session's own level taken out.

A linear probability model with fixed effects for the session and, if wanted, for the kind of work, computed from sums by
session and activity, so that no call is looked at twice. Knows nothing of what the sums are of. The deviation is robust for
calls of a session being alike (Liang-Zeger, CR1); its degrees of freedom follow from the number of sessions that carry the
estimate, because a few very long ones carry most of it.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from preheat.model.population import (
    LEAST_CALLS,
    LEAST_EVENTS,
    LEAST_SESSIONS,
    FailureMeasure,
    IntervalEstimate,
    SlopeEstimate,
)
from preheat.profiles.tally import Floats, Ints, RegressionSums

MOST_ACTIVITIES = 40
"""Kinds of work that are distinguished; rarer ones count as one kind."""
LONG_REACH = 0.25
"""Standard deviation of the places of a session's calls, in hundreds of messages, from which on it says something about a
change per hundred: calls spread evenly over some 90 messages have it. Steeper slopes of short sessions would be guesses."""
_FLAT = 1e-9


class _Sums(NamedTuple):
    """Sums over calls by session and activity (matrices: sessions x activities), and by session."""

    calls: Floats
    place: Floats
    square: Floats
    hits: dict[FailureMeasure, Floats]
    product: dict[FailureMeasure, Floats]


class _Design(NamedTuple):
    """What the places and kinds of work of the calls are, each less its session's mean, whatever came of the calls."""

    calls: Floats
    place: Floats
    kinds: Floats
    place_place: Floats
    place_kinds: Floats
    inverse: Floats


def fit_slopes(
    name: str,
    regression_sums: RegressionSums,
    rows: NDArray[np.bool_] | None = None,
    least_calls: int = 2,
    same_work: bool = True,
) -> dict[FailureMeasure, SlopeEstimate]:
    """The change per 100 messages over the chosen rows, in sessions with at least so many calls."""
    sums = _arrange_sums(regression_sums, rows, least_calls, same_work)
    sessions, calls = len(sums.calls), int(sums.calls.sum())
    design = _design(sums) if sessions >= LEAST_SESSIONS and calls >= LEAST_CALLS else None
    found: dict[FailureMeasure, SlopeEstimate] = {}
    for measure in sums.hits:
        hits = float(sums.hits[measure].sum())
        enough = design is not None and min(hits, calls - hits) >= LEAST_EVENTS
        change = _fit(design, sums.hits[measure], sums.product[measure]) if enough and design else IntervalEstimate()
        found[measure] = SlopeEstimate(name, sessions, calls, change)
    return found


def _arrange_sums(
    regression_sums: RegressionSums, rows: NDArray[np.bool_] | None, least_calls: int, same_work: bool
) -> _Sums:
    if rows is None:
        rows = np.ones(len(regression_sums.session), np.bool_)
    total = np.bincount(regression_sums.session, regression_sums.calls * rows, 1)
    rows = rows & (total[regression_sums.session] >= least_calls)
    session = _number_values(regression_sums.session[rows])
    count = int(session[-1]) + 1 if len(session) else 0
    activity = _activities(regression_sums, rows) if same_work else np.zeros(len(session), np.int64)
    width = int(activity.max()) + 1 if len(activity) else 1
    keys = session * width + activity

    def matrix(column: Floats) -> Floats:
        return _sum_by_key(keys, column[rows], count * width).reshape(count, width)

    def vector(column: Floats) -> Floats:
        return _sum_by_key(session, column[rows], count)

    return _Sums(
        matrix(regression_sums.calls),
        matrix(regression_sums.place),
        vector(regression_sums.place_squared),
        {"errors": matrix(regression_sums.failed), "mistakes": matrix(regression_sums.mistakes)},
        {"errors": vector(regression_sums.place_failed), "mistakes": vector(regression_sums.place_mistakes)},
    )


def _number_values(ordered: Ints) -> Ints:
    """0, 1, 2 ... for the distinct values of an ordered array."""
    steps: Ints = np.cumsum(np.diff(ordered, prepend=ordered[:1]) != 0)
    return steps


def _sum_by_key(keys: Ints, values: Floats, length: int) -> Floats:
    return np.bincount(keys, values, length).astype(np.float64, copy=False)


def _activities(regression_sums: RegressionSums, rows: NDArray[np.bool_]) -> Ints:
    """Activities numbered by how common they are, the rarest together under the last number."""
    calls = np.bincount(regression_sums.activity[rows], regression_sums.calls[rows])
    place = np.empty(len(calls), np.int64)
    place[np.argsort(-calls, kind="stable")] = np.arange(len(calls))
    numbered: Ints = np.minimum(place, MOST_ACTIVITIES - 1)[regression_sums.activity[rows]]
    return numbered


def _design(sums: _Sums) -> _Design | None:
    """None if too few sessions are long, or the place follows from the kinds of work. The most common activity is the
    reference."""
    calls, place, kinds = sums.calls.sum(axis=1), sums.place.sum(axis=1), sums.calls[:, 1:]
    place_place = sums.square - place * place / calls
    place_kinds = sums.place[:, 1:] - kinds * (place / calls)[:, None]
    kinds_kinds = np.diag(kinds.sum(axis=0)) - kinds.T @ (kinds / calls[:, None])
    if int((place_place >= LONG_REACH**2 * calls).sum()) < LEAST_SESSIONS:
        return None
    corner = place_kinds.sum(axis=0)
    whole = float(place_place.sum())
    # By Frisch and Waugh: what is left of the place once the activities are taken out of it.
    left = whole - float(corner @ np.linalg.pinv(kinds_kinds, rcond=_FLAT, hermitian=True) @ corner)
    if left <= _FLAT * max(1.0, whole):
        return None
    bread = np.block([[np.array([[whole]]), corner[None, :]], [corner[:, None], kinds_kinds]])
    inverse = np.linalg.pinv(bread, rcond=_FLAT, hermitian=True)
    return _Design(calls, place, kinds, place_place, place_kinds, inverse)


def _fit(design: _Design, hits_by_kind: Floats, product: Floats) -> IntervalEstimate:
    calls, place, kinds, place_place, place_kinds, inverse = design
    hits = hits_by_kind.sum(axis=1)
    place_hits = product - place * hits / calls
    kinds_hits = hits_by_kind[:, 1:] - kinds * (hits / calls)[:, None]
    fitted = inverse @ np.concatenate([[place_hits.sum()], kinds_hits.sum(axis=0)])
    by_place, by_kind = fitted[0], fitted[1:]
    # Each session's part in the estimate: its scores (regressors times residuals), through the row of the place. The score
    # of a kind is weighted by that row at once, so that no second matrix of sessions x kinds is needed.
    row = inverse[0, 1:]
    score_place = place_hits - place_place * by_place - place_kinds @ by_kind
    score_kinds = (
        kinds_hits @ row
        - (place_kinds @ row) * by_place
        - (kinds @ (by_kind * row) - (kinds @ by_kind) * (kinds @ row) / calls)
    )
    influence = score_place * inverse[0, 0] + score_kinds
    sessions, total, width = len(calls), calls.sum(), len(fitted)
    correction = sessions / (sessions - 1) * (total - 1) / max(1.0, total - width)
    deviation = sqrt(correction * float(influence @ influence))
    carrying = max(2.0, float(place_place.sum()) ** 2 / float(place_place @ place_place))
    reach = float(stdtrit(min(carrying, sessions) - 1, 0.975)) * deviation
    return IntervalEstimate(float(by_place), float(by_place - reach), float(by_place + reach))
