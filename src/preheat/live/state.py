"""The state of a running session: one state per signal, and the advice that was sent. Does not know how it is folded.

It stays bounded and goes through msgpack unchanged, so that it can be stored between two events.
"""

import msgspec

from preheat.live.debt import DebtState
from preheat.live.drift import DriftState
from preheat.live.focus import FocusState
from preheat.live.loop_state import LoopState
from preheat.live.mistake import MistakeState
from preheat.live.phase import PhaseState
from preheat.live.pressure import PressureState
from preheat.live.trust import TrustState
from preheat.model.live import SignalName


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
