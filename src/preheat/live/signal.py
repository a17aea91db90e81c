"""What a signal is (a small state of its own, a pure step, a reading), and every threshold that steers signals.

Each threshold is a setting below `[live]`. Knows no single signal.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.live import CallEvent, LiveEvent, Phase, SignalName, SignalReading

AdvisedSignal: TypeAlias = Literal["mistake", "loop", "debt", "drift", "focus", "pressure"]
"""Signals that have something to say; trust and phase only steer."""


# The thresholds of all signals with their defaults
class ByPhase(msgspec.Struct, frozen=True):
    """A number for each phase."""

    warmup: float
    productive: float
    exploring: float
    struggling: float
    late: float

    def of(self, phase: Phase) -> float:
        number: float = getattr(self, phase)
        return number


class Thresholds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of `live` in `settings.toml` below `[live]`."""

    # focus
    focus_window: int = 24
    """File touches that count; older touches weigh less."""
    focus_low: float = 40.0
    """Focus below this may fire."""
    # loop
    loop_repeats: ByPhase = ByPhase(4, 3, 3, 3, 3)
    """The same call with the same result so many times."""
    loop_cycles: ByPhase = ByPhase(4, 3, 3, 3, 3)
    """Edit, check, the same or an alternating failure: so many rounds (low sensitivity in warmup)."""
    loop_rereads: int = 4
    """The same read with the same result so many times, and nothing changed in between."""
    # verification debt
    debt_files: ByPhase = ByPhase(8, 5, 5, 3, 2)
    """Unverified files from which debt fires."""
    debt_free: int = 2
    """Unverified files that cost no trust."""
    debt_turns: int = 3
    """Turns over the threshold before debt is advised: most agents check by themselves."""
    # drift
    drift_high: float = 0.7
    """Drift from which it may fire."""
    drift_velocity: float = 0.05
    """Rise per turn from which drift fires."""
    # trust
    trust_mistake: float = 5.0
    """Points that a mistake or a repeated failure costs."""
    trust_unverified: float = 3.0
    """Points that each unverified file past the free ones costs while it is unverified."""
    trust_switch: float = 2.0
    """Points that opening another subsystem costs."""
    trust_dead_end: float = 4.0
    """Points that the start of a loop costs, or discarding changes."""
    trust_progress: float = 10.0
    """Points that a passed check after changes gives back."""
    trust_recovery: float = 1.0
    """Points that every good call gives back."""
    # phase
    warmup_turns: int = 5
    """The last turn of warmup."""
    late_turn: int = 80
    """The first turn that is late."""
    late_share: float = 0.8
    """Share of the model's window from which a session is late."""
    phase_patience: int = 2
    """Turns that a new phase must hold before it counts."""
    # pressure
    pressure_share: float = 0.85
    """Share of the model's window from which pressure fires."""
    # advice
    advice_per_ten_turns: ByPhase = ByPhase(1, 3, 3, 5, 1000)
    """Most advisories in ten turns; up to two fewer the higher trust is."""
    advise: tuple[AdvisedSignal, ...] = ("mistake", "loop", "pressure")
    """Signals that may advise while the agent works. Debt is mentioned at a stop in any case."""
    advice_tokens: int = 120
    """Most tokens of one advisory."""
    output_lines: ByPhase = ByPhase(80, 80, 80, 60, 40)
    """Lines that a shortened output keeps, where shortening is switched on."""


DEFAULTS = Thresholds()


# What a signal is
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
