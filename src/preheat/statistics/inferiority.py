"""Non-inferiority: is an arm not worse by more than a margin, and are two arms the same within it (TOST)? Knows numbers only."""

from typing import Literal, TypeAlias

import msgspec
from scipy.special import stdtr, stdtrit

from preheat.errors import UserError

ONE_SIDED_RISK = 0.025
"""On each side, so that the tests agree with the 95 % interval. Half of what is usual for equivalence: with skewed counts a test
at 5 % accepts what is worse by the margin in 6 to 7 of 100 trials."""

BetterDirection: TypeAlias = Literal["lower", "higher"]


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
