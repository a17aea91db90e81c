"""The state after an event, and what every signal says of it. Knows no agent, no clock and no disk.

The order of the signals is written here and nowhere else. Trust and phase come last, because they see what the others say.
"""

from preheat.live.debt import DEBT
from preheat.live.drift import DRIFT, away
from preheat.live.focus import FOCUS
from preheat.live.loop import LOOP
from preheat.live.loop import cause as looping_cause
from preheat.live.mistake import MISTAKE
from preheat.live.part import Around, Frame, Part
from preheat.live.phase import PHASE
from preheat.live.pressure import PRESSURE, share
from preheat.live.state import START, LiveState, Told
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.live.trust import TRUST
from preheat.model.live import Began, Called, Ended, LiveEvent, Reading, SignalName, Stopped

SIGNALS: tuple[Part, ...] = (FOCUS, LOOP, DEBT, DRIFT, PRESSURE, MISTAKE, TRUST, PHASE)

_BY_NAME: dict[SignalName, Part] = {part.name: part for part in SIGNALS}
_focus, _debt, _drift, _pressure = FOCUS.step, DEBT.step, DRIFT.step, PRESSURE.step
_loop, _mistake, _trust, _phase = LOOP.step, MISTAKE.step, TRUST.step, PHASE.step
"""By name and not in a turn over SIGNALS, which would cost as much again."""
_UNMEASURED = (Stopped, Ended)
_LONGEST = 200
_LONGEST_ID = 80


def fold(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> LiveState:
    """The state after an event.

    A turn is one response with calls: calls that name the same response are one turn, calls that name none one each.
    """
    turn, calls, response = state.turn, state.calls, state.response
    if isinstance(event, Called):
        calls += 1
        told_response = event.turn[:_LONGEST_ID]
        if not told_response or told_response != response:
            turn += 1
            response = told_response
    elif isinstance(event, Began) and event.source in ("startup", "clear"):
        state, turn, calls, response = START, 0, 0, ""
    elif isinstance(event, _UNMEASURED):
        return state
    before = state.phase.phase
    frame = Frame(turn, before, thresholds)
    focus = _focus(state.focus, event, frame)
    loop = _loop(state.loop, event, frame)
    debt = _debt(state.debt, event, frame)
    drift = _drift(state.drift, event, frame)
    pressure = _pressure(state.pressure, event, frame)
    mistake = _mistake(state.mistake, event, frame)
    looping = state.looping if loop is state.loop else looping_cause(loop, frame)[:_LONGEST]
    unverified = float(len(debt.files))
    owing = (state.owing or turn) if unverified and unverified >= thresholds.debt_files.of(before) else 0
    switched, looks_away, filled = focus.switched, away(drift), share(pressure)
    if unverified or looping or switched or looks_away or filled is not None:
        frame = Frame(turn, before, thresholds, Around(unverified, looping, switched, looks_away, filled))
    trust = _trust(state.trust, event, frame)
    if trust.lapse:
        around = Around(unverified, looping, switched, looks_away, filled, True)
        frame = Frame(turn, before, thresholds, around)
    phase = _phase(state.phase, event, frame)
    after = LiveState(
        turn,
        calls,
        response,
        focus,
        loop,
        debt,
        drift,
        pressure,
        mistake,
        trust,
        phase,
        looping,
        owing,
        state.told,
        state.advised,
        state.spoken,
    )
    return _ended(state, after, thresholds) if state.told else after


def _ended(before: LiveState, state: LiveState, thresholds: Thresholds) -> LiveState:
    """Without the causes that are over: should one come back, it may be told again."""
    same = before.phase.phase == state.phase.phase
    kept = tuple(
        each
        for each in state.told
        if (same and getattr(before, each.signal) is getattr(state, each.signal)) or lasts(state, each, thresholds)
    )
    if len(kept) == len(state.told):
        return state
    return LiveState(
        state.turn, state.calls, state.response, state.focus, state.loop, state.debt, state.drift, state.pressure,
        state.mistake, state.trust, state.phase, state.looping, state.owing, kept, state.advised, state.spoken,
    )  # fmt: skip


def lasts(state: LiveState, told: Told, thresholds: Thresholds) -> bool:
    """Whether a cause that was told still is one: its signal names it, be it over the threshold or not."""
    part = _BY_NAME[told.signal]
    return _read(state, part, _frame(state, thresholds)).cause[:_LONGEST] == told.cause


def reading(state: LiveState, signal: SignalName, thresholds: Thresholds = DEFAULTS) -> Reading:
    """What one signal says."""
    return _read(state, _BY_NAME[signal], _frame(state, thresholds))


def fired(state: LiveState, signal: SignalName, thresholds: Thresholds = DEFAULTS) -> Reading | None:
    """What one signal says, if it is over its threshold."""
    part, frame = _BY_NAME[signal], _frame(state, thresholds)
    if part.quiet is not None and part.quiet(getattr(state, signal), frame):
        return None
    found = _read(state, part, frame)
    return found if found.fired else None


def readings(state: LiveState, thresholds: Thresholds = DEFAULTS) -> tuple[Reading, ...]:
    """What all signals say, in their order."""
    frame = _frame(state, thresholds)
    return tuple(_read(state, part, frame) for part in SIGNALS)


def _frame(state: LiveState, thresholds: Thresholds) -> Frame:
    return Frame(state.turn, state.phase.phase, thresholds)


def _read(state: LiveState, part: Part, frame: Frame) -> Reading:
    return part.read(getattr(state, part.name), frame)
