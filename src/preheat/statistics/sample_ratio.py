"""The sample-ratio check: whether the arms got their planned shares. If not, the assignment is broken and no result counts.

Knows counts and shares only. Beside the chi-square test, for one look, there is a Bayes factor (Lindon and Malek 2022) that may
be looked at after every session: by Ville's inequality it exceeds 1/risk by chance in at most that share of trials.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import exp, log

import msgspec
from scipy.special import chdtrc, gammaln

from preheat.errors import UserError
from preheat.statistics.shares import holm

MISMATCH_RISK = 0.001
"""Small, because many trials are checked, many times."""
_PRIOR = 100.0
"""The weight of the prior of a broken assignment around the planned shares: such shares are off by points, not by halves."""


class RatioRow(msgspec.Struct, frozen=True):
    """The assigned sessions of one stratum; an empty name stands for all together."""

    stratum: str
    counts: dict[str, int]
    expected: dict[str, float]
    p: float
    """The p-value of the chi-square test, for one look; corrected by Holm over the strata."""
    always_p: float
    """The always-valid p-value, which holds at every look."""


class SampleRatios(msgspec.Struct, frozen=True):
    """Whether the arms got their planned shares, over all sessions and in each stratum."""

    whole: RatioRow
    strata: tuple[RatioRow, ...]
    broken: bool
    sentence: str


def check_sample_ratio(
    assigned: Iterable[tuple[str, str]],
    shares: Mapping[str, float] | Mapping[str, Mapping[str, float]],
    risk: float = MISMATCH_RISK,
) -> SampleRatios:
    """Check the shares. `assigned`: stratum and arm of each session. `shares`: by arm, or by stratum and arm (a share that was
    changed in mid-trial makes two strata)."""
    found: dict[str, Counter[str]] = {}
    for stratum, arm in assigned:
        found.setdefault(stratum, Counter())[arm] += 1
    planned = {stratum: _shares(stratum, counts, shares) for stratum, counts in sorted(found.items())}
    rows = [_row(stratum, found[stratum], plan) for stratum, plan in planned.items()]
    corrected = holm([row.p for row in rows])
    strata = tuple(msgspec.structs.replace(row, p=p) for row, p in zip(rows, corrected, strict=True))
    whole = _whole(rows, planned)
    broken = min(whole.p, whole.always_p) < risk or any(row.p < risk for row in strata)
    return SampleRatios(whole, strata, broken, _sentence(whole, strata, broken, risk))


def _shares(
    stratum: str, counts: Mapping[str, int], shares: Mapping[str, float] | Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    plan: dict[str, float] = {}
    for name, value in shares.items():
        if isinstance(value, Mapping):
            if name == stratum:
                plan = dict(value)
        else:
            plan[name] = value
    total = sum(plan.values())
    if not plan or not 0 < total < float("inf") or min(plan.values()) < 0:
        raise UserError(f"no shares are known for stratum `{stratum}`; give each arm's share, together 1")
    unknown = sorted(arm for arm in counts if not plan.get(arm))
    if unknown:
        raise UserError(
            f"arm `{unknown[0]}` was assigned in `{stratum}`, but its planned share is nothing; give its share"
        )
    return {arm: value / total for arm, value in plan.items() if value > 0}


def _row(stratum: str, counts: Mapping[str, int], plan: Mapping[str, float]) -> RatioRow:
    total = sum(counts.values())
    expected = {arm: total * share for arm, share in plan.items()}
    square = sum((counts.get(arm, 0) - want) ** 2 / want for arm, want in expected.items() if want)
    p = float(chdtrc(len(plan) - 1, square)) if total and len(plan) > 1 else 1.0
    return RatioRow(
        stratum, {arm: counts.get(arm, 0) for arm in plan}, expected, p, min(1.0, exp(-_log_bayes_factor(counts, plan)))
    )


def _log_bayes_factor(counts: Mapping[str, int], plan: Mapping[str, float]) -> float:
    """The logarithm of the Bayes factor of other shares against the planned ones."""
    total = sum(counts.values())
    factor = float(gammaln(_PRIOR) - gammaln(_PRIOR + total))
    for arm, share in plan.items():
        count = counts.get(arm, 0)
        factor += float(gammaln(_PRIOR * share + count) - gammaln(_PRIOR * share)) - count * log(share)
    return max(-700.0, min(700.0, factor))


def _whole(rows: list[RatioRow], planned: Mapping[str, Mapping[str, float]]) -> RatioRow:
    counts: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for row in rows:
        counts.update(row.counts)
        for arm, want in row.expected.items():
            expected[arm] += want  # type: ignore[assignment]
    plans = list(planned.values())
    if all(plan == plans[0] for plan in plans):
        return _row("", counts, plans[0]) if plans else RatioRow("", {}, {}, 1.0, 1.0)
    square = sum((counts[arm] - want) ** 2 / want for arm, want in expected.items() if want)
    # Strata are independent: their factors multiply.
    factor = sum(_log_bayes_factor(row.counts, planned[row.stratum]) for row in rows)
    return RatioRow(
        "",
        dict(counts),
        dict(expected),
        float(chdtrc(max(1, len(expected) - 1), square)),
        min(1.0, exp(-max(-700.0, min(700.0, factor)))),
    )


def _sentence(whole: RatioRow, strata: tuple[RatioRow, ...], broken: bool, risk: float) -> str:
    if not whole.counts or not sum(whole.counts.values()):
        return "No session has been assigned yet."
    counts = ", ".join(
        f"{count} `{arm}` (planned {whole.expected[arm]:.1f})" for arm, count in sorted(whole.counts.items())
    )
    if not broken:
        return f"The arms got their shares: {counts}."
    worst = min(strata, key=lambda row: row.p)
    where = f", most in `{worst.stratum}`" if worst.stratum and worst.p < risk else ""
    return f"The arms did not get their shares: {counts}{where}. Find out why before believing any result."
