"""The arithmetic behind the intervals, held to slow and plain ways of doing the same."""

import numpy as np
import pytest

from preheat.model.population import LEAST_SESSIONS
from preheat.profiles.slope import fit_slopes
from preheat.profiles.tally import Floats, tally_calls
from preheat.statistics.intervals import (
    BUNDLES,
    bundle_numbers,
    effective_sessions,
    percentile_interval,
    rate_with_interval,
    ratios_of_draws,
    resample,
)
from tests.profiles.simulated import ACTIVITIES, mixed, simulated


def wavy(length: int, message: int, activity: str, level: float) -> float:
    return 0.1 + 0.1 * (activity == "edit") + 0.02 * message / 100 + level


def dense(design: Floats, hits: Floats, session: Floats) -> tuple[float, float]:
    """Slope and its CR1 deviation, with a dummy for every session and every activity, the way a textbook writes it."""
    inverse = np.linalg.pinv(design.T @ design)
    fitted = inverse @ design.T @ hits
    residual = hits - design @ fitted
    meat = np.zeros_like(inverse)
    numbers = np.unique(session)
    for number in numbers:
        score = design[session == number].T @ residual[session == number]
        meat += np.outer(score, score)
    groups, total = len(numbers), len(hits)
    regressors = len(ACTIVITIES)  # the place, and one less than there are activities; sessions' own levels do not count
    correction = groups / (groups - 1) * (total - 1) / (total - regressors)
    return float(fitted[0]), float(np.sqrt(correction * (inverse @ meat @ inverse)[0, 0]))


def test_the_slope_is_that_of_a_dense_regression() -> None:
    """Sums by session give the same coefficient and the same clustered deviation as dummies over all calls."""
    sessions, calls = simulated(wavy, mixed(45), seed=4)
    session = np.array([fact.session for fact in calls], float)
    hits = np.array([fact.status == "failed" for fact in calls], float)
    columns = [np.array([fact.message / 100 for fact in calls])]
    columns += [np.array([fact.activity == name for fact in calls], float) for name in ACTIVITIES[1:]]
    columns += [(session == number).astype(float) for number in np.unique(session)]
    expected, deviation = dense(np.stack(columns, axis=1), hits, session)
    change = fit_slopes("", tally_calls(sessions, calls).regression_sums)["errors"].change
    assert change.value == pytest.approx(expected, abs=1e-10)
    assert change.low is not None
    assert change.high is not None
    reach = (change.high - change.low) / 2
    # Student's quantile is for the sessions that carry the slope, so the reach is between 1.96 and 3 deviations here.
    assert 1.96 * deviation < reach < 3 * deviation
    again = fit_slopes("", tally_calls(sessions, calls).regression_sums)["mistakes"].change
    assert again == change


def test_a_place_that_follows_from_the_work_has_no_slope() -> None:
    """If every session reads first and edits after, in one message each, place and work cannot be told apart."""
    sessions, calls = simulated(wavy, [4] * 40)
    tied = [fact._replace(activity="read" if fact.message == 2 else "edit") for fact in calls]
    assert fit_slopes("", tally_calls(sessions, tied).regression_sums)["errors"].change.value is None


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Over 200 small simulated populations of uneven, clustered sessions, 95 % intervals contain the truth in 90 % or more."""
    random = np.random.default_rng(5)
    truth = 0.1
    held = 0
    for round_ in range(200):
        size = random.integers(5, 60, 25)
        level = random.beta(2, 18, 25)
        failed = random.binomial(size, level)
        draws = resample(np.stack([size, failed], axis=1), resamples=400, seed=round_)
        found = rate_with_interval(
            int(failed.sum()),
            int(size.sum()),
            ratios_of_draws(draws[:, 1], draws[:, 0]),
            effective_sessions(size.astype(float)),
        )
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert held >= 180


def test_slope_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """The same of the slope, where a few sessions are much longer than the rest."""
    held = 0
    for seed in range(100):
        sessions, calls = simulated(
            lambda *_: 0.1, [20, 30, 40, 50, 60] * 4 + [100, 110, 120, 300, 500], seed=seed, spread=0.05
        )
        change = fit_slopes("", tally_calls(sessions, calls).regression_sums)["errors"].change
        assert change.low is not None
        assert change.high is not None
        held += change.low <= 0 <= change.high
    assert held >= 90


def test_resampling_is_of_whole_sessions() -> None:
    """Calls of a session come and go together: twenty alike sessions vary as twenty numbers, not as two thousand calls."""
    failed = np.array([100] * 2 + [0] * 18)
    draws = resample(np.stack([np.full(20, 100), failed], axis=1))
    spread = float(np.std(ratios_of_draws(draws[:, 1], draws[:, 0])))
    assert spread == pytest.approx(np.sqrt(0.1 * 0.9 / 20), rel=0.1)


def test_the_same_seed_gives_the_same_interval() -> None:
    counts = np.arange(30.0).reshape(10, 3)
    assert (resample(counts) == resample(counts)).all()
    assert (resample(counts)[:, :1] == resample(counts[:, :1])).all()


def test_resampling_bundles_keeps_the_spread() -> None:
    """Putting very many sessions together at random leaves the variance of their rate what it is."""
    random = np.random.default_rng(6)
    sessions = 3 * BUNDLES
    failed = random.random(sessions) < 0.1
    place = bundle_numbers(sessions)
    assert np.bincount(place).min() == np.bincount(place).max() == 3
    counts = np.stack([np.bincount(place), np.bincount(place, failed)], axis=1)
    draws = resample(counts, resamples=300)
    spread = float(np.std(ratios_of_draws(draws[:, 1], draws[:, 0])))
    assert spread == pytest.approx(np.sqrt(0.09 / sessions), rel=0.2)


def test_intervals_of_few_sessions_are_wider() -> None:
    """The same draws say less when they come from fewer sessions."""
    draws = np.random.default_rng(7).normal(size=4000)
    few, many = percentile_interval(draws, LEAST_SESSIONS), percentile_interval(draws, 1000)
    assert few is not None
    assert many is not None
    assert few[0] < many[0] < many[1] < few[1]
    assert percentile_interval(np.full(3, np.nan), 10) is None
