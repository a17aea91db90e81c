"""A running session: `fold` its events into a state, take `readings`, and `advise` the agent. Knows no agent and no disk."""

from preheat.live.advise import advice_budget, advise, record_advice, step
from preheat.live.fold import SIGNALS, fold, reading, readings
from preheat.live.state import START, LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds

__all__ = [
    "DEFAULTS",
    "SIGNALS",
    "START",
    "LiveState",
    "Thresholds",
    "advice_budget",
    "advise",
    "fold",
    "reading",
    "readings",
    "record_advice",
    "step",
]  # fmt: skip
