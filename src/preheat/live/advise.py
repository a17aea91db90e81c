"""Whether an event is worth a word to the agent, and which one. Knows the signals' readings, not how they are measured.

Silence is the rule. At most one text per event, only for a signal that is over its threshold, once per cause until the cause
has ended and come back, and no more in ten turns than phase and trust allow.
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
"""Of several reasons to speak, the first: what is known to help, then what costs most."""

_TURNS = 10
_WORTH = (Called, Stopped)
"""Events after which something may be said."""
_CHARACTERS = 3.5
"""To a token at the least, in texts full of paths and code: a bound, not an estimate."""
_MOST = 32
_SAME_STORY: tuple[frozenset[SignalName], ...] = (frozenset(["drift", "focus"]),)
"""Signals that tell an agent the same thing: while one of them lasts the other is silent."""
_PATIENCE = 5
"""Turns that an agent has to act on what a signal had said before the same signal speaks of another cause."""
_LESS_BY_TRUST = 2
"""A session with full trust gets so many fewer than its phase allows."""


def step(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> tuple[LiveState, Advisory | None]:
    """The state after an event, and the one text that it causes, counted as told."""
    state = fold(state, event, thresholds)
    advisory = advise(state, event, thresholds)
    return (state, None) if advisory is None else (told(state, advisory), advisory)


def advise(state: LiveState, event: LiveEvent, thresholds: Thresholds = DEFAULTS) -> Advisory | None:
    """What an event that was just folded is worth saying; None nearly always."""
    if not isinstance(event, _WORTH) or state.calls < 2:
        return None
    if len(_lately(state)) >= budget(state, thresholds):
        return None
    if isinstance(event, Stopped):  # the last chance to check anything: the strictest threshold counts
        return _said(state, DEBT.read(state.debt, Frame(state.turn, "late", thresholds)), thresholds)
    for signal in PRIORITY:
        if signal == "debt" and (not state.owing or state.turn - state.owing < thresholds.debt_turns):
            continue
        found = fired(state, signal, thresholds)
        if found is not None and (advisory := _said(state, found, thresholds)) is not None:
            return advisory
    return None


def budget(state: LiveState, thresholds: Thresholds = DEFAULTS) -> int:
    """How many texts ten turns may have: what the phase allows, up to two fewer the higher trust is, but one."""
    phase, allowed = state.phase, thresholds.advice_per_ten_turns
    # Evidence of a struggle opens its budget at once: the phase waits for more of it, the word that may help does not.
    most = max(allowed.of(phase.phase), allowed.of(phase.wanted))
    trust = trust_of(state.trust, Frame(state.turn, phase.phase, thresholds)) / FULL
    return max(min(1, int(most)), round(most - max(0.0, min(_LESS_BY_TRUST, most - 1)) * trust))


def told(state: LiveState, advisory: Advisory) -> LiveState:
    """The state after a text was put before the agent."""
    entry = Told(advisory.signal, advisory.cause, state.turn)
    kept = [each for each in state.told if (each.signal, each.cause) != (entry.signal, entry.cause)]
    lessons = noted(state.mistake, advisory.lesson) if advisory.lesson else state.mistake
    return msgspec.structs.replace(
        state,
        told=(*kept, entry)[-_MOST:],
        advised=(*_lately(state), state.turn)[-_MOST:],
        spoken=(*(each for each in state.spoken if each[0] != advisory.signal), (advisory.signal, state.turn)),
        mistake=lessons,
    )


def _lately(state: LiveState) -> tuple[int, ...]:
    return tuple(turn for turn in state.advised if turn > state.turn - _TURNS)


def _said(state: LiveState, found: Reading, thresholds: Thresholds) -> Advisory | None:
    cause = found.cause[:200]
    if not (found.fired and found.text) or any(_same(each, found.signal, cause) for each in state.told):
        return None
    if any(signal == found.signal and state.turn - turn < _PATIENCE for signal, turn in state.spoken):
        return None
    if orders(found.text):  # what came out of a tool and reads like an order goes before no model
        return None
    return Advisory(
        signal=found.signal, text=worded(found.text, thresholds.advice_tokens), cause=cause, turn=state.turn
    )


def _same(known: Told, signal: SignalName, cause: str) -> bool:
    if known.signal == signal:
        return known.cause == cause
    return any(known.signal in story and signal in story for story in _SAME_STORY)


def worded(text: str, tokens: int) -> str:
    """A text on one line within its mark, no longer than so many tokens."""
    text = " ".join(text.replace(PREHEAT_MARK, "").replace(CLOSE[: len(PREHEAT_MARK) + 1], "").split())
    most = max(0, int(tokens * _CHARACTERS) - len(OPEN) - len(CLOSE))
    if len(text) > most:
        text = text[: max(0, most - 1)].rpartition(" ")[0] + "…"
    return f"{OPEN}{text}{CLOSE}"
