"""Utilities of lessons are unbiased, shrunk towards each other, and seldom wrong about what helps or hurts."""

import numpy as np
import pytest

from preheat.lessons.effectiveness import estimate_effects
from preheat.model.experiment import Exposure, MeasuredSession
from preheat.statistics.utility import estimate_utilities, shrink_effects


def simulate_sessions(
    seed: int, sessions: int, worth: list[float], withheld: float = 0.3
) -> tuple[list[Exposure], list[MeasuredSession]]:
    """Sessions with every item, each withheld at random; a shown item moves the rate by its effect."""
    random = np.random.default_rng(seed)
    exposures, measured = [], []
    for number in range(sessions):
        shown = random.random(len(worth)) >= withheld
        rate = float(np.clip(0.3 + random.normal(0, 0.05) + shown @ np.array(worth), 0, 1))
        calls = int(random.integers(10, 60))
        exposures += [
            Exposure(f"i{item:02}", f"s{number}", bool(shown[item]), 1 - withheld) for item in range(len(worth))
        ]
        measured.append(MeasuredSession(f"s{number}", calls, int(random.binomial(calls, rate))))
    return exposures, measured


def test_the_raw_effect_equals_that_of_the_lessons_package() -> None:
    """The formula exists twice, because stages do not import each other: estimates are equal, errors nearly."""
    for seed in range(4):
        exposures, measured = simulate_sessions(seed, 150, [0.0, -0.05, 0.05])
        ours = {each.item: each for each in estimate_utilities(exposures, measured, margin=0.01)}
        for theirs in estimate_effects(exposures, measured):
            mine = ours[theirs.item]
            assert mine.raw == pytest.approx(theirs.effect)
            assert theirs.low is not None
            assert theirs.effect is not None
            assert mine.error is not None
            assert mine.error * 2 == pytest.approx(theirs.effect - theirs.low, rel=0.12)


def test_shrinking_lowers_the_squared_error_by_a_third_and_keeps_the_coverage() -> None:
    """Twelve items of which most have little effect."""
    raw, drawn, held, count = 0.0, 0.0, 0, 0
    for seed in range(40):
        worth = list(np.random.default_rng(500 + seed).normal(-0.005, 0.01, 12))
        for each in estimate_utilities(*simulate_sessions(seed, 150, worth), margin=0.01):
            truth = worth[int(each.item[1:])]
            assert each.raw is not None
            assert each.effect is not None
            assert each.low is not None
            assert each.high is not None
            raw += (each.raw - truth) ** 2
            drawn += (each.effect - truth) ** 2
            held += each.low <= truth <= each.high
            count += 1
    assert drawn < 0.67 * raw
    assert held / count >= 0.93


def test_hardly_any_of_many_null_items_gets_a_verdict() -> None:
    """Twenty items without effect, forty times."""
    wrong = 0
    for seed in range(40):
        found = estimate_utilities(*simulate_sessions(seed, 150, [0.0] * 20), margin=0.02)
        wrong += any(each.verdict in ("helps", "hurts") for each in found)
    assert wrong <= 4


def test_a_harmful_a_helpful_and_a_null_item_get_their_verdicts() -> None:
    found = estimate_utilities(*simulate_sessions(1, 3000, [-0.06, 0.06, 0.0, 0.0], withheld=0.5), margin=0.02)
    assert [each.verdict for each in found] == ["helps", "hurts", "no difference", "no difference"]
    assert found[0].q is not None
    assert found[0].q < 0.001
    assert found[1].wrong_sign is not None
    assert found[1].wrong_sign < 0.001


def test_too_little_data_is_the_verdict_where_nothing_can_be_estimated() -> None:
    """Nine sessions without the item, nothing random, sessions without measures; no mistake anywhere is no certainty."""
    exposures = [Exposure("a", f"s{k}", k >= 9, 0.8) for k in range(40)]
    measured = [MeasuredSession(f"s{k}", 20, k % 3) for k in range(40)]
    few = estimate_utilities(exposures, measured, margin=0.01)[0]
    assert (few.verdict, few.shown, few.withheld, few.raw) == ("too little data", 31, 9, None)
    assert estimate_utilities([Exposure("a", "s1", True, 1.0)], measured, margin=0.01) == []
    assert estimate_utilities(exposures, [], margin=0.01)[0].verdict == "too little data"
    clean = estimate_utilities(
        [Exposure("a", f"s{k}", k % 2 == 0, 0.5) for k in range(60)],
        [MeasuredSession(f"s{k}", 20, 0) for k in range(60)],
        margin=0.001,
    )[0]
    assert clean.verdict == "too little data"
    assert clean.low is not None
    assert clean.low < -0.001


def test_the_effect_with_the_largest_error_is_shrunk_most_and_one_or_two_effects_not_at_all() -> None:
    one = shrink_effects(np.array([0.1]), np.array([0.05]))[0]
    assert one.effect == pytest.approx(0.1)
    assert one.low == pytest.approx(0.1 - 1.96 * 0.05, abs=1e-4)
    assert one.high == pytest.approx(0.1 + 1.96 * 0.05, abs=1e-4)
    assert shrink_effects(np.array([]), np.array([])) == []
    found = shrink_effects(np.array([0.2, 0.2, 0.0, 0.0, -0.1, 0.05]), np.array([0.01, 0.2, 0.02, 0.02, 0.02, 0.02]))
    assert found[0].effect > 0.18
    assert found[1].effect < 0.12


def test_always_valid_intervals_keep_false_verdicts_rare_at_repeated_looks() -> None:
    """Six items without effect, looked at after every tenth session."""
    once, ever = 0, 0
    trials = 60
    for seed in range(trials):
        exposures, measured = simulate_sessions(900 + seed, 160, [0.0] * 6)
        blamed = {False: False, True: False}
        for end in range(40, 161, 10):
            for always in blamed:
                found = estimate_utilities(exposures[: 6 * end], measured[:end], margin=0.002, always=always)
                blamed[always] |= any(each.verdict == "hurts" for each in found)
        once += blamed[False]
        ever += blamed[True]
    assert ever <= 0.05 * trials
    assert ever <= once
