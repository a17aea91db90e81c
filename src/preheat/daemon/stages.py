"""What the engine asks of the rest of the program: one protocol, so that each stage can be put in its place by name.

Knows no implementation: `app.hooks` has it.
"""

from collections.abc import Sequence
from typing import Protocol

from preheat.app.hooks import Given
from preheat.app.live_settings import Choices
from preheat.live.state import LiveState
from preheat.live.thresholds import Thresholds
from preheat.model.experiment import AdviceLot, Assignment, Lot
from preheat.model.live import Advisory, Called, HookAnswer, HookEvent, LiveEvent, Phase
from preheat.model.session import ToolCall, ToolResult


class Stages(Protocol):
    """What the engine puts in order."""

    thresholds: Thresholds
    choices: Choices

    def read(self, agent: str, payload: bytes, at: float) -> HookEvent | None:
        """What an agent's program tells."""

    def write(self, event: HookEvent, answer: HookAnswer) -> bytes:
        """An answer in the program's own form; empty where there is nothing that it would take."""

    def events(self, event: HookEvent) -> list[LiveEvent]:
        """What happened, for the fold."""

    def step(self, state: LiveState, event: LiveEvent, hook: HookEvent) -> tuple[LiveState, Advisory | None]:
        """The state after it, and what there is to say."""

    def before(self, state: LiveState, hook: HookEvent) -> Advisory | None:
        """What there is to say of a call that is about to be made."""

    def refusal(self, event: HookEvent, unsaved: bool) -> str:
        """Why a call that is about to be made is refused; empty: it is not."""

    def output(self, event: HookEvent, phase: Phase) -> str | None:
        """What may stand in the place of a command's output; None where it stays as it is."""

    def scored(self, event: HookEvent) -> str:
        """How a session that ends went, in a line. Slow: reads the transcript."""

    def prepared(self, cwd: str) -> bool:
        """Whether what is known there has been read."""

    def prepare(self, cwd: str) -> None:
        """Read what is known there. Slow."""

    def context(self, event: HookEvent, task: str) -> Given | None:
        """What a session is given at its start. Slow: reads the archive."""

    def called(self, agent: str, call: ToolCall, result: ToolResult, cwd: str) -> Called | None:
        """What a transcript tells of a call, for the fold."""

    def forget(self) -> None:
        """Something was learned: what was read before is out of date."""

    def assign(self, event: HookEvent, known: Assignment | None, begun: bool) -> Assignment | None:
        """The arm of a session that starts; None where no lots are drawn."""

    def lot(self, event: HookEvent, advisory: Advisory, root: str) -> AdviceLot | None:
        """Whether something is said; None where no lot is drawn: then it is."""

    def keep_lots(self, lots: Sequence[Lot], again: bool) -> None:
        """Have lots on disk for good; `again`: some of them may be there. Raises OSError."""
