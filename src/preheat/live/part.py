"""What a signal is: a small state of its own, a pure step, and a reading. Knows none of them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from preheat.live.thresholds import Thresholds
from preheat.model.live import Called, LiveEvent, Phase, Reading, SignalName


class Around(msgspec.Struct, frozen=True, gc=False):
    """What the signals before them say, for those that come last: trust and phase."""

    debt: float = 0.0
    """Files changed and not verified."""
    loop: str = ""
    """The cause of a loop that goes on."""
    switched: int = 0
    """Subsystems that the event began to change."""
    away: bool = False
    """Only looking, and outside of what the goal named."""
    share: float | None = None
    """Of the model's window, where it is known."""
    lapse: bool = False
    """The event is a mistake or a failure that came back, as trust counts them."""


NOTHING_AROUND = Around()


class Frame(msgspec.Struct, frozen=True, gc=False):
    """What every signal may know of the moment."""

    turn: int
    """Of the event: how many responses with calls there were so far, this one included."""
    phase: Phase
    """As it was before the event."""
    thresholds: Thresholds
    around: Around = NOTHING_AROUND


class Part(NamedTuple):
    """One signal."""

    name: SignalName
    start: Any
    """Its state before anything happened: a frozen msgspec Struct, bounded whatever comes."""
    step: Callable[[Any, LiveEvent, Frame], Any]
    """The state after an event. Gives the same object back where nothing changed."""
    read: Callable[[Any, Frame], Reading]
    """What it says now."""
    quiet: Callable[[Any, Frame], bool] | None = None
    """Cheaply: there is surely nothing to say. Without it the signal must be read to know."""


def passed(event: Called) -> bool:
    """Whether it is a check and all is well: the one thing that proves work."""
    return bool(event.checks) and event.status == "ok" and not event.failing
