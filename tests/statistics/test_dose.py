"""The minimum viable warm-up: the smallest number of lessons that is as good as the largest."""

import numpy as np
import pytest

from preheat.errors import UserError
from preheat.model.experiment import Observation
from preheat.statistics.dose import minimum_dose

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
    found = [minimum_dose(simulate_lab(seed, 120), margin=0.1, better="higher", draws=200).fewest for seed in range(20)]
    assert found.count(4) >= 17
    assert 2 not in found
    assert 0 not in found


def test_a_number_that_is_worse_by_the_margin_is_accepted_in_about_five_percent_of_labs() -> None:
    curve = {0: 0.2, 4: 0.6, 8: 0.7}
    found = [
        minimum_dose(simulate_lab(seed, 60, curve), margin=0.1, better="higher", draws=20).fewest for seed in range(300)
    ]
    assert found.count(4) / 300 <= 0.085


def test_the_fit_never_falls_and_lies_within_its_interval() -> None:
    for seed in range(10):
        doses = minimum_dose(simulate_lab(seed, 6), margin=0.1, better="higher", draws=200).doses
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
    one = minimum_dose(high, margin=0.1, better="higher", draws=200)
    other = minimum_dose(low, margin=0.1, better="lower", draws=200)
    assert one.fewest == other.fewest
    assert [each.fitted for each in one.doses] == pytest.approx([1 - each.fitted for each in other.doses])


def test_the_reason_is_given_where_no_number_can_be_found() -> None:
    """One number of lessons, no task in common, no task named."""
    with pytest.raises(UserError, match="two numbers of items"):
        minimum_dose({4: []}, margin=0.1, better="higher")
    assert minimum_dose({0: [], 4: []}, margin=0.1, better="higher").why.startswith("0 tasks")
    one = [Observation(session="a", arm="x", above=1, cluster="t")]
    assert minimum_dose({0: one, 4: one}, margin=0.1, better="higher").why.startswith("1 task tried")
    with pytest.raises(UserError, match="names no task"):
        minimum_dose({0: [Observation(session="a", arm="x", above=1)], 4: []}, margin=0.1, better="higher")
    same = [Observation(session=f"{k}", arm="x", above=1, cluster=f"t{k}") for k in range(5)]
    assert minimum_dose({0: same, 4: same}, margin=0.1, better="higher", draws=20).fewest == 0
