"""A running session: `fold` its events into a state, take `readings`, and `advise` the agent. Knows no agent and no disk."""

from preheat.live.advise import advise, budget, step, told
from preheat.live.fold import SIGNALS, fold, reading, readings
from preheat.live.state import START, LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds

__all__ = [
    "DEFAULTS", "SIGNALS", "START", "LiveState", "Thresholds", "advise", "budget", "fold", "reading", "readings", "step", "told",
]  # fmt: skip
