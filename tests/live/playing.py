"""Plays events to one signal alone, or to all. Knows no signal by name."""

from collections.abc import Iterable
from typing import Any

from preheat.live.part import NO_READINGS, EarlierReadings, FoldContext, Signal
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import CallEvent, LiveEvent, Phase, SignalReading


def played(
    part: Signal, events: Iterable[LiveEvent], *, phase: Phase = "productive", thresholds: Thresholds = DEFAULTS,
    around: EarlierReadings = NO_READINGS, state: Any = None, turn: int = 0,
) -> Any:  # fmt: skip
    """The state of one signal after events, each call being a turn."""
    state = part.start if state is None else state
    for event in events:
        turn += isinstance(event, CallEvent)
        state = part.step(state, event, FoldContext(turn, phase, thresholds, around))
    return state


def heard(
    part: Signal, events: Iterable[LiveEvent], *, phase: Phase = "productive", thresholds: Thresholds = DEFAULTS,
    around: EarlierReadings = NO_READINGS,
) -> SignalReading:  # fmt: skip
    """What one signal says after events."""
    state = played(part, events, phase=phase, thresholds=thresholds, around=around)
    return part.read(state, FoldContext(100, phase, thresholds, around))
