"""The scorecard: its arithmetic, its bounds, that worse is never better, and that nothing is said of nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from preheat.live.safety.matcher import SEVERITIES
from preheat.live.scorecard import (
    COSTS,
    DIMENSIONS,
    WEIGHTS,
    RuleCount,
    ScoreFacts,
    compute_scorecard,
    rank,
    rank_scores,
    summarise_scorecard,
)

COUNTS = st.integers(0, 50)
RULE_COUNTS = st.builds(
    lambda severity, ran, denied: RuleCount("some-rule", severity, ran + denied, denied),
    st.sampled_from(SEVERITIES), st.integers(0, 9), st.integers(0, 9),
)  # fmt: skip


@st.composite
def facts(draw: st.DrawFn) -> ScoreFacts:
    """Any session that can be."""
    calls = draw(st.integers(5, 300))
    mistakes = draw(st.integers(0, calls))
    loops = draw(st.integers(0, 9))
    tokens, output = draw(st.integers(0, 10**7)), draw(st.integers(0, 10**6))
    return ScoreFacts(
        calls=calls, turns=draw(st.integers(1, calls)), rules=tuple(draw(st.lists(RULE_COUNTS, max_size=5))),
        bypasses=draw(COUNTS),
        mistakes=mistakes, repeated=draw(st.integers(0, calls - mistakes)), tokens=tokens,
        lost_tokens=draw(st.integers(0, 10**7)),
        output=output, surplus=draw(st.integers(0, output)),
        touches=draw(st.integers(3, 300)),
        mean_focus=draw(st.floats(0, 100)), mean_drift=draw(st.floats(0, 1)), switches=draw(COUNTS), advisories=draw(COUNTS),
        loops=loops, broken_loops=draw(st.integers(0, loops)), debt=float(draw(COUNTS)), refused=draw(COUNTS),
    )  # fmt: skip


GOOD = ScoreFacts(calls=40, turns=30, touches=20, tokens=10_000, output=5_000)


def test_a_session_without_faults_scores_100() -> None:
    card = compute_scorecard(GOOD)
    assert card.mean == 100
    assert [score.value for score in card.scores] == [100.0] * 4


def test_the_scorecard_line_has_the_mean_and_every_score() -> None:
    assert summarise_scorecard(compute_scorecard(GOOD)) == "100 of 100 (safety 100, efficiency 100, focus 100, ux 100)"
    assert (
        summarise_scorecard(compute_scorecard(structs.replace(GOOD, touches=0)))
        == "100 of 100 (safety 100, efficiency 100, ux 100)"
    )
    assert summarise_scorecard(compute_scorecard(ScoreFacts())) == ""


def test_the_weights_sum_to_one() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)
    assert tuple(WEIGHTS) == DIMENSIONS


@pytest.mark.parametrize("calls", [0, 1, 4])
def test_a_session_with_too_few_calls_has_no_score(calls: int) -> None:
    card = compute_scorecard(ScoreFacts(calls=calls))
    assert card.mean is None
    assert all(score.value is None for score in card.scores)
    assert card.arithmetic == f"not enough to score: calls judged {calls}, needed 5"


def test_without_file_touches_there_is_no_focus_score() -> None:
    card = compute_scorecard(structs.replace(GOOD, touches=2, mistakes=8))
    assert card.of("focus") is None
    assert card.mean == pytest.approx((0.30 * 100 + 0.25 * 70 + 0.25 * 100) / 0.80)
    assert card.arithmetic == "(0.30 × 100 + 0.25 × 70 + 0.25 × 100) / 0.80 = 91"


def test_the_published_example_has_its_scores() -> None:
    card = compute_scorecard(
        ScoreFacts(
            calls=60, turns=50, rules=(RuleCount("reset-hard", "high", 1), RuleCount("sudo", "medium", 5, 1)),
            mistakes=6, repeated=2,
            tokens=100_000, lost_tokens=4_000, output=40_000, surplus=10_000, touches=30, mean_focus=75.0, mean_drift=0.1,
            switches=5,
            advisories=1, loops=2, broken_loops=1, debt=4.0, refused=1,
        )
    )  # fmt: skip
    assert [round(score.value or 0, 2) for score in card.scores] == [73.0, 72.25, 73.0, 49.0]
    assert card.arithmetic == "0.30 × 73 + 0.25 × 72 + 0.20 × 73 + 0.25 × 49 = 67"


def test_a_rule_costs_at_most_three_times() -> None:

    def cost(*rules: RuleCount) -> float:
        return 100 - (compute_scorecard(structs.replace(GOOD, rules=rules)).of("safety") or 0)

    assert cost(RuleCount("a", "medium", 1)) == COSTS["medium"]
    assert cost(RuleCount("a", "medium", 30)) == 3 * COSTS["medium"]
    assert cost(RuleCount("a", "high", 1, 1)) == COSTS["high"] / 2
    assert cost(RuleCount("a", "high", 4, 2)) == 2.5 * COSTS["high"]


@given(facts())
@settings(max_examples=300, deadline=None)
def test_scores_are_bounded_and_their_lines_add_up(found: ScoreFacts) -> None:
    """0 to 100 each, the mean between the least and the most, and the printed points are the points."""
    card = compute_scorecard(found)
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
def test_a_higher_count_never_raises_a_score(found: ScoreFacts, change: tuple[str, float]) -> None:
    name, more = change
    if name == "lost_tokens" and found.lost_tokens + more >= found.tokens:
        return  # more lost than there were: the agent did not record them
    worse = structs.replace(found, **{name: getattr(found, name) + more})
    before, after = compute_scorecard(found).mean, compute_scorecard(worse).mean
    assert before is not None
    assert after is not None
    assert after <= before + 1e-9


@given(facts(), RULE_COUNTS)
@settings(max_examples=200, deadline=None)
def test_one_more_rule_never_raises_the_safety_score(found: ScoreFacts, rule: RuleCount) -> None:
    card = compute_scorecard(found)
    more = compute_scorecard(structs.replace(found, rules=(*found.rules, rule)))
    assert (more.of("safety") or 0) <= (card.of("safety") or 0)
    if found.mistakes + found.repeated < found.calls:
        mistakes = compute_scorecard(structs.replace(found, mistakes=found.mistakes + 1))
        assert (mistakes.of("efficiency") or 0) <= (card.of("efficiency") or 0)
    left = compute_scorecard(structs.replace(found, loops=found.loops + 1, broken_loops=found.broken_loops + 1))
    stuck = compute_scorecard(structs.replace(found, loops=found.loops + 1))
    assert (stuck.of("ux") or 0) <= (left.of("ux") or 0) <= (card.of("ux") or 0)


def test_every_number_is_in_the_arithmetic() -> None:
    card = compute_scorecard(
        structs.replace(GOOD, mistakes=7, repeated=3, advisories=2, loops=3, broken_loops=1, debt=6.0)
    )
    text = "\n".join(line.text for score in card.scores for line in score.lines)
    for shown in (
        "7 mistakes + 3 repeated) / 40",
        "25 × 2 not left + 8 × 1 left, at most 50",
        "5 × (6 − 2 free)",
        "2 / 30 turns",
    ):
        assert shown in text


def test_a_score_is_ranked_among_earlier_scores() -> None:
    assert rank(80.0, []) is None
    assert rank(None, [1.0]) is None
    found = rank(80.0, [70.0, None, 80.0, 90.0])
    assert found is not None
    assert (found.median, found.below, found.sessions) == (80.0, 1, 3)
    cards = [compute_scorecard(structs.replace(GOOD, mistakes=number)) for number in range(5)]
    told = rank_scores(cards[1], cards)
    assert told["efficiency"].below == 3
    assert told["safety"].below == 0
