"""What a signal is: a small state of its own, a pure step, and a reading. Knows no single signal."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from preheat.live.thresholds import Thresholds
from preheat.model.live import CallEvent, LiveEvent, Phase, SignalName, SignalReading


class EarlierReadings(msgspec.Struct, frozen=True, gc=False):
    """The readings of earlier signals, for the two that come last: trust and phase."""

    unverified_files: float = 0.0
    """Files changed and not verified."""
    loop_cause: str = ""
    """The cause of a loop that goes on."""
    opened_subsystems: int = 0
    """How many subsystems the event began to change."""
    looks_outside_goal: bool = False
    """The last touches are reads outside of the goal only."""
    context_share: float | None = None
    """The share of the model's window in use, where it is known."""
    is_lapse: bool = False
    """The event is a mistake or a repeated failure, as trust counts them."""


NO_READINGS = EarlierReadings()


class FoldContext(msgspec.Struct, frozen=True, gc=False):
    """What every signal may know besides its state and the event."""

    turn: int
    """The turn of the event: responses with calls so far, including this one."""
    phase: Phase
    """The phase before the event."""
    thresholds: Thresholds
    earlier: EarlierReadings = NO_READINGS


class Signal(NamedTuple):
    """One signal."""

    name: SignalName
    start: Any
    """Its state before the first event: a frozen, bounded msgspec Struct."""
    step: Callable[[Any, LiveEvent, FoldContext], Any]
    """Gives the state after an event; the same object where nothing changed."""
    read: Callable[[Any, FoldContext], SignalReading]
    """Gives its reading of a state."""
    is_quiet: Callable[[Any, FoldContext], bool] | None = None
    """A cheap test that the signal cannot fire; without it the signal must be read."""


def check_passed(event: CallEvent) -> bool:
    """Whether a call is a check that passed."""
    return bool(event.checks) and event.status == "ok" and not event.failing
