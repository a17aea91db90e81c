"""Assignment by keyed hash: stable, in the planned shares, and independent of earlier sessions."""

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
from preheat.model.experiment import STORED_HOLDOUT, ExperimentPlan

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
HALF = {"cold": 0.5, "warm": 0.5}
FOUR = ExperimentPlan(name="four", arms=("warm", "cold", "placebo", "note"), shares=(0.4, 0.3, 0.2, 0.1))


def within(count: int, total: int, share: float) -> bool:
    """Within four deviations of a binomial: by chance outside once in 16,000."""
    return abs(count - total * share) <= 4 * sqrt(total * share * (1 - share))


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_a_random_number_depends_on_key_and_words_alone(words: list[str]) -> None:
    """It is from 0 up to 1, equal for equal words, and another with another key."""
    number = random_number(KEY, *words)
    assert 0 <= number < 1
    assert number == random_number(KEY, *words)
    assert number != random_number(OTHER, *words)


def test_neighbouring_words_are_not_joined() -> None:
    """`ab` and `c` give another number than `a` and `bc`: no name can choose the number of another one."""
    assert random_number(KEY, "ab", "c") != random_number(KEY, "a", "bc")
    assert random_number(KEY, "a\0b") != random_number(KEY, "a", "b")


def test_arms_get_their_shares_over_all_sessions_and_in_every_stratum() -> None:
    """Four arms, 8,000 sessions, four strata: the count of each arm is within binomial limits."""
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


def test_strata_and_experiments_are_assigned_independently() -> None:
    """The arms of the same sessions in another stratum or experiment agree with the first ones in half of the cases."""
    first = [choose_arm(KEY, "e", ("a", "p"), f"s{number}", HALF) for number in range(4000)]
    for experiment, stratum in (("e", ("a", "q")), ("f", ("a", "p"))):
        other = [choose_arm(KEY, experiment, stratum, f"s{number}", HALF) for number in range(4000)]
        assert within(sum(one == two for one, two in zip(first, other, strict=True)), 4000, 0.5)


def test_a_cold_session_stays_cold_when_the_holdout_grows() -> None:
    small, large = shares_of(holdout_plan(0.2)), shares_of(holdout_plan(0.3))
    for number in range(3000):
        if choose_arm(KEY, STORED_HOLDOUT, ("a", "p"), f"s{number}", small) == "cold":
            assert choose_arm(KEY, STORED_HOLDOUT, ("a", "p"), f"s{number}", large) == "cold"


def test_a_fork_gets_the_arm_of_its_root() -> None:
    """Its assignment names the root."""
    plan = holdout_plan(0.5)
    for number in range(200):
        root = assign_session(KEY, plan, STORED_HOLDOUT, "a", "/w/p", f"s{number}", 1.0)
        fork = assign_session(KEY, plan, STORED_HOLDOUT, "a", "/w/p", f"fork{number}", 2.0, root.root)
        assert (fork.arm, fork.root) == (root.arm, f"a:s{number}")
    assert root.shares == {"cold": 0.5, "warm": 0.5}


def test_items_are_left_out_independently_with_their_probability() -> None:
    """Each item in a tenth of the sessions, two items in a hundredth."""
    both = one = 0
    for number in range(5000):
        gone = items_left_out(KEY, STORED_HOLDOUT, f"s{number}", ["x", "y"], 0.1)
        one += "x" in gone
        both += gone == {"x", "y"}
    assert within(one, 5000, 0.1)
    assert within(both, 5000, 0.01)
    assert items_left_out(KEY, STORED_HOLDOUT, "s1", ["x", "y"], 0.0) == frozenset()


def test_advice_is_withheld_with_its_probability_and_its_cause_is_hashed() -> None:
    """A fifth of the advisories; each record has the probability of sending it."""
    assignments = [assign_advice(KEY, "s", "a:s", "loop", f"cause {n}", n % 50, 0.2, float(n)) for n in range(4000)]
    assert within(sum(not each.shown for each in assignments), 4000, 0.2)
    assert {each.probability for each in assignments} == {0.8}
    assert all("cause" not in each.cause for each in assignments)
