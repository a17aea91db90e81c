"""What a session was shown or spared by chance, how it then went, and what that says of an item's effect.

Frozen values; who draws the lots is in `experiments`, how an effect is estimated in `lessons.effectiveness`.
"""

from typing import Literal, TypeAlias

import msgspec

Verdict: TypeAlias = Literal["helps", "hurts", "no difference shown", "not measured"]
"""`no difference shown`: the interval holds zero, which is not the same as no effect."""


class Exposure(msgspec.Struct, frozen=True):
    """An item (a lesson's id, an advisory's name) that a lot was drawn for in one session."""

    item: str
    session: str
    """The key of the session."""
    shown: bool
    probability: float
    """Of being shown, as it was when the lot was drawn; 0 and 1 were no lots."""
    at: float | None = None


class Measured(msgspec.Struct, frozen=True):
    """How one session went."""

    session: str
    calls: int
    """Those that a rate is taken over."""
    mistakes: int
    """Of those, the ones that failed by the agent's own mistake."""
    succeeded: bool | None = None
    """Whether its last check passed; None where it had none."""


class Effect(msgspec.Struct, frozen=True):
    """What showing an item did to the mistake rate per call. Below zero is good: fewer mistakes."""

    item: str
    shown: int
    """Sessions in which it was shown; likewise withheld."""
    withheld: int
    effect: float | None
    """Rate where it was shown minus rate where it was withheld; None where it is not measured."""
    low: float | None
    """The ends of the 95 % interval."""
    high: float | None
    verdict: Verdict
