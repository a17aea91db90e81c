"""The thresholds of all signals with their defaults; each is a setting, and a test shows that it has an effect.

Knows no signal.
"""

import msgspec

from preheat.model.live import Phase


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
    advice_tokens: int = 120
    """Most tokens of one advisory."""
    output_lines: ByPhase = ByPhase(80, 80, 80, 60, 40)
    """Lines that a shortened output keeps, where shortening is switched on."""


DEFAULTS = Thresholds()
