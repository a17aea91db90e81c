"""Lessons that were shown or withheld at random, how those sessions went, and the effect of a lesson.

Frozen values; how lessons are withheld is in `experiments`, how an effect is estimated in `lessons.effectiveness`.
"""

from typing import Literal, TypeAlias

import msgspec

ExposureVerdict: TypeAlias = Literal["helps", "hurts", "no difference shown", "not measured"]
"""`no difference shown`: the interval holds zero, which is not the same as no effect."""


class Exposure(msgspec.Struct, frozen=True):
    """A lesson (by id) or advisory (by name) that was shown or withheld at random in one session."""

    item: str
    session: str
    """The key of the session."""
    shown: bool
    probability: float
    """Of being shown, at that time; 0 and 1 mean that it was not random."""
    at: float | None = None


class MeasuredSession(msgspec.Struct, frozen=True):
    """How one session went."""

    session: str
    calls: int
    """Judged calls."""
    mistakes: int
    """Judged calls that failed by the agent's own mistake."""
    succeeded: bool | None = None
    """Whether its last check passed; None where it had none."""


class ExposureEffect(msgspec.Struct, frozen=True):
    """The effect of showing a lesson on the rate of mistakes per call. Below zero is good."""

    item: str
    shown: int
    """Sessions in which it was shown; `withheld`: sessions in which it was not."""
    withheld: int
    effect: float | None
    """Rate where it was shown minus rate where it was withheld; None where it is not measured."""
    low: float | None
    """The ends of the 95 % interval."""
    high: float | None
    verdict: ExposureVerdict
