"""The state of a running session: one state per signal, the advice that was sent, and the fold over events.

The state stays bounded and goes through msgpack unchanged. The order of the signals is defined here only; trust and phase come
last, because they use the readings of the others. Knows no agent, no clock and no disk.
"""

import msgspec

from preheat.live.debt import DEBT, DebtState
from preheat.live.drift import DRIFT, DriftState, looks_outside_goal
from preheat.live.focus import FOCUS, FocusState
from preheat.live.loop import LOOP, LoopState, find_loop_cause
from preheat.live.mistake import MISTAKE, MistakeState
from preheat.live.phase import PHASE, PhaseState
from preheat.live.pressure import PRESSURE, PressureState, context_share
from preheat.live.signal import DEFAULTS, EarlierReadings, FoldContext, Signal, Thresholds
from preheat.live.trust import TRUST, TrustState
from preheat.model.live import CallEvent, EndEvent, LiveEvent, SignalName, SignalReading, StartEvent, StopEvent


class SentAdvice(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Advice that was sent and whose cause has not ended."""

    signal: SignalName
    cause: str
    turn: int


class LiveState(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename={
        "sent": "told",
        "advised_turns": "advised",
        "last_turn_by_signal": "spoken",
        "debt_since": "owing",
        "loop_cause": "looping",
    },
):
    """The whole state. Made positionally, because one is made for every event."""

    turn: int = 0
    """Responses with calls so far."""
    calls: int = 0
    response: str = ""
    """The id of the last response; empty where the agent gives none."""
    focus: FocusState = FocusState()
    loop: LoopState = LoopState()
    debt: DebtState = DebtState()
    drift: DriftState = DriftState()
    pressure: PressureState = PressureState()
    mistake: MistakeState = MistakeState()
    trust: TrustState = TrustState()
    phase: PhaseState = PhaseState()
    loop_cause: str = ""
    """The cause of the present loop; empty without one."""
    debt_since: int = 0
    """The turn since which verification debt is over its threshold; 0: it is not."""
    sent: tuple[SentAdvice, ...] = ()
    advised_turns: tuple[int, ...] = ()
    """The turns of the last advisories."""
    last_turn_by_signal: tuple[tuple[SignalName, int], ...] = ()
    """By signal, the turn of its last advisory."""


START = LiveState()


# The fold over events, and the readings of all signals.
SIGNALS: tuple[Signal, ...] = (FOCUS, LOOP, DEBT, DRIFT, PRESSURE, MISTAKE, TRUST, PHASE)

_BY_NAME: dict[SignalName, Signal] = {definition.name: definition for definition in SIGNALS}
_focus, _debt, _drift, _pressure = FOCUS.step, DEBT.step, DRIFT.step, PRESSURE.step
_loop, _mistake, _trust, _phase = LOOP.step, MISTAKE.step, TRUST.step, PHASE.step
"""Called by name: a loop over SIGNALS would double the cost of a fold."""
_IGNORED_EVENTS = (StopEvent, EndEvent)
_LONGEST_CAUSE = 200
_LONGEST_ID = 80


def fold(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> LiveState:
    """The state after an event.

    A turn is one response with calls: calls that name the same response are one turn, calls that name none one each.
    """
    turn, calls, response = state.turn, state.calls, state.response
    if isinstance(event, CallEvent):
        calls += 1
        call_response = event.turn[:_LONGEST_ID]
        if not call_response or call_response != response:
            turn += 1
            response = call_response
    elif isinstance(event, StartEvent) and event.source in ("startup", "clear"):
        state, turn, calls, response = START, 0, 0, ""
    elif isinstance(event, _IGNORED_EVENTS):
        return state
    before = state.phase.phase
    context = FoldContext(turn, before, thresholds)
    focus = _focus(state.focus, event, context)
    loop = _loop(state.loop, event, context)
    debt = _debt(state.debt, event, context)
    drift = _drift(state.drift, event, context)
    pressure = _pressure(state.pressure, event, context)
    mistake = _mistake(state.mistake, event, context)
    loop_cause = state.loop_cause if loop is state.loop else find_loop_cause(loop, context)[:_LONGEST_CAUSE]
    unverified = float(len(debt.files))
    debt_since = (state.debt_since or turn) if unverified and unverified >= thresholds.debt_files.of(before) else 0
    switched, looks_outside, window_share = focus.switched, looks_outside_goal(drift), context_share(pressure)
    if unverified or loop_cause or switched or looks_outside or window_share is not None:
        context = FoldContext(
            turn, before, thresholds, EarlierReadings(unverified, loop_cause, switched, looks_outside, window_share)
        )
    trust = _trust(state.trust, event, context)
    if trust.lapse:
        earlier = EarlierReadings(unverified, loop_cause, switched, looks_outside, window_share, True)
        context = FoldContext(turn, before, thresholds, earlier)
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
        loop_cause,
        debt_since,
        state.sent,
        state.advised_turns,
        state.last_turn_by_signal,
    )
    return _drop_ended_causes(state, after, thresholds) if state.sent else after


def _drop_ended_causes(before: LiveState, state: LiveState, thresholds: Thresholds) -> LiveState:
    """The state without advice whose cause has ended, so that a cause that returns may be advised again."""
    same = before.phase.phase == state.phase.phase
    kept = tuple(
        each
        for each in state.sent
        if (same and getattr(before, each.signal) is getattr(state, each.signal))
        or _still_holds(state, each, thresholds)
    )
    if len(kept) == len(state.sent):
        return state
    return LiveState(
        state.turn,
        state.calls,
        state.response,
        state.focus,
        state.loop,
        state.debt,
        state.drift,
        state.pressure,
        state.mistake,
        state.trust,
        state.phase,
        state.loop_cause,
        state.debt_since,
        kept,
        state.advised_turns,
        state.last_turn_by_signal,
    )


def _still_holds(state: LiveState, advice: SentAdvice, thresholds: Thresholds) -> bool:
    """Whether the cause of sent advice still holds: its signal still names it, over the threshold or not."""
    definition = _BY_NAME[advice.signal]
    return _read(state, definition, _context(state, thresholds)).cause[:_LONGEST_CAUSE] == advice.cause


def reading(state: LiveState, signal: SignalName, thresholds: Thresholds = DEFAULTS) -> SignalReading:
    """The reading of one signal."""
    return _read(state, _BY_NAME[signal], _context(state, thresholds))


def read_if_fired(state: LiveState, signal: SignalName, thresholds: Thresholds = DEFAULTS) -> SignalReading | None:
    """The reading of one signal if it is over its threshold."""
    definition, context = _BY_NAME[signal], _context(state, thresholds)
    if definition.is_quiet is not None and definition.is_quiet(getattr(state, signal), context):
        return None
    found = _read(state, definition, context)
    return found if found.fired else None


def readings(state: LiveState, thresholds: Thresholds = DEFAULTS) -> tuple[SignalReading, ...]:
    """The readings of all signals, in their order."""
    context = _context(state, thresholds)
    return tuple(_read(state, definition, context) for definition in SIGNALS)


def _context(state: LiveState, thresholds: Thresholds) -> FoldContext:
    return FoldContext(state.turn, state.phase.phase, thresholds)


def _read(state: LiveState, definition: Signal, context: FoldContext) -> SignalReading:
    return definition.read(getattr(state, definition.name), context)
