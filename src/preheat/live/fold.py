"""The fold over events, and the readings of all signals. Knows no agent, no clock and no disk.

The order of the signals is defined here only. Trust and phase come last, because they use the readings of the others.
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

_BY_NAME: dict[SignalName, Part] = {definition.name: definition for definition in SIGNALS}
_focus, _debt, _drift, _pressure = FOCUS.step, DEBT.step, DRIFT.step, PRESSURE.step
_loop, _mistake, _trust, _phase = LOOP.step, MISTAKE.step, TRUST.step, PHASE.step
"""Called by name: a loop over SIGNALS would double the cost of a fold."""
_IGNORED_EVENTS = (Stopped, Ended)
_LONGEST_CAUSE = 200
_LONGEST_ID = 80


def fold(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> LiveState:
    """The state after an event.

    A turn is one response with calls: calls that name the same response are one turn, calls that name none one each.
    """
    turn, calls, response = state.turn, state.calls, state.response
    if isinstance(event, Called):
        calls += 1
        call_response = event.turn[:_LONGEST_ID]
        if not call_response or call_response != response:
            turn += 1
            response = call_response
    elif isinstance(event, Began) and event.source in ("startup", "clear"):
        state, turn, calls, response = START, 0, 0, ""
    elif isinstance(event, _IGNORED_EVENTS):
        return state
    before = state.phase.phase
    context = Frame(turn, before, thresholds)
    focus = _focus(state.focus, event, context)
    loop = _loop(state.loop, event, context)
    debt = _debt(state.debt, event, context)
    drift = _drift(state.drift, event, context)
    pressure = _pressure(state.pressure, event, context)
    mistake = _mistake(state.mistake, event, context)
    looping = state.looping if loop is state.loop else looping_cause(loop, context)[:_LONGEST_CAUSE]
    unverified = float(len(debt.files))
    owing = (state.owing or turn) if unverified and unverified >= thresholds.debt_files.of(before) else 0
    switched, looks_outside, window_share = focus.switched, away(drift), share(pressure)
    if unverified or looping or switched or looks_outside or window_share is not None:
        context = Frame(turn, before, thresholds, Around(unverified, looping, switched, looks_outside, window_share))
    trust = _trust(state.trust, event, context)
    if trust.lapse:
        around = Around(unverified, looping, switched, looks_outside, window_share, True)
        context = Frame(turn, before, thresholds, around)
    phase = _phase(state.phase, event, context)
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
    return _drop_ended_causes(state, after, thresholds) if state.told else after


def _drop_ended_causes(before: LiveState, state: LiveState, thresholds: Thresholds) -> LiveState:
    """The state without advice whose cause has ended, so that a cause that returns may be advised again."""
    same = before.phase.phase == state.phase.phase
    kept = tuple(
        each
        for each in state.told
        if (same and getattr(before, each.signal) is getattr(state, each.signal))
        or _still_holds(state, each, thresholds)
    )
    if len(kept) == len(state.told):
        return state
    return LiveState(
        state.turn, state.calls, state.response, state.focus, state.loop, state.debt, state.drift, state.pressure,
        state.mistake, state.trust, state.phase, state.looping, state.owing, kept, state.advised, state.spoken,
    )  # fmt: skip


def _still_holds(state: LiveState, advice: Told, thresholds: Thresholds) -> bool:
    """Whether the cause of sent advice still holds: its signal still names it, over the threshold or not."""
    definition = _BY_NAME[advice.signal]
    return _read(state, definition, _context(state, thresholds)).cause[:_LONGEST_CAUSE] == advice.cause


def reading(state: LiveState, signal: SignalName, thresholds: Thresholds = DEFAULTS) -> Reading:
    """The reading of one signal."""
    return _read(state, _BY_NAME[signal], _context(state, thresholds))


def fired(state: LiveState, signal: SignalName, thresholds: Thresholds = DEFAULTS) -> Reading | None:
    """The reading of one signal if it is over its threshold."""
    definition, context = _BY_NAME[signal], _context(state, thresholds)
    if definition.quiet is not None and definition.quiet(getattr(state, signal), context):
        return None
    found = _read(state, definition, context)
    return found if found.fired else None


def readings(state: LiveState, thresholds: Thresholds = DEFAULTS) -> tuple[Reading, ...]:
    """The readings of all signals, in their order."""
    context = _context(state, thresholds)
    return tuple(_read(state, definition, context) for definition in SIGNALS)


def _context(state: LiveState, thresholds: Thresholds) -> Frame:
    return Frame(state.turn, state.phase.phase, thresholds)


def _read(state: LiveState, definition: Part, context: Frame) -> Reading:
    return definition.read(getattr(state, definition.name), context)
