"""The scorecard of a session: four scores from 0 to 100 and their weighted mean, each with its arithmetic.

Every score begins at 100 and loses points for what was counted, each term with a maximum; a session with too few calls has no
score. Knows counts only, not where they come from.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, TypeAlias, get_args

import msgspec

from preheat.live.safety.matcher import Severity

Dimension: TypeAlias = Literal["safety", "efficiency", "focus", "ux"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)

WEIGHTS: dict[Dimension, float] = {"safety": 0.30, "efficiency": 0.25, "focus": 0.20, "ux": 0.25}
LEAST_CALLS = 5
"""Judged calls that a score needs."""
LEAST_TOUCHES = 3
"""Calls that touched files that a focus score needs."""
COSTS: dict[Severity, float] = {"critical": 40.0, "high": 15.0, "medium": 4.0}
MOST_TIMES = 3
"""A rule costs no more than so many times, however often it is met."""
TREND = 20
"""The number of latest sessions that a trend covers."""


class RuleCount(msgspec.Struct, frozen=True):
    """How often a safety rule was met."""

    rule: str
    severity: Severity
    times: int
    denied: int = 0
    """Of these, calls that a person or a policy refused: they cost half."""
    example: str = ""


class ScoreFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of a session that scores are made of."""

    calls: int = 0
    """Judged calls: `ok`, `empty`, `failed`, `partial`."""
    turns: int = 0
    # safety
    rules: tuple[RuleCount, ...] = ()
    bypasses: int = 0
    """Calls that met a rule after a person had refused one that met the same."""
    # efficiency
    mistakes: int = 0
    """Failures that were the agent's own mistake."""
    repeated: int = 0
    """Calls that had been made before with the same result, and nothing was changed in between."""
    tokens: int = 0
    """New tokens; tokens from the cache are not counted."""
    lost_tokens: int = 0
    """Tokens spent on failures that were no findings."""
    output: int = 0
    """Characters of tool results."""
    surplus: int = 0
    """Of these, what shortening outputs would have left out."""
    # focus
    touches: int = 0
    """Calls that touched files of the project."""
    mean_focus: float = 100.0
    """The mean of focus after each touch."""
    mean_drift: float = 0.0
    switches: int = 0
    """How often work began to change another subsystem."""
    # ux
    advisories: int = 0
    loops: int = 0
    broken_loops: int = 0
    """Of these, the loops that the agent left."""
    debt: float = 0.0
    """Unverified files at the end."""
    debt_free: int = 2
    """Unverified files that cost nothing."""
    refused: int = 0
    """Calls that a person refused or interrupted."""


class ScoreTerm(msgspec.Struct, frozen=True):
    """One term of a score's arithmetic."""

    points: float
    """Points that it takes off."""
    text: str
    """The calculation in words and numbers."""


class Score(msgspec.Struct, frozen=True):
    dimension: Dimension
    value: float | None
    lines: tuple[ScoreTerm, ...] = ()
    why: str = ""
    """Why there is no score."""


class Rank(msgspec.Struct, frozen=True):
    """The rank of a score among those of the project's earlier sessions."""

    median: float
    below: int
    """Earlier sessions with a lower score."""
    sessions: int
    """Earlier sessions with a score."""


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    facts: ScoreFacts
    scores: tuple[Score, ...]
    mean: float | None
    arithmetic: str
    """The calculation of the mean; or why there is none."""

    def of(self, dimension: Dimension) -> float | None:
        return next(score.value for score in self.scores if score.dimension == dimension)


def compute_scorecard(facts: ScoreFacts) -> Scorecard:
    """The four scores and their mean."""
    if facts.calls < LEAST_CALLS:
        why = f"not enough to score: calls judged {facts.calls}, needed {LEAST_CALLS}"
        return Scorecard(
            facts=facts, scores=tuple(Score(each, None, (), why) for each in DIMENSIONS), mean=None, arithmetic=why
        )
    scores = (_safety(facts), _efficiency(facts), _focus(facts), _ux(facts))
    mean, arithmetic = _mean(scores)
    return Scorecard(facts=facts, scores=scores, mean=mean, arithmetic=arithmetic)


def summarise_scorecard(card: Scorecard) -> str:
    """A scorecard on one line, for the end of a session; empty without a score."""
    if card.mean is None:
        return ""
    named = (f"{score.dimension} {score.value:.0f}" for score in card.scores if score.value is not None)
    return f"{card.mean:.0f} of 100 ({', '.join(named)})"


def _mean(scores: Sequence[Score]) -> tuple[float, str]:
    """The weighted mean over the dimensions that have a score."""
    known = [(score.value, WEIGHTS[score.dimension]) for score in scores if score.value is not None]
    total = sum(weight for _, weight in known)
    mean = sum(value * weight for value, weight in known) / total
    terms = " + ".join(f"{weight:.2f} × {value:.0f}" for value, weight in known)
    return mean, f"{terms} = {mean:.0f}" if total > 0.999 else f"({terms}) / {total:.2f} = {mean:.0f}"


def _score(dimension: Dimension, lines: Iterable[ScoreTerm]) -> Score:
    terms = tuple(lines)
    return Score(dimension, max(0.0, 100.0 - sum(line.points for line in terms)), terms)


def _safety(facts: ScoreFacts) -> Score:
    lines = [_rule_term(each) for each in facts.rules] or [ScoreTerm(0.0, "safety rules: none was met")]
    lines.append(_capped_term(f"bypasses of a refusal: {facts.bypasses} × 20", 20.0 * facts.bypasses, 60.0))
    return _score("safety", lines)


def _rule_term(met: RuleCount) -> ScoreTerm:
    """The cost of a rule: calls that ran in full, refused calls by half, at most three times the full cost."""
    cost = COSTS[met.severity]
    ran = min(met.times - met.denied, MOST_TIMES)
    refused = min(met.denied, MOST_TIMES - ran)
    half = f" + {refused} refused × {cost / 2:g}" if refused else ""
    return ScoreTerm(ran * cost + refused * cost / 2, f"{met.severity}: {met.rule} {ran} × {cost:g}{half}")


def _efficiency(facts: ScoreFacts) -> Score:
    wasted = (facts.mistakes + facts.repeated) / facts.calls
    lost = (
        facts.lost_tokens / facts.tokens if facts.tokens > facts.lost_tokens else 0.0
    )  # otherwise the agent did not record tokens
    surplus = facts.surplus / facts.output if facts.output else 0.0
    return _score(
        "efficiency",
        (
            _capped_term(
                f"needless calls: 150 × ({facts.mistakes} mistakes + {facts.repeated} repeated) / {facts.calls}",
                150 * wasted,
                70.0,
            ),
            _capped_term(f"tokens lost to failures: 100 × {facts.lost_tokens:,} / {facts.tokens:,}", 100 * lost, 20.0),
            _capped_term(
                f"output nobody needs whole: 15 × {facts.surplus:,} / {facts.output:,} letters", 15 * surplus, 15.0
            ),
        ),
    )


def _focus(facts: ScoreFacts) -> Score:
    if facts.touches < LEAST_TOUCHES:
        return Score("focus", None, (), f"{facts.touches} calls touched files, {LEAST_TOUCHES} are needed")
    switches = 10 * facts.switches / facts.turns if facts.turns else 0.0
    return _score(
        "focus",
        (
            _capped_term(f"mean focus: 0.8 × (100 − {facts.mean_focus:.0f})", 0.8 * (100.0 - facts.mean_focus), 80.0),
            _capped_term(f"mean drift: 30 × {facts.mean_drift:.2f}", 30 * facts.mean_drift, 30.0),
            _capped_term(f"switches: 4 × 10 × {facts.switches} / {facts.turns} turns", 4 * switches, 20.0),
        ),
    )


def _ux(facts: ScoreFacts) -> Score:
    unbroken = facts.loops - facts.broken_loops
    unverified = max(0.0, facts.debt - facts.debt_free)
    advised = 100 * facts.advisories / facts.turns if facts.turns else 0.0
    return _score(
        "ux",
        (
            _capped_term(
                f"loops: 25 × {unbroken} not left + 8 × {facts.broken_loops} left",
                25.0 * unbroken + 8.0 * facts.broken_loops,
                50.0,
            ),
            _capped_term(
                f"unverified files at the end: 5 × ({facts.debt:.0f} − {min(facts.debt_free, facts.debt):.0f} free)",
                5 * unverified,
                30.0,
            ),
            _capped_term(f"advisories: 2 × 100 × {facts.advisories} / {facts.turns} turns", 2 * advised, 20.0),
            _capped_term(f"refused or cut off by a person: {facts.refused} × 4", 4.0 * facts.refused, 20.0),
        ),
    )


def _capped_term(text: str, points: float, most: float) -> ScoreTerm:
    points = max(0.0, points)
    return ScoreTerm(min(points, most), f"{text}, at most {most:g}" if points > most else text)


# Ranks.
def rank(value: float | None, earlier: Iterable[float | None]) -> Rank | None:
    """The rank of a score; None without a score or earlier scores."""
    known = sorted(each for each in earlier if each is not None)
    if value is None or not known:
        return None
    return Rank(median(known), bisect_left(known, value), len(known))


def rank_scores(card: Scorecard, earlier: Sequence[Scorecard]) -> dict[str, Rank]:
    """The ranks of a session among earlier ones, by dimension and `mean`."""
    found: dict[str, Rank | None] = {"mean": rank(card.mean, [each.mean for each in earlier])}
    for dimension in DIMENSIONS:
        found[dimension] = rank(card.of(dimension), [each.of(dimension) for each in earlier])
    return {name: each for name, each in found.items() if each is not None}
