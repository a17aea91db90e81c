"""Paired differences: the task is the unit, tests agree with scipy's, and nothing is silent."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import binomtest, permutation_test, ttest_rel

from preheat.errors import UserError
from preheat.model.experiment import Unit
from preheat.statistics.inferiority import against_margin
from preheat.statistics.paired import mcnemar, paired
from preheat.statistics.wilson import wilson

LAB: dict[str, Any] = {"metric": "success", "arm": "warm", "against": "note"}


def runs(table: list[tuple[list[float], list[float]]]) -> list[Unit]:
    """A row for each task: its runs in the two arms."""
    return [
        Unit(session=f"{task}-{arm}-{number}", arm=arm, above=value, cluster=f"task{task:03}")
        for task, row in enumerate(table)
        for arm, values in zip(("warm", "note"), row, strict=True)
        for number, value in enumerate(values)
    ]


def drawn(seed: int, tasks: int, lift: float, repeats: int = 1) -> list[tuple[list[float], list[float]]]:
    random = np.random.default_rng(seed)
    table = []
    for _ in range(tasks):
        hard = random.random() * (1 - lift)
        table.append(
            (
                [float(random.random() < hard + lift) for _ in range(repeats)],
                [float(random.random() < hard) for _ in range(repeats)],
            )
        )
    return table


def test_the_interval_is_scipys_paired_t_over_task_means() -> None:
    """Repeats go into the task's mean; the rest is the paired t-test."""
    table = drawn(1, 40, 0.2, repeats=3)
    found = paired(runs(table), **LAB).estimate
    expected = ttest_rel([np.mean(row[0]) for row in table], [np.mean(row[1]) for row in table])
    interval = expected.confidence_interval()
    assert found.p == pytest.approx(expected.pvalue)
    assert found.low == pytest.approx(interval.low)
    assert found.high == pytest.approx(interval.high)
    assert found.clusters == 40
    assert found.units == (120, 120)


def test_the_other_tests_are_beside_it_and_agree() -> None:
    """Sign flips as scipy's permutation test, McNemar as the binomial test, bootstrap near the t interval."""
    table = drawn(2, 60, 0.25)
    found = paired(runs(table), **LAB)
    gaps = np.array([row[0][0] - row[1][0] for row in table])
    only = int((gaps > 0).sum()), int((gaps < 0).sum())
    assert found.discordant == only
    assert found.mcnemar_p == pytest.approx(binomtest(only[0], sum(only)).pvalue)
    expected = permutation_test((gaps,), np.mean, permutation_type="samples", n_resamples=4000, rng=0).pvalue
    assert found.flips_p == pytest.approx(expected, abs=0.02)
    assert found.bootstrap is not None
    assert found.estimate.low is not None
    assert found.bootstrap[0] == pytest.approx(found.estimate.low, abs=0.03)
    assert found.shares is not None
    assert found.shares[0] == wilson(sum(row[0][0] for row in table), 60)
    assert paired(runs(drawn(2, 60, 0.25, repeats=2)), **LAB).mcnemar_p is None


def test_few_tasks_try_every_flip() -> None:
    """Eight tasks, all better: two of 256 ways are as far."""
    assert paired(runs([([1.0], [0.0])] * 7 + [([1.0], [0.5])]), **LAB).flips_p == pytest.approx(2 / 256)


def test_task_repeats_do_not_make_up_for_tasks() -> None:
    """The same five tasks run forty times each leave the interval as wide as their differences are."""
    few = drawn(3, 5, 0.1, repeats=40)
    found = paired(runs(few), **LAB).estimate
    assert found.freedom == 4
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 0.05


def test_coverage_of_the_paired_interval() -> None:
    """A lift of 15 points is inside about 95 of 100 intervals."""
    held = 0
    for seed in range(400):
        found = paired(runs(drawn(seed, 60, 0.15)), **LAB, draws=10).estimate
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.15 <= found.high
    assert 0.92 <= held / 400 <= 0.98


@settings(deadline=None, max_examples=60)
@given(
    some.lists(
        some.tuples(some.lists(some.floats(0, 1), min_size=0, max_size=3), some.lists(some.floats(0, 1), max_size=3)),
        max_size=12,
    )
)
def test_swapping_flips_and_nothing_is_silent(table: list[tuple[list[float], list[float]]]) -> None:
    """Any table: mirrored by swapping, whole, with tasks that only one arm has named."""
    one = paired(runs(table), **LAB, draws=50)
    other = paired(runs([(b, a) for a, b in table]), **LAB, draws=50)
    if one.estimate.difference is None:
        assert one.estimate.why
    else:
        assert one.estimate.difference == pytest.approx(-(other.estimate.difference or 0.0), abs=1e-12)
    if one.estimate.low is not None and one.estimate.high is not None and one.estimate.difference is not None:
        assert one.estimate.low <= one.estimate.difference <= one.estimate.high
    alone = sum(bool(a) != bool(b) for a, b in table)
    assert sum(int(text.split()[0]) for text in one.estimate.named if "left out" in text) == alone


def test_all_alike_is_bounded_not_certain() -> None:
    """No task passed in either arm: no difference seen in 40, and what 40 can rule out."""
    found = paired(runs([([0.0], [0.0])] * 40), **LAB)
    assert found.estimate.difference == 0
    assert found.estimate.high == pytest.approx(1 - 0.025 ** (1 / 40))
    assert found.mcnemar_p == 1.0
    assert found.margin(0.1) is None
    better = paired(runs([([1.0], [0.0])] * 40), **LAB).estimate
    assert better.high == 1.0
    assert better.low is not None
    assert 0.8 < better.low < 0.9


def test_tasks_of_one_arm_alone_are_named() -> None:
    """One as one, several as several."""
    units = [
        Unit(session=f"{arm} {task}", arm=arm, above=1.0, cluster=task)
        for arm, tasks in (("warm", "abc"), ("cold", "bcde"))
        for task in tasks
    ]
    assert paired(units, metric="success", arm="warm", against="cold").estimate.named[:2] == (
        "1 task tried in `warm` only, left out: `a`",
        "2 tasks tried in `cold` only, left out: `d`, `e`",
    )


def test_a_session_without_a_task_is_refused() -> None:
    """Pairs are made by task."""
    with pytest.raises(UserError, match="names no task"):
        paired([Unit(session="a", arm="warm", above=1)], **LAB)


def test_non_inferiority_and_equivalence_are_two_one_sided_tests() -> None:
    """The interval and the p-values tell the same; a larger margin never turns yes into no."""
    for difference in np.linspace(-0.2, 0.2, 21):
        before = False
        for margin in (0.02, 0.05, 0.1, 0.3):
            found = against_margin(float(difference), 0.03, 40, margin, better="higher")
            assert found.not_inferior == (found.low > -margin)
            assert found.same == (found.low > -margin and found.high < margin)
            assert found.not_inferior >= before
            before = found.not_inferior
            mirror = against_margin(-float(difference), 0.03, 40, margin, better="lower")
            assert mirror.not_inferior_p == pytest.approx(found.not_inferior_p)
    with pytest.raises(UserError, match="margin"):
        against_margin(0.0, 0.1, 10, 0.0)


def test_non_inferiority_is_wrong_one_time_in_twenty_at_the_margin() -> None:
    """If an arm is worse by just the margin, it passes in 5 % of trials at that risk, and in half of those at the default."""
    random = np.random.default_rng(0)
    passed = strict = 0
    for _ in range(2000):
        gaps = random.normal(-0.1, 0.4, 30)
        error = float(gaps.std(ddof=1)) / 30**0.5
        passed += against_margin(float(gaps.mean()), error, 29, 0.1, better="higher", risk=0.05).not_inferior
        strict += against_margin(float(gaps.mean()), error, 29, 0.1, better="higher").not_inferior
    assert 0.035 <= passed / 2000 <= 0.065
    assert 0.015 <= strict / 2000 <= 0.036


def test_wilson_is_statsmodels() -> None:
    """The interval of a share, also at its ends."""
    from statsmodels.stats.proportion import proportion_confint

    for hits, total in ((0, 40), (1, 40), (32, 40), (40, 40)):
        assert wilson(hits, total) == pytest.approx(proportion_confint(hits, total, method="wilson"), abs=1e-12)
    assert wilson(0, 0) == (0.0, 1.0)
    assert mcnemar(0, 0) == 1.0
