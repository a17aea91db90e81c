"""The minimum viable warm-up: the fewest items that do as well as the most, and no fewer."""

import numpy as np
import pytest

from preheat.errors import UserError
from preheat.model.experiment import Unit
from preheat.statistics.dose import minimum_dose

CURVE = {0: 0.2, 2: 0.4, 4: 0.7, 8: 0.72, 16: 0.72}


def lab(seed: int, tasks: int, curve: dict[int, float] = CURVE) -> dict[int, list[Unit]]:
    random = np.random.default_rng(seed)
    ease = random.normal(0, 0.05, tasks)
    return {
        items: [
            Unit(
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


def test_the_fewest_items_are_found() -> None:
    """With 120 tasks the plateau begins at four items; two are too few in every trial."""
    found = [minimum_dose(lab(seed, 120), margin=0.1, better="higher", draws=200).fewest for seed in range(20)]
    assert found.count(4) >= 17
    assert 2 not in found
    assert 0 not in found


def test_too_few_items_pass_one_time_in_twenty_at_most() -> None:
    """Four items that are worse by just the margin are taken in about 5 % of labs."""
    curve = {0: 0.2, 4: 0.6, 8: 0.7}
    found = [minimum_dose(lab(seed, 60, curve), margin=0.1, better="higher", draws=20).fewest for seed in range(300)]
    assert found.count(4) / 300 <= 0.085


def test_the_fit_never_falls_and_its_interval_holds_it() -> None:
    """More items are never worse in the fit; with few tasks the levels are anything."""
    for seed in range(10):
        doses = minimum_dose(lab(seed, 6), margin=0.1, better="higher", draws=200).doses
        fitted = [each.fitted for each in doses]
        assert fitted == sorted(fitted)
        assert all(each.low <= each.fitted <= each.high for each in doses)
        assert doses[-1].held is None


def test_lower_can_be_better() -> None:
    """Mistakes instead of successes: the same answer, mirrored."""
    high = lab(3, 80)
    low = {
        items: [
            Unit(session=each.session, arm=each.arm, above=6 - each.above, below=6.0, cluster=each.cluster)
            for each in units
        ]
        for items, units in high.items()
    }
    one = minimum_dose(high, margin=0.1, better="higher", draws=200)
    other = minimum_dose(low, margin=0.1, better="lower", draws=200)
    assert one.fewest == other.fewest
    assert [each.fitted for each in one.doses] == pytest.approx([1 - each.fitted for each in other.doses])


def test_what_cannot_be_told_is_named() -> None:
    """One number of items, no task in common, no task named."""
    with pytest.raises(UserError, match="two numbers of items"):
        minimum_dose({4: []}, margin=0.1, better="higher")
    assert minimum_dose({0: [], 4: []}, margin=0.1, better="higher").why.startswith("0 tasks")
    one = [Unit(session="a", arm="x", above=1, cluster="t")]
    assert minimum_dose({0: one, 4: one}, margin=0.1, better="higher").why.startswith("1 task tried")
    with pytest.raises(UserError, match="names no task"):
        minimum_dose({0: [Unit(session="a", arm="x", above=1)], 4: []}, margin=0.1, better="higher")
    same = [Unit(session=f"{k}", arm="x", above=1, cluster=f"t{k}") for k in range(5)]
    assert minimum_dose({0: same, 4: same}, margin=0.1, better="higher", draws=20).fewest == 0
