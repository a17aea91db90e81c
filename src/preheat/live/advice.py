"""Advice: whether an event causes an advisory to the agent, and which one. Knows readings, not how signals measure.

Most events cause none. At most one text per event, only for a signal over its threshold, once per cause until that cause has
ended, and no more in ten turns than phase and trust allow.
"""

import msgspec

from preheat.live.debt import DEBT
from preheat.live.mistake import record_lesson
from preheat.live.signal import DEFAULTS, AdvisedSignal, FoldContext, Thresholds
from preheat.live.state import LiveState, SentAdvice, fold, read_if_fired
from preheat.live.trust import FULL, trust_value
from preheat.model.live import (
    ADVISORY_CLOSE,
    ADVISORY_OPEN,
    Advisory,
    CallEvent,
    LiveEvent,
    SignalName,
    SignalReading,
    StopEvent,
    answer_subject,
    is_answer,
)
from preheat.model.session import PREHEAT_MARK

PRIORITY: tuple[AdvisedSignal, ...] = ("mistake", "loop", "debt", "drift", "focus", "pressure")
"""The first signal that has something to say is used: what is known to help, then what costs most. Those that did not help on
real sessions (debt before a stop, drift, focus) are silent unless the setting `advise` names them."""

_BUDGET_TURNS = 10
_ADVISED_EVENTS = (CallEvent, StopEvent)
"""Events that may cause an advisory."""
_CHARACTERS_PER_TOKEN = 3.5
"""Characters per token, a lower bound for texts full of paths and code."""
_MOST_REMEMBERED = 32
_SAME_MESSAGE: tuple[frozenset[SignalName], ...] = (frozenset(["drift", "focus"]),)
"""Signals with the same message: while the cause of one lasts, the other is silent."""
_TURNS_BETWEEN = 5
"""Turns between two advisories of the same signal for different causes."""
_LESS_BY_TRUST = 2
"""How many fewer advisories than its phase allows a session with full trust gets."""


def step(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> tuple[LiveState, Advisory | None]:
    """The state after an event, and the advisory that it causes, already recorded in the state."""
    state = fold(state, event, thresholds)
    advisory = advise(state, event, thresholds)
    return (state, None) if advisory is None else (record_advice(state, advisory), advisory)


def advise(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> Advisory | None:
    """The advisory that an event causes which was just folded; None for nearly all events."""
    if not isinstance(event, _ADVISED_EVENTS) or state.calls < 2:
        return None
    if len(_recent_turns(state)) >= advice_budget(state, thresholds):
        return None
    if isinstance(event, StopEvent):  # the last chance to check anything: the strictest threshold counts
        return _make_advisory(state, DEBT.read(state.debt, FoldContext(state.turn, "late", thresholds)), thresholds)
    for signal in PRIORITY:
        if signal not in thresholds.advise:
            continue
        if signal == "debt" and (not state.debt_since or state.turn - state.debt_since < thresholds.debt_turns):
            continue
        reading = read_if_fired(state, signal, thresholds)
        if reading is not None and (advisory := _make_advisory(state, reading, thresholds)) is not None:
            return advisory
    return None


def advice_budget(state: LiveState, thresholds: Thresholds = DEFAULTS) -> int:
    """The most advisories in ten turns: what the phase allows, up to two fewer the higher trust is, at least one."""
    phase, allowed = state.phase, thresholds.advice_per_ten_turns
    # Evidence for a new phase counts at once for the budget, though the phase itself waits for more evidence.
    most = max(allowed.of(phase.phase), allowed.of(phase.wanted))
    trust = trust_value(state.trust, FoldContext(state.turn, phase.phase, thresholds)) / FULL
    return max(min(1, int(most)), round(most - max(0.0, min(_LESS_BY_TRUST, most - 1)) * trust))


def record_advice(state: LiveState, advisory: Advisory) -> LiveState:
    """The state after an advisory was shown to the agent."""
    if is_answer(advisory):
        return msgspec.structs.replace(state, mistake=record_lesson(state.mistake, answer_subject(advisory.cause)))
    entry = SentAdvice(advisory.signal, advisory.cause, state.turn)
    kept = [each for each in state.sent if (each.signal, each.cause) != (entry.signal, entry.cause)]
    lessons = record_lesson(state.mistake, advisory.lesson) if advisory.lesson else state.mistake
    return msgspec.structs.replace(
        state,
        sent=(*kept, entry)[-_MOST_REMEMBERED:],
        advised_turns=(*_recent_turns(state), state.turn)[-_MOST_REMEMBERED:],
        last_turn_by_signal=(
            *(each for each in state.last_turn_by_signal if each[0] != advisory.signal),
            (advisory.signal, state.turn),
        ),
        mistake=lessons,
    )


def _recent_turns(state: LiveState) -> tuple[int, ...]:
    return tuple(turn for turn in state.advised_turns if turn > state.turn - _BUDGET_TURNS)


def _make_advisory(state: LiveState, reading: SignalReading, thresholds: Thresholds) -> Advisory | None:
    cause = reading.cause[:200]
    if not (reading.fired and reading.text) or any(
        _has_same_message(each, reading.signal, cause) for each in state.sent
    ):
        return None
    if any(
        signal == reading.signal and state.turn - turn < _TURNS_BETWEEN for signal, turn in state.last_turn_by_signal
    ):
        return None
    return Advisory(
        signal=reading.signal,
        text=format_advisory(reading.text, thresholds.advice_tokens),
        cause=cause,
        turn=state.turn,
    )


def _has_same_message(known: SentAdvice, signal: SignalName, cause: str) -> bool:
    if known.signal == signal:
        return known.cause == cause
    return any(known.signal in group and signal in group for group in _SAME_MESSAGE)


def format_advisory(text: str, tokens: int, end: str = "") -> str:
    """A text on one line within the advisory mark, cut to so many tokens; `end` follows it and is never cut."""
    text = " ".join(text.replace(PREHEAT_MARK, "").replace(ADVISORY_CLOSE[: len(PREHEAT_MARK) + 1], "").split())
    end = f" {end}" if end else ""
    most = max(0, int(tokens * _CHARACTERS_PER_TOKEN) - len(ADVISORY_OPEN) - len(ADVISORY_CLOSE) - len(end))
    if len(text) > most:
        text = text[: max(0, most - 1)].rpartition(" ")[0] + "…"
    return f"{ADVISORY_OPEN}{text}{end}{ADVISORY_CLOSE}"
