"""LearnEffectiveness: what showing an item did, measured only where it was shown or withheld at random. Knows no session.

The measure is mistakes per call. In each arm it is a ratio of weighted sums, `R = Σ w·mistakes / Σ w·calls`, with
`w = 1/p` where the item was shown and `1/(1-p)` where it was withheld, so that sessions with different probabilities may stand
side by side. The effect is `R(shown) - R(withheld)`. Calls of one session are alike, so the session is the unit: by the delta
method an arm's variance is `n/(n-1) · Σ (w·(mistakes - R·calls))² / (Σ w·calls)²`, and the interval is taken from Student's t
with Welch's degrees of freedom. Too few sessions in an arm: "not measured". Sessions that saw an item without a random
assignment (probability 0 or 1) never count: who got it may have needed it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import msgspec

from preheat.lessons.learner import Learner
from preheat.model.experiment import Exposure, ExposureEffect, ExposureVerdict, MeasuredSession
from preheat.model.lesson import Lesson
from preheat.statistics.exposures import FEWEST_SESSIONS, first_exposures

_RISK = 0.05


class _WeightedSession(NamedTuple):
    """One session in one arm."""

    weight: float
    calls: int
    mistakes: int


class _Arm(NamedTuple):
    rate: float
    variance: float
    sessions: int


def estimate_effects(exposures: Iterable[Exposure], measured: Iterable[MeasuredSession]) -> list[ExposureEffect]:
    """The effect of each item that was ever shown or withheld at random, by item."""
    outcomes = {each.session: each for each in measured if each.calls > 0 and 0 <= each.mistakes <= each.calls}
    arms: defaultdict[str, tuple[list[_WeightedSession], list[_WeightedSession]]] = defaultdict(lambda: ([], []))
    for exposure in first_exposures(exposures):
        sides = arms[exposure.item]
        outcome = outcomes.get(exposure.session)
        if outcome is not None:
            weight = 1 / exposure.probability if exposure.shown else 1 / (1 - exposure.probability)
            sides[0 if exposure.shown else 1].append(_WeightedSession(weight, outcome.calls, outcome.mistakes))
    return [_effect(item, *arms[item]) for item in sorted(arms)]


def apply_effects(lessons: Sequence[Lesson], found: Iterable[ExposureEffect]) -> list[Lesson]:
    """The lessons with what was measured of them. `utility` is mistakes spared per call, 0 where no difference was
    shown; an item that does harm is retired, unless a person pinned it.

    Many items are looked at together, and by chance some look harmful: one is retired only if its interval stays above zero
    when it is widened for that number (Bonferroni)."""
    by_item = {each.item: each for each in found}
    widened = _widening(sum(1 for each in by_item.values() if each.verdict != "not measured"))
    return [_with_effect(lesson, by_item.get(lesson.id), widened) for lesson in lessons]


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on which effects are known, or that none is."""
    known = [lesson.utility for lesson in lessons if lesson.utility is not None]
    if not known:
        return f"not measured: no item was shown and withheld at random in {FEWEST_SESSIONS} sessions each"
    helps, hurts = sum(each > 0 for each in known), sum(each < 0 for each in known)
    return f"{len(known)} measured: {helps} help, {hurts} hurt, {len(known) - helps - hurts} show no difference"


def _effect(item: str, shown: list[_WeightedSession], withheld: list[_WeightedSession]) -> ExposureEffect:
    if min(len(shown), len(withheld)) < FEWEST_SESSIONS:
        return ExposureEffect(item, len(shown), len(withheld), None, None, None, "not measured")
    one, other = _arm(shown), _arm(withheld)
    difference = one.rate - other.rate
    reach = _half_width(one, other)
    low, high = difference - reach, difference + reach
    verdict: ExposureVerdict = "helps" if high < 0 else "hurts" if low > 0 else "no difference shown"
    return ExposureEffect(item, len(shown), len(withheld), difference, low, high, verdict)


def _arm(drawn: list[_WeightedSession]) -> _Arm:
    calls = sum(each.weight * each.calls for each in drawn)
    rate = sum(each.weight * each.mistakes for each in drawn) / calls
    squares = sum((each.weight * (each.mistakes - rate * each.calls)) ** 2 for each in drawn)
    sessions = len(drawn)
    variance = sessions / (sessions - 1) * squares / calls**2
    # An arm without a single mistake has no spread, but it is not known exactly: at least what one mistake would make.
    return _Arm(rate, max(variance, (max(each.weight for each in drawn) / calls) ** 2), sessions)


def _half_width(one: _Arm, other: _Arm) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to load, and most runs have nothing to measure

    total = one.variance + other.variance
    freedom = total**2 / (one.variance**2 / (one.sessions - 1) + other.variance**2 / (other.sessions - 1))
    return float(stdtrit(freedom, 1 - _RISK / 2)) * sqrt(total)


def _widening(looks: int) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - _RISK / 2 / max(1, looks)) / normal.inv_cdf(1 - _RISK / 2)


def _with_effect(lesson: Lesson, found: ExposureEffect | None, widened: float) -> Lesson:
    if found is None or found.effect is None or found.low is None or found.high is None:
        return lesson if lesson.utility is None else msgspec.structs.replace(lesson, utility=None)
    utility = 0.0 if found.verdict == "no difference shown" else -found.effect
    lesson = msgspec.structs.replace(lesson, utility=utility)
    harm = found.effect - (found.effect - found.low) * widened
    if harm <= 0 or lesson.pinned or lesson.status == "quarantined":
        return lesson
    why = (
        f"it does harm: {100 * found.effect:+.1f} mistakes per 100 calls (95 % interval {100 * found.low:+.1f} to"
        f" {100 * found.high:+.1f}; shown in {found.shown} sessions, withheld in {found.withheld})"
    )
    return msgspec.structs.replace(lesson, status="retired", why=why)


LEARN_EFFECTIVENESS = Learner("LearnEffectiveness", 1, None, None, None, describe=describe)
