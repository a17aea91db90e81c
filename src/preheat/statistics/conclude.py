"""Conclude: from an estimate and a margin to a verdict and one plain sentence. Estimates nothing."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

import msgspec
from scipy.special import ndtri

from preheat.model.experiment import Estimate, Verdict
from preheat.model.experiment_report import Guarded as Guarded
from preheat.model.experiment_report import GuardrailStanding
from preheat.statistics.inferiority import Better


class Words(NamedTuple):
    """How a metric is spoken of."""

    says: str
    down: str
    up: str
    noun: str
    times: float
    better: Better


WORDS = {
    "mistakes": Words("made {} {} mistakes per 100 calls", "fewer", "more", "mistakes per 100 calls", 100, "lower"),
    "errors": Words("had {} {} errors per 100 calls", "fewer", "more", "errors per 100 calls", 100, "lower"),
    "success": Words("succeeded in {} {} of 100", "fewer", "more", "in 100 sessions", 100, "higher"),
    "seconds": Words("took {} seconds {}", "less", "more", "seconds", 1, "lower"),
    "tokens": Words("took {} {} tokens", "fewer", "more", "tokens", 1, "lower"),
    "cost": Words("cost as much as {} {} input tokens", "fewer", "more", "input tokens", 1, "lower"),
    "corrections": Words(
        "were corrected {} times {} per 100", "less", "more", "corrections per 100 sessions", 100, "lower"
    ),
    "rating": Words("were rated good in {} {} of 100", "fewer", "more", "in 100 sessions", 100, "higher"),
}


class Guardrail(msgspec.Struct, frozen=True):
    """Something that must not get worse by more than a margin, whatever the metric says."""

    estimate: Estimate
    margin: float


class Conclusion(msgspec.Struct, frozen=True):
    verdict: Verdict
    sentence: str
    """The plain one, to be read first."""
    guardrails: tuple[Guarded, ...] = ()
    more: int | None = None
    """Sessions still needed, where there is too little data and that can be told."""


def conclude(
    estimate: Estimate, margin: float, *, guardrails: Sequence[Guardrail] = (), running: bool = False
) -> Conclusion:
    """What the estimate says. While a trial is `running` only the interval that holds at every look counts.

    A difference that surely lies within the margin is no difference, even one that is surely not zero."""
    guarded = tuple(_guarded(each, running) for each in guardrails)
    ends = interval(estimate, running)
    words = words_of(estimate.metric)
    if ends is None or estimate.difference is None:
        return Conclusion("too little data", f"Too little data: {_missing(estimate, running)}.", guarded)
    low, high = ends
    if -margin <= low and high <= margin:
        verdict: Verdict = "no difference"
        limit = f"{figure(margin * words.times)} {words.noun}"
        text = f"No difference larger than {limit}: {_change(estimate)} {_behind(estimate, ends)}."
    elif low > 0 or high < 0:
        verdict = "helps" if (high < 0) == (words.better == "lower") else "hurts"
        text = f"{_change(estimate)} {_behind(estimate, ends)}."
    else:
        more = sessions_needed(estimate, margin)
        needed = (
            ""
            if more is None
            else f", about {more:,} more {'session' if more == 1 else 'sessions'} would settle a difference of"
            f" {figure(margin * words.times)}"
        )
        text = f"Too little data: {_change(estimate)} {_behind(estimate, ends)}{needed}."
        return Conclusion("too little data", _capital(text) + _broken(guarded), guarded, more)
    return Conclusion(verdict, _capital(text) + _broken(guarded), guarded)


def interval(estimate: Estimate, running: bool) -> tuple[float, float] | None:
    """The interval that may be used now."""
    low, high = (estimate.always_low, estimate.always_high) if running else (estimate.low, estimate.high)
    return None if low is None or high is None else (low, high)


def sessions_needed(estimate: Estimate, margin: float, power: float = 0.8) -> int | None:
    """More sessions, in the shares there are now, until a difference as large as the margin would be seen with this power."""
    if estimate.error is None or not margin > 0:
        return None
    now = sum(estimate.units)
    wanted = now * ((float(ndtri(0.975)) + float(ndtri(power))) * estimate.error / margin) ** 2
    return max(ceil(wanted - now), ceil(now / 10))


def words_of(metric: str) -> Words:
    """How it is spoken of; a metric without words of its own is a number that should fall."""
    return WORDS.get(metric) or Words(f"had {{}} {{}} {metric}", "less", "more", metric, 1, "lower")


def figure(value: float) -> str:
    """Two figures that count, and no more than one behind the point from ten on."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100:
        return f"{size:,.0f}"
    places = max(0, 1 - floor(log10(size))) if size < 10 else 1
    return f"{size:.{min(places, 9)}f}".rstrip("0").rstrip(".") if places else f"{size:.0f}"


def _change(estimate: Estimate) -> str:
    words = words_of(estimate.metric)
    difference = estimate.difference or 0.0
    amount = figure(difference * words.times)
    return f"{estimate.arm} sessions {words.says.format(amount, words.down if difference < 0 else words.up)}"


def _behind(estimate: Estimate, ends: tuple[float, float]) -> str:
    words = words_of(estimate.metric)
    low, high = (end * words.times for end in ends)
    one, other = estimate.units
    if low > 0 or high < 0:
        small, large = sorted((abs(low), abs(high)))
        reach = f"{figure(small)} to {figure(large)}"
    else:
        reach = f"{figure(low)} {words.down} to {figure(high)} {words.up}"
    return f"than {estimate.against} (95 % {reach}; {one:,} and {other:,} sessions)"


def _missing(estimate: Estimate, running: bool) -> str:
    if estimate.why:
        return estimate.why
    if running and estimate.named:
        return next((text for text in estimate.named if text.startswith("too early")), "no interval can be told")
    return "no interval can be told"


def _guarded(guardrail: Guardrail, running: bool) -> Guarded:
    estimate, margin = guardrail.estimate, guardrail.margin
    words = words_of(estimate.metric)
    ends = interval(estimate, running)
    if ends is None or estimate.difference is None:
        return Guarded(estimate.metric, "not known", f"{estimate.metric}: not known: {_missing(estimate, running)}")
    worst, best = (ends[1], ends[0]) if words.better == "lower" else (-ends[0], -ends[1])
    standing: GuardrailStanding = "held" if worst <= margin else "broken" if best > 0 else "not known"
    limit = f"{figure(margin * words.times)} {words.noun}"
    told = {
        "held": f"not worse by more than {limit}",
        "broken": f"worse, and perhaps by more than {limit}",
        "not known": f"worse by more than {limit} is not ruled out",
    }[standing]
    return Guarded(
        estimate.metric, standing, f"{estimate.metric}: {told}: {_change(estimate)} {_behind(estimate, ends)}"
    )


def _broken(guarded: Sequence[Guarded]) -> str:
    return "".join(f" But {each.sentence}." for each in guarded if each.standing == "broken")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
