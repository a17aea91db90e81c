"""From an estimate and a margin to a verdict and one plain sentence; non-inferiority and equivalence (TOST). Estimates
nothing."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from scipy.special import ndtri, stdtr, stdtrit

from preheat.errors import UserError
from preheat.model.experiment import EffectEstimate, EffectVerdict
from preheat.model.experiment_report import GuardrailState, GuardrailStatus

# Non-inferiority.
ONE_SIDED_RISK = 0.025
"""On each side, so that the tests agree with the 95 % interval. Half of what is usual for equivalence: with skewed counts a test
at 5 % accepts what is worse by the margin in 6 to 7 of 100 trials."""

BetterDirection: TypeAlias = Literal["lower", "higher"]
"""Which values of a metric are better."""


class Inferiority(msgspec.Struct, frozen=True):
    """A difference compared with a margin; `low` and `high` are the ends of the interval of the two one-sided tests."""

    margin: float
    not_inferior: bool
    not_inferior_p: float
    """The p-value if in truth the arm were worse by exactly the margin."""
    same: bool
    """Within the margin on both sides."""
    same_p: float
    low: float
    high: float


def compare_with_margin(
    difference: float,
    error: float,
    freedom: float,
    margin: float,
    *,
    better: BetterDirection = "lower",
    risk: float = ONE_SIDED_RISK,
) -> Inferiority:
    """Two one-sided t-tests against `-margin` and `+margin`."""
    if not margin > 0:
        raise UserError(f"a margin is more than nothing, {margin:g} is not; give the smallest difference that matters")
    if not error > 0:
        raise UserError("without a spread nothing can be tested against a margin; more sessions that differ are needed")
    freedom = max(freedom, 1.0)
    not_above = float(stdtr(freedom, (difference - margin) / error))
    not_below = float(stdtr(freedom, -(difference + margin) / error))
    worse = not_above if better == "lower" else not_below
    reach = float(stdtrit(freedom, 1 - risk)) * error
    both = max(not_above, not_below)
    return Inferiority(margin, worse < risk, worse, both < risk, both, difference - reach, difference + reach)


# Verdicts.
class MetricWords(NamedTuple):
    """The words for a metric in a sentence."""

    sentence: str
    down: str
    up: str
    noun: str
    times: float
    better: BetterDirection


METRIC_WORDS = {
    "mistakes": MetricWords(
        "made {} {} mistakes per 100 calls", "fewer", "more", "mistakes per 100 calls", 100, "lower"
    ),
    "errors": MetricWords("had {} {} errors per 100 calls", "fewer", "more", "errors per 100 calls", 100, "lower"),
    "success": MetricWords("succeeded in {} {} of 100", "fewer", "more", "in 100 sessions", 100, "higher"),
    "seconds": MetricWords("took {} seconds {}", "less", "more", "seconds", 1, "lower"),
    "tokens": MetricWords("took {} {} tokens", "fewer", "more", "tokens", 1, "lower"),
    "cost": MetricWords("cost as much as {} {} input tokens", "fewer", "more", "input tokens", 1, "lower"),
    "corrections": MetricWords(
        "were corrected {} times {} per 100", "less", "more", "corrections per 100 sessions", 100, "lower"
    ),
    "rating": MetricWords("were rated good in {} {} of 100", "fewer", "more", "in 100 sessions", 100, "higher"),
}


class Guardrail(msgspec.Struct, frozen=True):
    """A metric that must not get worse by more than a margin."""

    estimate: EffectEstimate
    margin: float


class Conclusion(msgspec.Struct, frozen=True):
    """What an estimate and a margin mean together."""

    verdict: EffectVerdict
    sentence: str
    """The conclusion in one plain sentence."""
    guardrails: tuple[GuardrailStatus, ...] = ()
    more: int | None = None
    """Sessions still needed, where there is too little data and that can be estimated."""


def conclude(
    estimate: EffectEstimate, margin: float, *, guardrails: Sequence[Guardrail] = (), running: bool = False
) -> Conclusion:
    """The conclusion from an estimate. While a trial is `running` only the always-valid interval counts.

    An interval within the margin means no difference, even if it excludes zero."""
    guarded = tuple(_check_guardrail(each, running) for each in guardrails)
    ends = usable_interval(estimate, running)
    words = words_of(estimate.metric)
    if ends is None or estimate.difference is None:
        return Conclusion("too little data", f"Too little data: {_why_no_interval(estimate, running)}.", guarded)
    low, high = ends
    if -margin <= low and high <= margin:
        verdict: EffectVerdict = "no difference"
        limit = f"{format_figure(margin * words.times)} {words.noun}"
        text = f"No difference larger than {limit}: {_describe_change(estimate)} {_describe_interval(estimate, ends)}."
    elif low > 0 or high < 0:
        verdict = "helps" if (high < 0) == (words.better == "lower") else "hurts"
        text = f"{_describe_change(estimate)} {_describe_interval(estimate, ends)}."
    else:
        more = sessions_needed(estimate, margin)
        needed = (
            ""
            if more is None
            else f", about {more:,} more {'session' if more == 1 else 'sessions'} would settle a difference of"
            f" {format_figure(margin * words.times)}"
        )
        text = f"Too little data: {_describe_change(estimate)} {_describe_interval(estimate, ends)}{needed}."
        return Conclusion("too little data", _capitalise(text) + _describe_broken(guarded), guarded, more)
    return Conclusion(verdict, _capitalise(text) + _describe_broken(guarded), guarded)


def usable_interval(estimate: EffectEstimate, running: bool) -> tuple[float, float] | None:
    """The interval that counts now: the always-valid one while the trial runs."""
    low, high = (estimate.always_low, estimate.always_high) if running else (estimate.low, estimate.high)
    return None if low is None or high is None else (low, high)


def sessions_needed(estimate: EffectEstimate, margin: float, power: float = 0.8) -> int | None:
    """How many more sessions, in the present shares, would detect a difference as large as the margin with this power."""
    if estimate.error is None or not margin > 0:
        return None
    now = sum(estimate.units)
    wanted = now * ((float(ndtri(0.975)) + float(ndtri(power))) * estimate.error / margin) ** 2
    return max(ceil(wanted - now), ceil(now / 10))


def words_of(metric: str) -> MetricWords:
    """The words of a metric; an unknown one is a number that should fall."""
    return METRIC_WORDS.get(metric) or MetricWords(f"had {{}} {{}} {metric}", "less", "more", metric, 1, "lower")


def format_figure(value: float) -> str:
    """A number with two significant figures; from ten on with at most one decimal."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100:
        return f"{size:,.0f}"
    places = max(0, 1 - floor(log10(size))) if size < 10 else 1
    return f"{size:.{min(places, 9)}f}".rstrip("0").rstrip(".") if places else f"{size:.0f}"


def _describe_change(estimate: EffectEstimate) -> str:
    words = words_of(estimate.metric)
    difference = estimate.difference or 0.0
    amount = format_figure(difference * words.times)
    return f"{estimate.arm} sessions {words.sentence.format(amount, words.down if difference < 0 else words.up)}"


def _describe_interval(estimate: EffectEstimate, ends: tuple[float, float]) -> str:
    words = words_of(estimate.metric)
    low, high = (end * words.times for end in ends)
    one, other = estimate.units
    if low > 0 or high < 0:
        small, large = sorted((abs(low), abs(high)))
        reach = f"{format_figure(small)} to {format_figure(large)}"
    else:
        reach = f"{format_figure(low)} {words.down} to {format_figure(high)} {words.up}"
    return f"than {estimate.against} (95 % {reach}; {one:,} and {other:,} sessions)"


def _why_no_interval(estimate: EffectEstimate, running: bool) -> str:
    if estimate.why:
        return estimate.why
    if running and estimate.remarks:
        return next((text for text in estimate.remarks if text.startswith("too early")), "no interval can be told")
    return "no interval can be told"


def _check_guardrail(guardrail: Guardrail, running: bool) -> GuardrailStatus:
    estimate, margin = guardrail.estimate, guardrail.margin
    words = words_of(estimate.metric)
    ends = usable_interval(estimate, running)
    if ends is None or estimate.difference is None:
        return GuardrailStatus(
            estimate.metric, "not known", f"{estimate.metric}: not known: {_why_no_interval(estimate, running)}"
        )
    worst, best = (ends[1], ends[0]) if words.better == "lower" else (-ends[0], -ends[1])
    state: GuardrailState = "held" if worst <= margin else "broken" if best > 0 else "not known"
    limit = f"{format_figure(margin * words.times)} {words.noun}"
    meaning = {
        "held": f"not worse by more than {limit}",
        "broken": f"worse, and perhaps by more than {limit}",
        "not known": f"worse by more than {limit} is not ruled out",
    }[state]
    return GuardrailStatus(
        estimate.metric,
        state,
        f"{estimate.metric}: {meaning}: {_describe_change(estimate)} {_describe_interval(estimate, ends)}",
    )


def _describe_broken(guarded: Sequence[GuardrailStatus]) -> str:
    return "".join(f" But {each.sentence}." for each in guarded if each.state == "broken")


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
