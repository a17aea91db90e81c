"""Plays events to one signal alone, or to all. Knows no signal by name."""

from collections.abc import Iterable
from typing import Any

from preheat.live.part import NOTHING_AROUND, Around, Frame, Part
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import Called, LiveEvent, Phase, Reading


def played(
    part: Part, events: Iterable[LiveEvent], *, phase: Phase = "productive", thresholds: Thresholds = DEFAULTS,
    around: Around = NOTHING_AROUND, state: Any = None, turn: int = 0,
) -> Any:  # fmt: skip
    """The state of one signal after events, each call being a turn."""
    state = part.start if state is None else state
    for event in events:
        turn += isinstance(event, Called)
        state = part.step(state, event, Frame(turn, phase, thresholds, around))
    return state


def heard(
    part: Part, events: Iterable[LiveEvent], *, phase: Phase = "productive", thresholds: Thresholds = DEFAULTS,
    around: Around = NOTHING_AROUND,
) -> Reading:  # fmt: skip
    """What one signal says after events."""
    state = played(part, events, phase=phase, thresholds=thresholds, around=around)
    return part.read(state, Frame(100, phase, thresholds, around))
