"""Focus: how concentrated the work is, 100 in one subsystem, about 40 when spread over four.

`100 · N^(−2/3)`, N being the effective number of subsystems (inverse Simpson, 1 / Σ share²) over the last file touches. The
newest touch weighs most, and an edit four times as much as a read. Knows no goal: that is `drift`.
"""

import msgspec

from preheat.live import sentences
from preheat.live.project_files import locate_file, shorten_path, states_a_goal, subsystem_of
from preheat.live.signal import FoldContext, Signal, check_passed
from preheat.model.live import CallEvent, LiveEvent, PromptEvent, SignalReading, StartEvent

_READ_WEIGHT = 0.25
"""The weight of a read relative to an edit."""
_LEAST_SUBSYSTEMS = 3
"""Subsystems changed since a check last passed from which low focus fires: a wide change whose checks pass is intended."""
_LEAST_FALL = 20.0
"""Points lost since the older half of the touches from which low focus fires: work that was wide from the start is intended."""
_LEAST_TOUCHES = 12
"""Touches from which two halves can be compared."""
_SLACK = 15.0
"""How far focus must rise above its threshold before its cause ends."""
_MOST_SUBSYSTEMS = 16
_NAMED = 3

Touch = tuple[str, bool]
"""A subsystem, and whether something in it was changed."""


class FocusState(msgspec.Struct, frozen=True, gc=False):
    touches: tuple[Touch, ...] = ()
    """The last ones, oldest first."""
    open: tuple[str, ...] = ()
    """Subsystems changed since a check last passed, in the order in which that began."""
    switched: int = 0
    """How many subsystems the last event began to change, after work in others."""
    switches: int = 0
    """The sum of `switched` over the session."""


START = FocusState()


def step(state: FocusState, event: LiveEvent, context: FoldContext) -> FocusState:
    if isinstance(event, CallEvent):
        if event.files:
            return _fold_touches(state, event, context.thresholds.focus_window)
        if state.open and event.checks and check_passed(event):
            return FocusState(state.touches, (), 0, state.switches)
    elif isinstance(event, StartEvent) or (isinstance(event, PromptEvent) and states_a_goal(event)):
        # A new prompt or session starts a new measurement.
        return FocusState(switches=state.switches) if state.touches or state.switched else state
    return FocusState(state.touches, state.open, 0, state.switches) if state.switched else state


def _fold_touches(state: FocusState, event: CallEvent, window: int) -> FocusState:
    touches, open_subsystems, switched = state.touches, state.open, 0
    for path in event.files[:window]:
        location = locate_file(path)
        if location is None:
            continue
        subsystem = location.subsystem
        if location.is_test:
            subsystem = subsystem_of(location, tuple(dict.fromkeys([known for known, _ in touches])))
            if not subsystem:
                continue
        edited = path in event.edited
        if edited and subsystem not in open_subsystems:
            open_subsystems = (*open_subsystems, subsystem)[-_MOST_SUBSYSTEMS:]
            if (subsystem, True) not in touches and any(changed for _, changed in touches):
                switched += 1
        touches = (*touches, (subsystem, edited))
    if event.checks and check_passed(event):
        open_subsystems = ()
    return FocusState(touches[-window:], open_subsystems, switched, state.switches + switched)


def subsystem_weights(touches: tuple[Touch, ...], window: int) -> dict[str, float]:
    """The weight of each subsystem in the last touches."""
    weights: dict[str, float] = {}
    weight = window - len(touches)
    for subsystem, edited in touches:
        weight += 1
        weights[subsystem] = weights.get(subsystem, 0.0) + (weight if edited else weight * _READ_WEIGHT)
    return weights


def effective_number(weights: dict[str, float]) -> float:
    """The effective number of subsystems; 1 where nothing was touched."""
    total = sum(weights.values())
    return total * total / sum(weight * weight for weight in weights.values()) if total > 0 else 1.0


def read(state: FocusState, context: FoldContext) -> SignalReading:
    thresholds = context.thresholds
    window = thresholds.focus_window
    touches = state.touches[-window:]
    weights = subsystem_weights(touches, window)
    number = effective_number(weights)
    value = focus_score(number)
    fired, before = False, 100.0
    if value < thresholds.focus_low and len(touches) >= _LEAST_TOUCHES:
        before = focus_score(effective_number(subsystem_weights(touches[: len(touches) // 2], window)))
        fired = before - value >= _LEAST_FALL and len(state.open) >= _LEAST_SUBSYSTEMS and context.phase != "warmup"
    return SignalReading(
        signal="focus",
        value=value,
        fired=fired,
        cause="spread" if value < thresholds.focus_low + _SLACK else "",
        facts={
            "file touches": str(len(touches)),
            "subsystems": str(len(weights)),
            "effective number": f"{number:.2f}",
            "focus": f"100 × {number:.2f}^(−2/3) = {value:.0f}",
            "changed since a check passed": str(len(state.open)),
        },
        text=_text(state, weights, before, value) if fired else "",
    )


def focus_score(number: float) -> float:
    """Focus for an effective number of subsystems."""
    return 100.0 * float(number ** (-2 / 3))


def _text(state: FocusState, weights: dict[str, float], before: float, value: float) -> str:
    heaviest = sorted(weights, key=lambda name: (-weights[name], name))[:_NAMED]
    return sentences.FOCUS.write(
        before=f"{before:.0f}",
        value=f"{value:.0f}",
        touches=len(state.touches),
        subsystems=len(weights),
        names=[shorten_path(name, 30) for name in heaviest],
        open=len(state.open),
        first=shorten_path(state.open[0], 30),
    )


def is_quiet(state: FocusState, context: FoldContext) -> bool:
    return len(state.open) < _LEAST_SUBSYSTEMS or len(state.touches) < _LEAST_TOUCHES


FOCUS = Signal("focus", START, step, read, is_quiet)
