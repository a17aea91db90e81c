"""How a session went, as four numbers from 0 to 100 and their weighted mean, each with its arithmetic.

Knows counts only: where they come from is `pipeline.scoring`. Every number begins at 100 and loses points for what was counted,
never more than the line says; a session that did too little has no number at all.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, TypeAlias, get_args

import msgspec

from preheat.live.safety.rule import Severity

Dimension: TypeAlias = Literal["safety", "efficiency", "focus", "ux"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)

WEIGHTS: dict[Dimension, float] = {"safety": 0.30, "efficiency": 0.25, "focus": 0.20, "ux": 0.25}
LEAST_CALLS = 5
"""Under so many judged calls nothing is scored."""
LEAST_TOUCHES = 3
"""Under so many calls that touched files there is no focus to measure."""
COSTS: dict[Severity, float] = {"critical": 40.0, "high": 15.0, "medium": 4.0}
MOST_TIMES = 3
"""A rule that is met again and again costs no more than so many times."""
TREND = 20
"""Earlier sessions that a trend is taken over, the latest ones."""


class RuleCount(msgspec.Struct, frozen=True):
    """How often a safety rule was met."""

    rule: str
    severity: Severity
    times: int
    denied: int = 0
    """Of those, calls that a person or a policy refused: they cost half."""
    example: str = ""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted of a session."""

    calls: int = 0
    """Judged ones: `ok`, `empty`, `failed`, `partial`."""
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
    """New ones: what came from the cache is not counted."""
    lost_tokens: int = 0
    """Spent on failures that were no findings."""
    output: int = 0
    """Letters that tools gave back."""
    surplus: int = 0
    """Of those, what output compression would have left out."""
    # focus
    touches: int = 0
    """Calls that touched files of the project."""
    mean_focus: float = 100.0
    """After each of them."""
    mean_drift: float = 0.0
    switches: int = 0
    """Times that work began to change another subsystem."""
    # ux
    advisories: int = 0
    loops: int = 0
    broken_loops: int = 0
    """Of those, the ones that the agent got out of."""
    debt: float = 0.0
    """Files that were changed and not verified at the end."""
    debt_free: int = 2
    """So many of them cost nothing."""
    refused: int = 0
    """Calls that a person refused or cut off."""


class Line(msgspec.Struct, frozen=True):
    """One term of a score's arithmetic."""

    points: float
    """What it takes away; 0 where there was nothing."""
    text: str
    """The sum in words and numbers."""


class Score(msgspec.Struct, frozen=True):
    dimension: Dimension
    value: float | None
    lines: tuple[Line, ...] = ()
    why: str = ""
    """Why there is none."""


class Standing(msgspec.Struct, frozen=True):
    """Where a number stands among those of the project's earlier sessions."""

    median: float
    below: int
    """Earlier sessions whose number is lower."""
    sessions: int
    """Earlier sessions that have the number."""


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    facts: Facts
    scores: tuple[Score, ...]
    mean: float | None
    arithmetic: str
    """Of the mean; or why there is none."""

    def of(self, dimension: Dimension) -> float | None:
        return next(score.value for score in self.scores if score.dimension == dimension)


def scorecard(facts: Facts) -> Scorecard:
    """The four scores and their mean."""
    if facts.calls < LEAST_CALLS:
        why = f"not enough to score: calls judged {facts.calls}, needed {LEAST_CALLS}"
        return Scorecard(
            facts=facts, scores=tuple(Score(each, None, (), why) for each in DIMENSIONS), mean=None, arithmetic=why
        )
    scores = (_safety(facts), _efficiency(facts), _focus(facts), _ux(facts))
    mean, arithmetic = _mean(scores)
    return Scorecard(facts=facts, scores=scores, mean=mean, arithmetic=arithmetic)


def in_a_line(card: Scorecard) -> str:
    """A scorecard in few words, for the end of a session; empty where nothing could be scored."""
    if card.mean is None:
        return ""
    named = (f"{score.dimension} {score.value:.0f}" for score in card.scores if score.value is not None)
    return f"{card.mean:.0f} of 100 ({', '.join(named)})"


def _mean(scores: Sequence[Score]) -> tuple[float, str]:
    """The weighted mean over what has a number."""
    told = [(score, score.value, WEIGHTS[score.dimension]) for score in scores if score.value is not None]
    total = sum(weight for _, _, weight in told)
    mean = sum(value * weight for _, value, weight in told) / total
    terms = " + ".join(f"{weight:.2f} × {value:.0f}" for _, value, weight in told)
    return mean, f"{terms} = {mean:.0f}" if total > 0.999 else f"({terms}) / {total:.2f} = {mean:.0f}"


def _score(dimension: Dimension, lines: Iterable[Line]) -> Score:
    told = tuple(lines)
    return Score(dimension, max(0.0, 100.0 - sum(line.points for line in told)), told)


def _safety(facts: Facts) -> Score:
    lines = [_rule(each) for each in facts.rules] or [Line(0.0, "safety rules: none was met")]
    lines.append(_line(f"bypasses of a refusal: {facts.bypasses} × 20", 20.0 * facts.bypasses, 60.0))
    return _score("safety", lines)


def _rule(met: RuleCount) -> Line:
    """A rule's cost: what was run in full, what was refused by half, up to three times the full cost in all."""
    cost = COSTS[met.severity]
    ran = min(met.times - met.denied, MOST_TIMES)
    refused = min(met.denied, MOST_TIMES - ran)
    half = f" + {refused} refused × {cost / 2:g}" if refused else ""
    return Line(ran * cost + refused * cost / 2, f"{met.severity}: {met.rule} {ran} × {cost:g}{half}")


def _efficiency(facts: Facts) -> Score:
    wasted = (facts.mistakes + facts.repeated) / facts.calls
    lost = (
        facts.lost_tokens / facts.tokens if facts.tokens > facts.lost_tokens else 0.0
    )  # else the agent did not record them
    surplus = facts.surplus / facts.output if facts.output else 0.0
    return _score(
        "efficiency",
        (
            _line(
                f"needless calls: 150 × ({facts.mistakes} mistakes + {facts.repeated} repeated) / {facts.calls}",
                150 * wasted,
                70.0,
            ),
            _line(f"tokens lost to failures: 100 × {facts.lost_tokens:,} / {facts.tokens:,}", 100 * lost, 20.0),
            _line(f"output nobody needs whole: 15 × {facts.surplus:,} / {facts.output:,} letters", 15 * surplus, 15.0),
        ),
    )


def _focus(facts: Facts) -> Score:
    if facts.touches < LEAST_TOUCHES:
        return Score("focus", None, (), f"{facts.touches} calls touched files, {LEAST_TOUCHES} are needed")
    switches = 10 * facts.switches / facts.turns if facts.turns else 0.0
    return _score(
        "focus",
        (
            _line(f"mean focus: 0.8 × (100 − {facts.mean_focus:.0f})", 0.8 * (100.0 - facts.mean_focus), 80.0),
            _line(f"mean drift: 30 × {facts.mean_drift:.2f}", 30 * facts.mean_drift, 30.0),
            _line(f"switches: 4 × 10 × {facts.switches} / {facts.turns} turns", 4 * switches, 20.0),
        ),
    )


def _ux(facts: Facts) -> Score:
    lasting = facts.loops - facts.broken_loops
    unverified = max(0.0, facts.debt - facts.debt_free)
    told = 100 * facts.advisories / facts.turns if facts.turns else 0.0
    return _score(
        "ux",
        (
            _line(
                f"loops: 25 × {lasting} not left + 8 × {facts.broken_loops} left",
                25.0 * lasting + 8.0 * facts.broken_loops,
                50.0,
            ),
            _line(
                f"unverified files at the end: 5 × ({facts.debt:.0f} − {min(facts.debt_free, facts.debt):.0f} free)",
                5 * unverified,
                30.0,
            ),
            _line(f"advisories: 2 × 100 × {facts.advisories} / {facts.turns} turns", 2 * told, 20.0),
            _line(f"refused or cut off by a person: {facts.refused} × 4", 4.0 * facts.refused, 20.0),
        ),
    )


def _line(text: str, points: float, most: float) -> Line:
    points = max(0.0, points)
    return Line(min(points, most), f"{text}, at most {most:g}" if points > most else text)


# Among others.
def standing(value: float | None, earlier: Iterable[float | None]) -> Standing | None:
    """Where a number stands; None where there is no number, or none before it."""
    known = sorted(each for each in earlier if each is not None)
    if value is None or not known:
        return None
    return Standing(median(known), bisect_left(known, value), len(known))


def standings(card: Scorecard, earlier: Sequence[Scorecard]) -> dict[str, Standing]:
    """By dimension, and `mean`: where a session stands among earlier ones."""
    found: dict[str, Standing | None] = {"mean": standing(card.mean, [each.mean for each in earlier])}
    for dimension in DIMENSIONS:
        found[dimension] = standing(card.of(dimension), [each.of(dimension) for each in earlier])
    return {name: each for name, each in found.items() if each is not None}
