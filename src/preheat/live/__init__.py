"""A running session: `fold` its events into a state, take `readings`, and `advise` the agent. Knows no agent and no disk."""

from preheat.live.advice import advice_budget, advise, record_advice, step
from preheat.live.signal import DEFAULTS, Thresholds
from preheat.live.state import SIGNALS, START, LiveState, fold, reading, readings

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
