"""Fits the weights of the orientation on recorded projects: `python -m benchmarks orientation` prints them.

For each prompt the weighted files compete: the likelihood of a softmax over all files that a measure brings in, where a file that
the session edits counts 1, one that it reads before its first edit 0.6, another that it uses 0.3. A small penalty keeps weights
from growing. Projects count by their prompts, but none for more than `MOST_PROMPTS`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from preheat.orientation.measures import MEASURES, Measures

PENALTY = 0.005
MOST_PROMPTS = 60
Weights = dict[str, float]


class Example(NamedTuple):
    """A prompt with every file that a measure brings in, and how much the session needed each."""

    project: str
    measured: dict[str, Measures]
    needed: dict[str, float]


class Calibration(NamedTuple):
    """Makes a probability of a score."""

    slope: float
    offset: float


def _matrix(example: Example) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    paths = list(example.measured)
    rows = [[example.measured[path].get(name, 0.0) for name in MEASURES] for path in paths]
    return np.array(rows), np.array([example.needed.get(path, 0.0) for path in paths])


def fit_weights(examples: Sequence[Example]) -> Weights:
    """The weights under which the needed files come first."""
    usable = [(each, *_matrix(each)) for each in examples if any(path in each.measured for path in each.needed)]
    counts = Counter(each.project for each, _, _ in usable)
    shares = [min(1.0, MOST_PROMPTS / counts[each.project]) for each, _, _ in usable]
    total = sum(shares)
    if not usable:
        return dict.fromkeys(MEASURES, 0.0)
    rows = np.concatenate([each for _, each, _ in usable])
    starts = np.cumsum([0, *(len(each) for _, each, _ in usable[:-1])])
    group = np.repeat(np.arange(len(usable)), [len(each) for _, each, _ in usable])
    wanted = np.concatenate(
        [share * needed / needed.sum() for share, (_, _, needed) in zip(shares, usable, strict=True)]
    )
    share_of_row = np.array(shares)[group]

    def lose(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = rows @ weights
        scores -= np.maximum.reduceat(scores, starts)[group]
        raised = np.exp(scores)
        sums = np.add.reduceat(raised, starts)[group]
        loss = -float(wanted @ (scores - np.log(sums)))
        slope = -(rows.T @ (wanted - share_of_row * raised / sums))
        return loss / total + PENALTY * float(weights @ weights), slope / total + 2 * PENALTY * weights

    found = minimize(lose, np.zeros(len(MEASURES)), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return {name: round(float(value), 3) for name, value in zip(MEASURES, found.x, strict=True)}


def calibrate(examples: Sequence[Example], weights: Weights, first: int = 20) -> Calibration:
    """The logistic curve through the shares of files that were used, over the first files of each prompt."""
    scores: list[float] = []
    used: list[bool] = []
    for each in examples:
        summed = {
            path: sum(weights[name] * value for name, value in found.items()) for path, found in each.measured.items()
        }
        for path in sorted(summed, key=lambda path: -summed[path])[:first]:
            scores.append(summed[path])
            used.append(each.needed.get(path, 0.0) > 0)
    values, labels = np.array(scores), np.array(used, dtype=float)

    def lose(parameters: NDArray[np.float64]) -> float:
        reached = parameters[0] * values + parameters[1]
        return float(np.mean(np.logaddexp(0, reached) - labels * reached))

    found = minimize(lose, np.array([1.0, -3.0]), method="Nelder-Mead")
    return Calibration(round(float(found.x[0]), 3), round(float(found.x[1]), 3))
