"""Pressure: how full the model's window is, and how long it will last. Needs an agent that records tokens.

The share is tokens before the model / what its window holds; the rate is the mean growth over the last eight turns. Knows no
other signal.
"""

import msgspec

from preheat.live.sentences import FULL
from preheat.live.signal import FoldContext, Signal
from preheat.model.live import CallEvent, CompactionEvent, LiveEvent, SignalReading, StartEvent

_TURNS = 8
_RESETTING_EVENTS = (CompactionEvent, StartEvent)
_SLACK = 0.1
"""The share of the window that must become free before the cause ends."""


class PressureState(msgspec.Struct, frozen=True, gc=False):
    window: int = 0
    tokens: int = 0
    turn: int = 0
    history: tuple[tuple[int, int], ...] = ()
    """Turn and tokens of the last turns."""


START = PressureState()


def step(state: PressureState, event: LiveEvent, context: FoldContext) -> PressureState:
    if isinstance(event, CallEvent):
        tokens = event.context_tokens
        if tokens is None or tokens < 0:
            return state
        window = event.context_window or state.window
        if tokens == state.tokens and window == state.window:
            return state
        # Fewer tokens than before: the conversation was shortened, and its earlier growth no longer counts.
        kept = state.history if tokens >= state.tokens else ()
        kept = kept[:-1] if kept and kept[-1][0] == context.turn else kept
        return PressureState(window, tokens, context.turn, (*kept, (context.turn, tokens))[-_TURNS:])
    if isinstance(event, _RESETTING_EVENTS):
        return PressureState(window=state.window) if state.tokens else state
    return state


def context_share(state: PressureState) -> float | None:
    """The share of the window in use, at most 1; None where it is not known."""
    return min(1.0, state.tokens / state.window) if state.window > 0 and state.tokens else None


def read(state: PressureState, context: FoldContext) -> SignalReading:
    share = context_share(state)
    if share is None:
        return SignalReading(signal="pressure", value=0.0, facts={"share": "not known"})
    fired = share >= context.thresholds.pressure_share
    rate = growth_rate(state)
    facts = {"tokens": f"{state.tokens:,}", "window": f"{state.window:,}", "share": f"{share:.0%}"}
    if rate > 0:
        facts["growth"] = f"{rate:,.0f} tokens a turn"
    return SignalReading(
        signal="pressure",
        value=share,
        fired=fired,
        cause="window" if share >= context.thresholds.pressure_share - _SLACK else "",
        facts=facts,
        text=_text(state, share, rate) if fired else "",
    )


def growth_rate(state: PressureState) -> float:
    """Tokens per turn; 0 where it is not known."""
    if len(state.history) < 2:
        return 0.0
    (first_turn, first), (last_turn, last) = state.history[0], state.history[-1]
    return (last - first) / (last_turn - first_turn) if last_turn > first_turn else 0.0


def _text(state: PressureState, share: float, rate: float) -> str:
    turns = max(0, state.window - state.tokens) / rate if rate >= 1 else 0
    return FULL.write(
        share=f"{share:.0%}", tokens=state.tokens, window=state.window, turns=f"{turns:.0f}" if rate >= 1 else ""
    )


def is_quiet(state: PressureState, context: FoldContext) -> bool:
    return state.tokens < state.window * context.thresholds.pressure_share or not state.window


PRESSURE = Signal("pressure", START, step, read, is_quiet)
