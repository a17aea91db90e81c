"""Item utilities: unbiased from lots, drawn towards each other, and seldom wrong about what helps or hurts."""

import numpy as np
import pytest

from preheat.lessons.effectiveness import effects
from preheat.model.exposure import Exposure, Measured
from preheat.statistics.items import shrink, utilities


def warm_sessions(
    seed: int, sessions: int, worth: list[float], withheld: float = 0.3
) -> tuple[list[Exposure], list[Measured]]:
    """Sessions with every item, each dropped by its own lot; what is shown moves the rate by its worth."""
    random = np.random.default_rng(seed)
    exposures, measured = [], []
    for number in range(sessions):
        shown = random.random(len(worth)) >= withheld
        rate = float(np.clip(0.3 + random.normal(0, 0.05) + shown @ np.array(worth), 0, 1))
        calls = int(random.integers(10, 60))
        exposures += [
            Exposure(f"i{item:02}", f"s{number}", bool(shown[item]), 1 - withheld) for item in range(len(worth))
        ]
        measured.append(Measured(f"s{number}", calls, int(random.binomial(calls, rate))))
    return exposures, measured


def test_the_raw_effect_is_that_of_the_learner() -> None:
    """The one formula stands twice, since stages do not import each other: the estimates are equal, the errors nearly."""
    for seed in range(4):
        exposures, measured = warm_sessions(seed, 150, [0.0, -0.05, 0.05])
        ours = {each.item: each for each in utilities(exposures, measured, margin=0.01)}
        for theirs in effects(exposures, measured):
            mine = ours[theirs.item]
            assert mine.raw == pytest.approx(theirs.effect)
            assert theirs.low is not None
            assert theirs.effect is not None
            assert mine.error is not None
            assert mine.error * 2 == pytest.approx(theirs.effect - theirs.low, rel=0.12)


def test_shrinking_makes_the_estimates_better() -> None:
    """Twelve items of which most are worth little: the squared error of all falls by a third or more, and 95 % intervals hold."""
    raw, drawn, held, count = 0.0, 0.0, 0, 0
    for seed in range(40):
        worth = list(np.random.default_rng(500 + seed).normal(-0.005, 0.01, 12))
        for each in utilities(*warm_sessions(seed, 150, worth), margin=0.01):
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


def test_few_false_finds_among_many_null_items() -> None:
    """Twenty items that do nothing, forty times: hardly ever is one said to help or to hurt."""
    wrong = 0
    for seed in range(40):
        found = utilities(*warm_sessions(seed, 150, [0.0] * 20), margin=0.02)
        wrong += any(each.verdict in ("helps", "hurts") for each in found)
    assert wrong <= 4


def test_a_harmful_a_helpful_and_a_null_item_are_told_apart() -> None:
    """With many sessions each gets its own verdict; the null one because its interval lies within the margin."""
    found = utilities(*warm_sessions(1, 3000, [-0.06, 0.06, 0.0, 0.0], withheld=0.5), margin=0.02)
    assert [each.verdict for each in found] == ["helps", "hurts", "no difference", "no difference"]
    assert found[0].q is not None
    assert found[0].q < 0.001
    assert found[1].wrong_sign is not None
    assert found[1].wrong_sign < 0.001


def test_too_little_is_said_so() -> None:
    """Nine sessions without the item, no lots, sessions that nobody measured; no mistake anywhere is not certainty."""
    exposures = [Exposure("a", f"s{k}", k >= 9, 0.8) for k in range(40)]
    measured = [Measured(f"s{k}", 20, k % 3) for k in range(40)]
    few = utilities(exposures, measured, margin=0.01)[0]
    assert (few.verdict, few.shown, few.withheld, few.raw) == ("too little data", 31, 9, None)
    assert utilities([Exposure("a", "s1", True, 1.0)], measured, margin=0.01) == []
    assert utilities(exposures, [], margin=0.01)[0].verdict == "too little data"
    clean = utilities(
        [Exposure("a", f"s{k}", k % 2 == 0, 0.5) for k in range(60)],
        [Measured(f"s{k}", 20, 0) for k in range(60)],
        margin=0.001,
    )[0]
    assert clean.verdict == "too little data"
    assert clean.low is not None
    assert clean.low < -0.001


def test_shrink_leaves_one_or_two_alone_and_pulls_the_unsure_most() -> None:
    """With three or more, the larger the error, the nearer to the mean."""
    one = shrink(np.array([0.1]), np.array([0.05]))[0]
    assert one.effect == pytest.approx(0.1)
    assert one.low == pytest.approx(0.1 - 1.96 * 0.05, abs=1e-4)
    assert one.high == pytest.approx(0.1 + 1.96 * 0.05, abs=1e-4)
    assert shrink(np.array([]), np.array([])) == []
    found = shrink(np.array([0.2, 0.2, 0.0, 0.0, -0.1, 0.05]), np.array([0.01, 0.2, 0.02, 0.02, 0.02, 0.02]))
    assert found[0].effect > 0.18
    assert found[1].effect < 0.12


def test_looking_after_every_few_sessions_blames_hardly_any_item() -> None:
    """Six items that do nothing, looked at after every tenth session: with the interval for every look fewer than one trial in
    twenty ever says that one of them hurts, and never more than with the interval for one look."""
    once, ever = 0, 0
    trials = 60
    for seed in range(trials):
        exposures, measured = warm_sessions(900 + seed, 160, [0.0] * 6)
        blamed = {False: False, True: False}
        for end in range(40, 161, 10):
            for always in blamed:
                found = utilities(exposures[: 6 * end], measured[:end], margin=0.002, always=always)
                blamed[always] |= any(each.verdict == "hurts" for each in found)
        once += blamed[False]
        ever += blamed[True]
    assert ever <= 0.05 * trials
    assert ever <= once
