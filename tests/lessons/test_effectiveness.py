"""LearnEffectiveness: an effect is estimated from random assignments alone, without bias, with an interval that holds."""

import re
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.lessons.effectiveness import apply_effects, describe, estimate_effects
from preheat.model.experiment import Exposure, ExposureEffect, MeasuredSession
from preheat.model.lesson import Lesson, Scope
from preheat.statistics.exposures import FEWEST_SESSIONS


def drawn(
    random: Random, sessions: int, probability: float, effect: float, base: float = 0.10
) -> tuple[list[Exposure], list[MeasuredSession]]:
    """Sessions of different lengths and skill; chance decides which of them get the item."""
    exposures, measured = [], []
    for number in range(sessions):
        key = f"tester:{number}"
        shown = random.random() < probability
        skill = max(0.0, min(1.0, base + random.gauss(0, 0.04) + (effect if shown else 0.0)))
        calls = random.randint(5, 60)
        mistakes = sum(random.random() < skill for _ in range(calls))
        exposures.append(Exposure("r1", key, shown, probability, float(number)))
        measured.append(MeasuredSession(key, calls, mistakes))
    return exposures, measured


def simulated(effect: float, probability: float, runs: int, sessions: int = 120) -> Iterator[ExposureEffect]:
    random = Random(f"{effect} {probability}")
    for _ in range(runs):
        yield estimate_effects(*drawn(random, sessions, probability, effect))[0]


@pytest.mark.parametrize("probability", [0.5, 0.8])
@pytest.mark.parametrize("effect", [0.0, -0.04])
def test_the_interval_holds_the_truth_nineteen_times_in_twenty(effect: float, probability: float) -> None:
    """Over many experiments the estimate is unbiased and the 95 % interval covers the truth about as often as it says."""
    found = list(simulated(effect, probability, 300))
    covered = sum(each.low <= effect <= each.high for each in found if each.low is not None and each.high is not None)
    mean = sum(each.effect or 0.0 for each in found) / len(found)
    assert 0.92 <= covered / len(found) <= 0.985
    assert mean == pytest.approx(effect, abs=0.004)


def test_a_strong_effect_is_found_and_named() -> None:
    """Halving the mistakes shows as help, doubling them as harm."""
    helps = [each.verdict for each in simulated(-0.06, 0.5, 40, 300)]
    hurts = [each.verdict for each in simulated(0.06, 0.5, 40, 300)]
    assert helps.count("helps") >= 36
    assert hurts.count("hurts") >= 36


def test_too_few_sessions_are_not_measured() -> None:
    """Nine sessions in an arm say nothing, however clear they look."""
    exposures = [Exposure("r1", f"s{n}", n < 30, 0.8) for n in range(30 + FEWEST_SESSIONS - 1)]
    measured = [MeasuredSession(f"s{n}", 50, 0 if n < 30 else 40) for n in range(40)]
    assert estimate_effects(exposures, measured) == [
        ExposureEffect("r1", 30, FEWEST_SESSIONS - 1, None, None, None, "not measured")
    ]
    assert "not measured" in describe(apply_effects([lesson("r1")], estimate_effects(exposures, measured)))


def test_sessions_without_a_random_assignment_never_count() -> None:
    """Sessions that got an item for certain, or were sure not to, are no experiment: nothing is estimated from them."""
    exposures = [Exposure("r1", f"s{n}", n % 2 == 0, 1.0 if n % 2 == 0 else 0.0) for n in range(100)]
    assert estimate_effects(exposures, [MeasuredSession(f"s{n}", 20, n % 2) for n in range(100)]) == []


def test_different_probabilities_are_weighed() -> None:
    """Hard sessions that got the item more often do not make it look harmful."""
    random = Random(7)
    exposures, measured = [], []
    for number in range(4000):
        hard = number % 2 == 0
        probability = 0.8 if hard else 0.2
        shown = random.random() < probability
        exposures.append(Exposure("r1", f"s{number}", shown, probability))
        measured.append(
            MeasuredSession(f"s{number}", 20, sum(random.random() < (0.3 if hard else 0.05) for _ in range(20)))
        )
    (found,) = estimate_effects(exposures, measured)
    assert found.verdict == "no difference shown"
    assert found.effect == pytest.approx(0.0, abs=0.02)


def test_the_first_assignment_of_a_session_counts() -> None:
    """A second assignment in the same session may depend on the first, so the first one counts."""
    exposures = [Exposure("r1", f"s{n}", n < 20, 0.5, 1.0) for n in range(40)]
    again = [Exposure("r1", f"s{n}", n >= 20, 0.5, 2.0) for n in range(40)]
    measured = [MeasuredSession(f"s{n}", 10, 1) for n in range(40)]
    assert estimate_effects([*again, *exposures], measured) == estimate_effects(exposures, measured)


def lesson(name: str, pinned: bool = False) -> Lesson:
    return Lesson(id=name, kind="repair", scope=Scope(project="shop"), text="Use `x`.", pinned=pinned)


def test_harm_retires_a_lesson_and_help_is_its_utility() -> None:
    """Utility is mistakes spared per call; a harmful item goes, with its numbers; a pinned one stays."""
    found = [
        ExposureEffect("good", 50, 50, -0.05, -0.08, -0.02, "helps"),
        ExposureEffect("bad", 50, 50, 0.05, 0.03, 0.07, "hurts"),
        ExposureEffect("wanted", 50, 50, 0.05, 0.03, 0.07, "hurts"),
        ExposureEffect("nothing", 50, 50, 0.01, -0.02, 0.04, "no difference shown"),
        ExposureEffect("new", 3, 4, None, None, None, "not measured"),
    ]
    names = ["good", "bad", "wanted", "nothing", "new", "other"]
    by_id = {each.id: each for each in apply_effects([lesson(name, name == "wanted") for name in names], found)}
    assert [by_id[name].utility for name in names] == [0.05, -0.05, -0.05, 0.0, None, None]
    assert [by_id[name].status for name in names] == ["active", "retired", "active", "active", "active", "active"]
    assert "+5.0 mistakes per 100 calls" in by_id["bad"].why
    assert re.findall(r"\d+", describe(list(by_id.values()))) == ["4", "1", "2", "1"]


def test_among_many_items_chance_retires_hardly_any() -> None:
    """With a hundred items that do nothing, one or none is retired: the interval is widened for their number."""
    random = Random(3)
    _, measured = drawn(random, 200, 0.5, 0.0)
    keys = [each.session for each in measured]
    exposures = [Exposure(f"i{n}", key, random.random() < 0.5, 0.5) for n in range(100) for key in keys]
    found = estimate_effects(exposures, measured)
    assert any(each.verdict == "hurts" for each in found)
    retired = [each for each in apply_effects([lesson(f"i{n}") for n in range(100)], found) if each.status == "retired"]
    assert len(retired) <= 1


any_exposure = st.builds(
    Exposure,
    st.sampled_from(["a", "b"]),
    st.integers(0, 60).map(str),
    st.booleans(),
    st.floats(0, 1),
    st.none() | st.floats(0, 9),
)
outcomes = st.builds(MeasuredSession, st.integers(0, 60).map(str), st.integers(0, 50), st.integers(0, 60))


@given(
    st.lists(any_exposure, max_size=150),
    st.lists(outcomes, max_size=80, unique_by=lambda each: each.session),
    st.randoms(),
)
def test_any_assignments_in_any_order_give_the_same_effects(
    exposures: list[Exposure], measured: list[MeasuredSession], random: Random
) -> None:
    """Whatever was recorded: no crash, an interval around its effect, and the same result in any order."""
    found = estimate_effects(exposures, measured)
    for each in found:
        if each.effect is not None and each.low is not None and each.high is not None:
            assert -1 <= each.effect <= 1
            assert each.low < each.effect < each.high
        else:
            assert each.verdict == "not measured"
    shuffled = [*exposures]
    random.shuffle(shuffled)
    again = estimate_effects(shuffled, measured[::-1])
    assert [each.verdict for each in again] == [each.verdict for each in found]
    assert [each.effect for each in again] == pytest.approx([each.effect for each in found])
