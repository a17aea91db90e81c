"""Advice: whether an event causes an advisory to the agent, and which one. Knows readings, not how signals measure.

Most events cause none. At most one text per event, only for a signal over its threshold, once per cause until that cause has
ended, and no more in ten turns than phase and trust allow.
"""

import msgspec

from preheat.live.debt import DEBT
from preheat.live.fold import fired, fold
from preheat.live.mistake import noted
from preheat.live.part import Frame
from preheat.live.state import LiveState, Told
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.live.trust import FULL
from preheat.live.trust import value as trust_of
from preheat.model.live import CLOSE, OPEN, Advisory, Called, LiveEvent, Reading, SignalName, Stopped
from preheat.model.session import PREHEAT_MARK
from preheat.safe_text.reasons import orders

PRIORITY: tuple[SignalName, ...] = ("mistake", "loop", "debt", "drift", "focus", "pressure")
"""The first signal that has something to say is used: what is known to help, then what costs most."""

_BUDGET_TURNS = 10
_ADVISED_EVENTS = (Called, Stopped)
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
    return (state, None) if advisory is None else (told(state, advisory), advisory)


def advise(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> Advisory | None:
    """The advisory that an event causes which was just folded; None for nearly all events."""
    if not isinstance(event, _ADVISED_EVENTS) or state.calls < 2:
        return None
    if len(_recent_turns(state)) >= budget(state, thresholds):
        return None
    if isinstance(event, Stopped):  # the last chance to check anything: the strictest threshold counts
        return _make_advisory(state, DEBT.read(state.debt, Frame(state.turn, "late", thresholds)), thresholds)
    for signal in PRIORITY:
        if signal == "debt" and (not state.owing or state.turn - state.owing < thresholds.debt_turns):
            continue
        found = fired(state, signal, thresholds)
        if found is not None and (advisory := _make_advisory(state, found, thresholds)) is not None:
            return advisory
    return None


def budget(state: LiveState, thresholds: Thresholds = DEFAULTS) -> int:
    """The most advisories in ten turns: what the phase allows, up to two fewer the higher trust is, at least one."""
    phase, allowed = state.phase, thresholds.advice_per_ten_turns
    # Evidence for a new phase counts at once for the budget, though the phase itself waits for more evidence.
    most = max(allowed.of(phase.phase), allowed.of(phase.wanted))
    trust = trust_of(state.trust, Frame(state.turn, phase.phase, thresholds)) / FULL
    return max(min(1, int(most)), round(most - max(0.0, min(_LESS_BY_TRUST, most - 1)) * trust))


def told(state: LiveState, advisory: Advisory) -> LiveState:
    """The state after an advisory was shown to the agent."""
    entry = Told(advisory.signal, advisory.cause, state.turn)
    kept = [each for each in state.told if (each.signal, each.cause) != (entry.signal, entry.cause)]
    lessons = noted(state.mistake, advisory.lesson) if advisory.lesson else state.mistake
    return msgspec.structs.replace(
        state,
        told=(*kept, entry)[-_MOST_REMEMBERED:],
        advised=(*_recent_turns(state), state.turn)[-_MOST_REMEMBERED:],
        spoken=(*(each for each in state.spoken if each[0] != advisory.signal), (advisory.signal, state.turn)),
        mistake=lessons,
    )


def _recent_turns(state: LiveState) -> tuple[int, ...]:
    return tuple(turn for turn in state.advised if turn > state.turn - _BUDGET_TURNS)


def _make_advisory(state: LiveState, found: Reading, thresholds: Thresholds) -> Advisory | None:
    cause = found.cause[:200]
    if not (found.fired and found.text) or any(_has_same_message(each, found.signal, cause) for each in state.told):
        return None
    if any(signal == found.signal and state.turn - turn < _TURNS_BETWEEN for signal, turn in state.spoken):
        return None
    if orders(found.text):  # text of a tool that reads like an instruction is not shown to a model
        return None
    return Advisory(
        signal=found.signal, text=worded(found.text, thresholds.advice_tokens), cause=cause, turn=state.turn
    )


def _has_same_message(known: Told, signal: SignalName, cause: str) -> bool:
    if known.signal == signal:
        return known.cause == cause
    return any(known.signal in group and signal in group for group in _SAME_MESSAGE)


def worded(text: str, tokens: int) -> str:
    """A text on one line within the advisory mark, cut to so many tokens."""
    text = " ".join(text.replace(PREHEAT_MARK, "").replace(CLOSE[: len(PREHEAT_MARK) + 1], "").split())
    most = max(0, int(tokens * _CHARACTERS_PER_TOKEN) - len(OPEN) - len(CLOSE))
    if len(text) > most:
        text = text[: max(0, most - 1)].rpartition(" ")[0] + "…"
    return f"{OPEN}{text}{CLOSE}"
