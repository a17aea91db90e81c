"""The scorecard: its arithmetic, its bounds, that worse is never better, and that nothing is said of nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from preheat.live.safety.rule import SEVERITIES
from preheat.live.scorecard import (
    COSTS,
    DIMENSIONS,
    WEIGHTS,
    Facts,
    RuleCount,
    in_a_line,
    scorecard,
    standing,
    standings,
)

COUNTS = st.integers(0, 50)
RULE_COUNTS = st.builds(
    lambda severity, ran, denied: RuleCount("some-rule", severity, ran + denied, denied),
    st.sampled_from(SEVERITIES), st.integers(0, 9), st.integers(0, 9),
)  # fmt: skip


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    """Any session that can be."""
    calls = draw(st.integers(5, 300))
    mistakes = draw(st.integers(0, calls))
    loops = draw(st.integers(0, 9))
    tokens, output = draw(st.integers(0, 10**7)), draw(st.integers(0, 10**6))
    return Facts(
        calls=calls, turns=draw(st.integers(1, calls)), rules=tuple(draw(st.lists(RULE_COUNTS, max_size=5))),
        bypasses=draw(COUNTS),
        mistakes=mistakes, repeated=draw(st.integers(0, calls - mistakes)), tokens=tokens,
        lost_tokens=draw(st.integers(0, 10**7)),
        output=output, surplus=draw(st.integers(0, output)),
        touches=draw(st.integers(3, 300)),
        mean_focus=draw(st.floats(0, 100)), mean_drift=draw(st.floats(0, 1)), switches=draw(COUNTS), advisories=draw(COUNTS),
        loops=loops, broken_loops=draw(st.integers(0, loops)), debt=float(draw(COUNTS)), refused=draw(COUNTS),
    )  # fmt: skip


GOOD = Facts(calls=40, turns=30, touches=20, tokens=10_000, output=5_000)


def test_a_session_without_faults_has_a_hundred() -> None:
    """Nothing counted, nothing taken."""
    card = scorecard(GOOD)
    assert card.mean == 100
    assert [score.value for score in card.scores] == [100.0] * 4


def test_a_line_for_the_end_of_a_session() -> None:
    """The mean and what it is made of; nothing where there is nothing."""
    assert in_a_line(scorecard(GOOD)) == "100 of 100 (safety 100, efficiency 100, focus 100, ux 100)"
    assert in_a_line(scorecard(structs.replace(GOOD, touches=0))) == "100 of 100 (safety 100, efficiency 100, ux 100)"
    assert in_a_line(scorecard(Facts())) == ""


def test_weights_are_shares() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)
    assert tuple(WEIGHTS) == DIMENSIONS


@pytest.mark.parametrize("calls", [0, 1, 4])
def test_a_session_that_did_nothing_has_no_score(calls: int) -> None:
    """Not 70, and not 100 either."""
    card = scorecard(Facts(calls=calls))
    assert card.mean is None
    assert all(score.value is None for score in card.scores)
    assert card.arithmetic == f"not enough to score: calls judged {calls}, needed 5"


def test_no_files_no_focus() -> None:
    """The mean is then of the other three, and says so."""
    card = scorecard(structs.replace(GOOD, touches=2, mistakes=8))
    assert card.of("focus") is None
    assert card.mean == pytest.approx((0.30 * 100 + 0.25 * 70 + 0.25 * 100) / 0.80)
    assert card.arithmetic == "(0.30 × 100 + 0.25 × 70 + 0.25 × 100) / 0.80 = 91"


def test_the_published_example() -> None:
    """The numbers of docs/concepts/scorecard.md."""
    card = scorecard(
        Facts(
            calls=60, turns=50, rules=(RuleCount("reset-hard", "high", 1), RuleCount("sudo", "medium", 5, 1)),
            mistakes=6, repeated=2,
            tokens=100_000, lost_tokens=4_000, output=40_000, surplus=10_000, touches=30, mean_focus=75.0, mean_drift=0.1,
            switches=5,
            advisories=1, loops=2, broken_loops=1, debt=4.0, refused=1,
        )
    )  # fmt: skip
    assert [round(score.value or 0, 2) for score in card.scores] == [73.0, 72.25, 73.0, 49.0]
    assert card.arithmetic == "0.30 × 73 + 0.25 × 72 + 0.20 × 73 + 0.25 × 49 = 67"


def test_a_rule_met_again_and_again_costs_three_times_at_most() -> None:
    """And a refused call half."""

    def cost(*rules: RuleCount) -> float:
        return 100 - (scorecard(structs.replace(GOOD, rules=rules)).of("safety") or 0)

    assert cost(RuleCount("a", "medium", 1)) == COSTS["medium"]
    assert cost(RuleCount("a", "medium", 30)) == 3 * COSTS["medium"]
    assert cost(RuleCount("a", "high", 1, 1)) == COSTS["high"] / 2
    assert cost(RuleCount("a", "high", 4, 2)) == 2.5 * COSTS["high"]


@given(facts())
@settings(max_examples=300, deadline=None)
def test_scores_are_bounded_and_their_lines_add_up(found: Facts) -> None:
    """0 to 100 each, the mean between the least and the most, and the printed points are the points."""
    card = scorecard(found)
    values = [score.value for score in card.scores if score.value is not None]
    assert len(values) == 4
    assert all(0 <= value <= 100 for value in values)
    assert card.mean is not None
    assert min(values) - 1e-9 <= card.mean <= max(values) + 1e-9
    for score in card.scores:
        assert score.value == pytest.approx(max(0.0, 100 - sum(line.points for line in score.lines)))
        assert all(line.points >= 0 for line in score.lines)


WORSE = [
    ("bypasses", 1), ("lost_tokens", 1000), ("switches", 1), ("advisories", 1), ("debt", 1.0), ("refused", 1), ("loops", 1),
    ("mean_drift", 0.1), ("mean_focus", -5.0),
]  # fmt: skip


@given(facts(), st.sampled_from(WORSE))
@settings(max_examples=400, deadline=None)
def test_worse_is_never_better(found: Facts, change: tuple[str, float]) -> None:
    """More of what is counted against a session never raises its mean."""
    name, more = change
    if name == "lost_tokens" and found.lost_tokens + more >= found.tokens:
        return  # more lost than there were: the agent did not record them
    worse = structs.replace(found, **{name: getattr(found, name) + more})
    before, after = scorecard(found).mean, scorecard(worse).mean
    assert before is not None
    assert after is not None
    assert after <= before + 1e-9


@given(facts(), RULE_COUNTS)
@settings(max_examples=200, deadline=None)
def test_one_more_rule_is_never_better(found: Facts, rule: RuleCount) -> None:
    """Nor one more call that fails by mistake, or a loop that is left instead of none."""
    card = scorecard(found)
    more = scorecard(structs.replace(found, rules=(*found.rules, rule)))
    assert (more.of("safety") or 0) <= (card.of("safety") or 0)
    if found.mistakes + found.repeated < found.calls:
        mistakes = scorecard(structs.replace(found, mistakes=found.mistakes + 1))
        assert (mistakes.of("efficiency") or 0) <= (card.of("efficiency") or 0)
    left = scorecard(structs.replace(found, loops=found.loops + 1, broken_loops=found.broken_loops + 1))
    stuck = scorecard(structs.replace(found, loops=found.loops + 1))
    assert (stuck.of("ux") or 0) <= (left.of("ux") or 0) <= (card.of("ux") or 0)


def test_every_number_of_the_arithmetic_is_printed() -> None:
    """A line shows the counts that it is made of."""
    card = scorecard(structs.replace(GOOD, mistakes=7, repeated=3, advisories=2, loops=3, broken_loops=1, debt=6.0))
    text = "\n".join(line.text for score in card.scores for line in score.lines)
    for shown in (
        "7 mistakes + 3 repeated) / 40",
        "25 × 2 not left + 8 × 1 left, at most 50",
        "5 × (6 − 2 free)",
        "2 / 30 turns",
    ):
        assert shown in text


def test_where_a_session_stands() -> None:
    """The median of those before, and how many were lower; equal is not lower."""
    assert standing(80.0, []) is None
    assert standing(None, [1.0]) is None
    found = standing(80.0, [70.0, None, 80.0, 90.0])
    assert found is not None
    assert (found.median, found.below, found.sessions) == (80.0, 1, 3)
    cards = [scorecard(structs.replace(GOOD, mistakes=number)) for number in range(5)]
    told = standings(cards[1], cards)
    assert told["efficiency"].below == 3
    assert told["safety"].below == 0
