"""All that is known of a running session: the state of every signal, and what was said. Knows not how it comes about.

It stays small whatever happens, and goes through msgpack unchanged, so that it can be put on disk between two events.
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


class Told(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A cause that was told and has not ended since."""

    signal: SignalName
    cause: str
    turn: int


class LiveState(msgspec.Struct, frozen=True, gc=False):
    """Not by keyword only: one is made for every event."""

    turn: int = 0
    """Responses with calls so far."""
    calls: int = 0
    response: str = ""
    """The last one's id; empty where the host gives none."""
    focus: FocusState = FocusState()
    loop: LoopState = LoopState()
    debt: DebtState = DebtState()
    drift: DriftState = DriftState()
    pressure: PressureState = PressureState()
    mistake: MistakeState = MistakeState()
    trust: TrustState = TrustState()
    phase: PhaseState = PhaseState()
    looping: str = ""
    """The cause of the loop that goes on."""
    owing: int = 0
    """The turn since which there is more verification debt than the phase allows; 0: there is not."""
    told: tuple[Told, ...] = ()
    advised: tuple[int, ...] = ()
    """The turns of the last advisories."""
    spoken: tuple[tuple[SignalName, int], ...] = ()
    """By signal, the turn in which it last had something said."""


START = LiveState()
