"""Lots by keyed hash: stable, met in their shares, and hung on nothing that happens."""

from math import sqrt

from hypothesis import given
from hypothesis import strategies as st

from preheat.experiments.assignment import (
    assign_advice,
    assign_session,
    choose_arm,
    items_left_out,
    random_number,
    shares_of,
)
from preheat.experiments.plan import holdout_plan
from preheat.model.experiment import ExperimentPlan

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
HALF = {"cold": 0.5, "warm": 0.5}
FOUR = ExperimentPlan(name="four", arms=("warm", "cold", "placebo", "note"), shares=(0.4, 0.3, 0.2, 0.1))


def within(count: int, total: int, share: float) -> bool:
    """Within four deviations of a binomial: by chance outside once in 16,000."""
    return abs(count - total * share) <= 4 * sqrt(total * share * (1 - share))


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_a_lot_is_a_number_that_hangs_on_key_and_words_alone(words: list[str]) -> None:
    """Equal for equal words in any process; from 0 up to 1; another with another key."""
    drawn = random_number(KEY, *words)
    assert 0 <= drawn < 1
    assert drawn == random_number(KEY, *words)
    assert drawn != random_number(OTHER, *words)


def test_words_do_not_run_into_each_other() -> None:
    """`ab` and `c` are not `a` and `bc`: whatever is in a name cannot choose another one's lot."""
    assert random_number(KEY, "ab", "c") != random_number(KEY, "a", "bc")
    assert random_number(KEY, "a\0b") != random_number(KEY, "a", "b")


def test_shares_are_met_over_many_sessions_in_every_stratum() -> None:
    """Four arms, 8,000 sessions of four strata: each arm's count lies within binomial limits, in all and in each."""
    shares = shares_of(FOUR)
    whole = dict.fromkeys(shares, 0)
    for agent in ("one", "two"):
        for project in ("/w/a", "/w/b"):
            counts = dict.fromkeys(shares, 0)
            for number in range(2000):
                counts[choose_arm(KEY, "four", (agent, project), f"{agent}:{number}", shares)] += 1
            for arm, count in counts.items():
                assert within(count, 2000, shares[arm]), (agent, project, arm)
                whole[arm] += count
    assert all(within(count, 8000, shares[arm]) for arm, count in whole.items())


def test_strata_and_experiments_draw_for_themselves() -> None:
    """The same session numbers in another stratum, or in another experiment, get arms that have nothing to do with the first:
    they agree as often as two coins do."""
    first = [choose_arm(KEY, "e", ("a", "p"), f"s{number}", HALF) for number in range(4000)]
    for experiment, stratum in (("e", ("a", "q")), ("f", ("a", "p"))):
        other = [choose_arm(KEY, experiment, stratum, f"s{number}", HALF) for number in range(4000)]
        assert within(sum(one == two for one, two in zip(first, other, strict=True)), 4000, 0.5)


def test_a_share_that_grows_keeps_who_was_in() -> None:
    """From a fifth to three tenths held out: whoever was cold stays cold."""
    small, large = shares_of(holdout_plan(0.2)), shares_of(holdout_plan(0.3))
    for number in range(3000):
        if choose_arm(KEY, "standing", ("a", "p"), f"s{number}", small) == "cold":
            assert choose_arm(KEY, "standing", ("a", "p"), f"s{number}", large) == "cold"


def test_a_session_is_drawn_for_by_what_its_line_began_with() -> None:
    """A fork gets the arm of its root, and carries the root's name."""
    plan = holdout_plan(0.5)
    for number in range(200):
        root = assign_session(KEY, plan, "standing", "a", "/w/p", f"s{number}", 1.0)
        fork = assign_session(KEY, plan, "standing", "a", "/w/p", f"fork{number}", 2.0, root.root)
        assert (fork.arm, fork.root) == (root.arm, f"a:s{number}")
    assert root.shares == {"cold": 0.5, "warm": 0.5}


def test_items_are_spared_one_by_one() -> None:
    """Each item in a tenth of the sessions, and two items independently of each other."""
    both = one = 0
    for number in range(5000):
        gone = items_left_out(KEY, "standing", f"s{number}", ["x", "y"], 0.1)
        one += "x" in gone
        both += gone == {"x", "y"}
    assert within(one, 5000, 0.1)
    assert within(both, 5000, 0.01)
    assert items_left_out(KEY, "standing", "s1", ["x", "y"], 0.0) == frozenset()


def test_advice_is_withheld_by_moment() -> None:
    """A fifth of the moments, with the probability of saying it; the cause itself is not written down."""
    lots = [assign_advice(KEY, "s", "a:s", "loop", f"cause {n}", n % 50, 0.2, float(n)) for n in range(4000)]
    assert within(sum(not each.shown for each in lots), 4000, 0.2)
    assert {each.probability for each in lots} == {0.8}
    assert all("cause" not in each.cause for each in lots)
