"""The marathon question where the truth is known: selection is called selection, learning learning, and nothing nothing."""

import pytest

from preheat.model.population import LearningVerdict, Marathon
from preheat.profiles.population import measure_population
from tests.profiles.simulated import Chance, mixed, simulated


def by_length(length: int, message: int, activity: str, level: float) -> float:
    """Sessions that become long are better from the start; nobody learns."""
    return (0.20 if length <= 50 else 0.15 if length <= 100 else 0.08) + level


def by_place(length: int, message: int, activity: str, level: float) -> float:
    """Everybody learns at the same pace; nobody is better at the start."""
    return max(0.03, 0.22 - 0.05 * message / 100) + level


def by_both(length: int, message: int, activity: str, level: float) -> float:
    return (0.15 if length > 100 else 0.25) - 0.03 * message / 100 + level


def tiring(length: int, message: int, activity: str, level: float) -> float:
    return 0.06 + 0.04 * message / 100 + level


def steady(length: int, message: int, activity: str, level: float) -> float:
    return 0.12 + level


def asked(chance: Chance, count: int = 180) -> Marathon:
    return measure_population(*simulated(chance, mixed(count))).marathon


@pytest.mark.parametrize(
    ("chance", "verdict"),
    [
        (by_length, "selection"),
        (by_place, "learning"),
        (by_both, "learning_and_selection"),
        (tiring, "worse"),
        (steady, "neither"),
    ],
)
def test_the_verdict_matches_the_simulated_truth(chance: Chance, verdict: LearningVerdict) -> None:
    """Both for all errors and, as all of these are mistakes, for mistakes."""
    found = asked(chance)
    assert found.errors.verdict == verdict
    assert found.mistakes.verdict == verdict
    assert found.errors.words == tuple(found.errors.words)


def test_the_slope_matches_the_simulated_one() -> None:
    """4 points per 100 messages, inside the interval, and the interval is no barn door."""
    change = asked(tiring).errors.slope.change
    assert change.low is not None
    assert change.high is not None
    assert change.low < 0.04 < change.high
    assert change.high - change.low < 0.03


def test_selection_and_what_came_later_add_up() -> None:
    """The difference by length is exactly what was there from the start and what came after."""
    answer = asked(by_both).errors
    assert answer.raw.value is not None
    assert answer.selection.value is not None
    assert answer.later.value is not None
    assert answer.raw.value == pytest.approx(answer.selection.value + answer.later.value)


def test_other_work_is_not_learning() -> None:
    """Easy calls come late: the plain slope falls, at the same kind of work it does not."""
    sessions, calls = simulated(steady, mixed(180))
    turned = [
        fact._replace(
            activity="read" if place > 40 else "edit", status="ok" if place > 40 and fact.seq % 3 else fact.status
        )
        for fact in calls
        for place in [fact.message]
    ]
    answer = measure_population(sessions, turned).marathon.errors
    assert answer.slope_any_work.change.direction == "lower"
    assert answer.slope.change.direction == "no_difference"


def test_a_mix_of_agents_is_no_difference_by_length() -> None:
    """One agent has short sessions and fails often, another has long ones and rarely fails: by length they differ, inside
    each agent they do not."""
    often = simulated(lambda *_: 0.3, [30] * 60 + [150] * 8, seed=2, agent="often")
    rarely = simulated(lambda *_: 0.05, [30] * 8 + [150] * 60, seed=3, agent="rarely", first=100)
    found = measure_population(often[0] + rarely[0], often[1] + rarely[1])
    assert found.marathon.errors.raw.direction == "lower"
    assert found.marathon.errors.within_agents.direction == "no_difference"
    assert [answer.agent for answer in found.by_agent] == ["rarely", "often"]


def test_a_slope_that_hangs_on_the_last_calls_is_not_counted() -> None:
    """Sessions that stop at their first failure look as if they got worse; without their last call they do not."""
    sessions, calls = simulated(lambda *_: 0.0, [40 + 2 * place for place in range(60)], spread=0.0)
    ends = {fact.session: fact.messages for fact in sessions}
    stopped = [
        fact._replace(status="failed", cause="mistake")
        if fact.message >= ends[fact.session] - 1 or (fact.message == 4 and fact.session % 2)
        else fact
        for fact in calls
    ]
    answer = measure_population(sessions, stopped).marathon.errors
    assert answer.slope.change.direction == "higher"
    assert answer.verdict != "worse"
    assert any("does not hold up" in sentence for sentence in answer.words)


def test_too_few_long_sessions_give_too_little_data() -> None:
    """The part that cannot be answered says so; the others still answer."""
    answer = measure_population(*simulated(steady, [40] * 60 + [95] * 9 + [150] * 2)).marathon.errors
    assert answer.raw.value is None
    assert "too few long sessions" in " ".join(answer.words)
    assert answer.slope.change.value is not None
