"""Every number that steers the signals, with the default of the user's documents; each is a setting with a test that it acts.

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
    """File touches that count; older ones weigh less."""
    focus_low: float = 40.0
    """Below this it may be told."""
    # loop
    loop_repeats: ByPhase = ByPhase(4, 3, 3, 3, 3)
    """The same call with the same result so often."""
    loop_cycles: ByPhase = ByPhase(4, 3, 3, 3, 3)
    """Edit, check, the same or an alternating failure: so many rounds (low sensitivity in warmup)."""
    loop_rereads: int = 4
    """The same look with the same result so often, and nothing changed in between."""
    # verification debt
    debt_files: ByPhase = ByPhase(8, 5, 5, 3, 2)
    """Unverified files from which it is told."""
    debt_free: int = 2
    """Unverified files that cost no trust."""
    debt_turns: int = 3
    """Turns that it must stand before it is told: most agents go on to check by themselves."""
    # drift
    drift_high: float = 0.7
    """From here on it may be told."""
    drift_velocity: float = 0.05
    """Rise per turn from which it is told."""
    # trust
    trust_mistake: float = 5.0
    """What a mistake or a failure that came back costs."""
    trust_unverified: float = 3.0
    """What each unverified file past the free ones costs, as long as it is one."""
    trust_switch: float = 2.0
    """What a subsystem that is opened beside others costs."""
    trust_dead_end: float = 4.0
    """What a loop that begins costs, or changes that are thrown away."""
    trust_progress: float = 10.0
    """What a check that proves changes gives back."""
    trust_recovery: float = 1.0
    """What every good call gives back."""
    # phase
    warmup_turns: int = 5
    """The last turn of warmup."""
    late_turn: int = 80
    """The first turn that is late."""
    late_share: float = 0.8
    """Of the model's window, from which it is late."""
    phase_patience: int = 2
    """Turns that a new phase must hold before it counts."""
    # pressure
    pressure_share: float = 0.85
    """Of the model's window, from which it is told."""
    # advice
    advice_per_ten_turns: ByPhase = ByPhase(1, 3, 3, 5, 1000)
    """Texts at most; up to two fewer the higher trust is."""
    advice_tokens: int = 120
    """Of one text."""
    output_lines: ByPhase = ByPhase(80, 80, 80, 60, 40)
    """Lines that a shortened output keeps, where that is asked for."""


DEFAULTS = Thresholds()
