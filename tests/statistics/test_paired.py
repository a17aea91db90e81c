"""Paired differences agree with scipy, and the minimum number of lessons is found."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import binomtest, permutation_test, ttest_rel

from preheat.errors import UserError
from preheat.model.experiment import Observation
from preheat.statistics.paired import compare_paired, find_minimum_dose, mcnemar
from preheat.statistics.shares import wilson
from preheat.statistics.verdict import compare_with_margin

LAB: dict[str, Any] = {"metric": "success", "arm": "warm", "against": "note"}


def units_of(table: list[tuple[list[float], list[float]]]) -> list[Observation]:
    """A row for each task: its runs in the two arms."""
    return [
        Observation(session=f"{task}-{arm}-{number}", arm=arm, above=value, cluster=f"task{task:03}")
        for task, row in enumerate(table)
        for arm, values in zip(("warm", "note"), row, strict=True)
        for number, value in enumerate(values)
    ]


def simulate_table(seed: int, tasks: int, lift: float, repeats: int = 1) -> list[tuple[list[float], list[float]]]:
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


def test_the_interval_equals_scipys_paired_t_over_task_means() -> None:
    table = simulate_table(1, 40, 0.2, repeats=3)
    found = compare_paired(units_of(table), **LAB).estimate
    expected = ttest_rel([np.mean(row[0]) for row in table], [np.mean(row[1]) for row in table])
    interval = expected.confidence_interval()
    assert found.p == pytest.approx(expected.pvalue)
    assert found.low == pytest.approx(interval.low)
    assert found.high == pytest.approx(interval.high)
    assert found.clusters == 40
    assert found.units == (120, 120)


def test_sign_flips_mcnemar_and_bootstrap_agree_with_scipy() -> None:
    table = simulate_table(2, 60, 0.25)
    found = compare_paired(units_of(table), **LAB)
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
    assert compare_paired(units_of(simulate_table(2, 60, 0.25, repeats=2)), **LAB).mcnemar_p is None


def test_with_few_tasks_every_sign_flip_is_tried() -> None:
    """Eight tasks, all better: two of 256 combinations are as extreme."""
    assert compare_paired(units_of([([1.0], [0.0])] * 7 + [([1.0], [0.5])]), **LAB).flips_p == pytest.approx(2 / 256)


def test_repeats_of_a_task_do_not_narrow_the_interval() -> None:
    few = simulate_table(3, 5, 0.1, repeats=40)
    found = compare_paired(units_of(few), **LAB).estimate
    assert found.freedom == 4
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 0.05


def test_the_paired_interval_has_its_coverage() -> None:
    held = 0
    for seed in range(400):
        found = compare_paired(units_of(simulate_table(seed, 60, 0.15)), **LAB, draws=10).estimate
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
def test_swapping_the_arms_mirrors_the_result_and_unpaired_tasks_are_remarked(
    table: list[tuple[list[float], list[float]]],
) -> None:
    one = compare_paired(units_of(table), **LAB, draws=50)
    other = compare_paired(units_of([(b, a) for a, b in table]), **LAB, draws=50)
    if one.estimate.difference is None:
        assert one.estimate.why
    else:
        assert one.estimate.difference == pytest.approx(-(other.estimate.difference or 0.0), abs=1e-12)
    if one.estimate.low is not None and one.estimate.high is not None and one.estimate.difference is not None:
        assert one.estimate.low <= one.estimate.difference <= one.estimate.high
    alone = sum(bool(a) != bool(b) for a, b in table)
    assert sum(int(text.split()[0]) for text in one.estimate.remarks if "left out" in text) == alone


def test_equal_tasks_give_a_bound_and_no_certainty() -> None:
    """No task of 40 passed in either arm."""
    found = compare_paired(units_of([([0.0], [0.0])] * 40), **LAB)
    assert found.estimate.difference == 0
    assert found.estimate.high == pytest.approx(1 - 0.025 ** (1 / 40))
    assert found.mcnemar_p == 1.0
    assert found.compare_with_margin(0.1) is None
    better = compare_paired(units_of([([1.0], [0.0])] * 40), **LAB).estimate
    assert better.high == 1.0
    assert better.low is not None
    assert 0.8 < better.low < 0.9


def test_tasks_of_one_arm_only_are_remarked() -> None:
    units = [
        Observation(session=f"{arm} {task}", arm=arm, above=1.0, cluster=task)
        for arm, tasks in (("warm", "abc"), ("cold", "bcde"))
        for task in tasks
    ]
    remarks = compare_paired(units, metric="success", arm="warm", against="cold").estimate.remarks
    assert [re.findall("`([a-z]+)`", remark) for remark in remarks[:2]] == [["warm", "a"], ["cold", "d", "e"]]


def test_a_session_without_a_task_is_refused() -> None:
    with pytest.raises(UserError, match="names no task"):
        compare_paired([Observation(session="a", arm="warm", above=1)], **LAB)


def test_non_inferiority_and_equivalence_agree_with_the_interval() -> None:
    """A larger margin never turns yes into no."""
    for difference in np.linspace(-0.2, 0.2, 21):
        before = False
        for margin in (0.02, 0.05, 0.1, 0.3):
            found = compare_with_margin(float(difference), 0.03, 40, margin, better="higher")
            assert found.not_inferior == (found.low > -margin)
            assert found.same == (found.low > -margin and found.high < margin)
            assert found.not_inferior >= before
            before = found.not_inferior
            mirror = compare_with_margin(-float(difference), 0.03, 40, margin, better="lower")
            assert mirror.not_inferior_p == pytest.approx(found.not_inferior_p)
    with pytest.raises(UserError, match="margin"):
        compare_with_margin(0.0, 0.1, 10, 0.0)


def test_an_arm_that_is_worse_by_the_margin_passes_in_five_percent_of_trials() -> None:
    """At a risk of 5 %, and in half of those at the default."""
    random = np.random.default_rng(0)
    passed = strict = 0
    for _ in range(2000):
        gaps = random.normal(-0.1, 0.4, 30)
        error = float(gaps.std(ddof=1)) / 30**0.5
        passed += compare_with_margin(float(gaps.mean()), error, 29, 0.1, better="higher", risk=0.05).not_inferior
        strict += compare_with_margin(float(gaps.mean()), error, 29, 0.1, better="higher").not_inferior
    assert 0.035 <= passed / 2000 <= 0.065
    assert 0.015 <= strict / 2000 <= 0.036


def test_wilsons_interval_equals_that_of_statsmodels() -> None:
    from statsmodels.stats.proportion import proportion_confint

    for hits, total in ((0, 40), (1, 40), (32, 40), (40, 40)):
        assert wilson(hits, total) == pytest.approx(proportion_confint(hits, total, method="wilson"), abs=1e-12)
    assert wilson(0, 0) == (0.0, 1.0)
    assert mcnemar(0, 0) == 1.0


# The minimum viable warm-up
CURVE = {0: 0.2, 2: 0.4, 4: 0.7, 8: 0.72, 16: 0.72}


def simulate_lab(seed: int, tasks: int, curve: dict[int, float] = CURVE) -> dict[int, list[Observation]]:
    random = np.random.default_rng(seed)
    ease = random.normal(0, 0.05, tasks)
    return {
        items: [
            Observation(
                session=f"{items}-{task}",
                arm="warm",
                above=float(random.binomial(6, np.clip(level + ease[task], 0, 1))),
                below=6.0,
                cluster=f"t{task}",
            )
            for task in range(tasks)
        ]
        for items, level in curve.items()
    }


def test_the_smallest_sufficient_number_of_lessons_is_found() -> None:
    """With 120 tasks the plateau begins at four lessons; two are too few in every trial."""
    found = [
        find_minimum_dose(simulate_lab(seed, 120), margin=0.1, better="higher", draws=200).fewest for seed in range(20)
    ]
    assert found.count(4) >= 17
    assert 2 not in found
    assert 0 not in found


def test_a_number_that_is_worse_by_the_margin_is_accepted_in_about_five_percent_of_labs() -> None:
    curve = {0: 0.2, 4: 0.6, 8: 0.7}
    found = [
        find_minimum_dose(simulate_lab(seed, 60, curve), margin=0.1, better="higher", draws=20).fewest
        for seed in range(300)
    ]
    assert found.count(4) / 300 <= 0.085


def test_the_fit_never_falls_and_lies_within_its_interval() -> None:
    for seed in range(10):
        doses = find_minimum_dose(simulate_lab(seed, 6), margin=0.1, better="higher", draws=200).doses
        fitted = [each.fitted for each in doses]
        assert fitted == sorted(fitted)
        assert all(each.low <= each.fitted <= each.high for each in doses)
        assert doses[-1].inferiority is None


def test_a_metric_where_lower_is_better_gives_the_mirrored_result() -> None:
    high = simulate_lab(3, 80)
    low = {
        items: [
            Observation(session=each.session, arm=each.arm, above=6 - each.above, below=6.0, cluster=each.cluster)
            for each in units
        ]
        for items, units in high.items()
    }
    one = find_minimum_dose(high, margin=0.1, better="higher", draws=200)
    other = find_minimum_dose(low, margin=0.1, better="lower", draws=200)
    assert one.fewest == other.fewest
    assert [each.fitted for each in one.doses] == pytest.approx([1 - each.fitted for each in other.doses])


def test_the_reason_is_given_where_no_number_can_be_found() -> None:
    """One number of lessons, no task in common, no task named."""
    with pytest.raises(UserError, match="two numbers of items"):
        find_minimum_dose({4: []}, margin=0.1, better="higher")
    assert find_minimum_dose({0: [], 4: []}, margin=0.1, better="higher").why.startswith("0 tasks")
    one = [Observation(session="a", arm="x", above=1, cluster="t")]
    assert find_minimum_dose({0: one, 4: one}, margin=0.1, better="higher").why.startswith("1 task tried")
    with pytest.raises(UserError, match="names no task"):
        find_minimum_dose({0: [Observation(session="a", arm="x", above=1)], 4: []}, margin=0.1, better="higher")
    same = [Observation(session=f"{k}", arm="x", above=1, cluster=f"t{k}") for k in range(5)]
    assert find_minimum_dose({0: same, 4: same}, margin=0.1, better="higher", draws=20).fewest == 0
