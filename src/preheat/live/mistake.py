"""Known mistakes: the last failure of a session, and whether earlier sessions know what mends it.

The state holds what happened and what was told; what is known (`Known`) comes from outside at every look, so that the same
events give the same state whatever has been learned since.
"""

import msgspec

from preheat.live.known import NOTHING, Hint, Known, after, before, error_words
from preheat.live.part import Frame, Part
from preheat.model.live import Began, Called, LiveEvent, Reading
from preheat.model.outcome import FAILURES
from preheat.safe_text.letters import one_line

__all__ = ["MISTAKE", "MistakeState", "about_to", "happened", "noted"]

_MOST = 32
"""Errors that are counted, and lessons that are remembered as told."""
_LONGEST = 300
_SOON = 10
"""Calls within which the same failure again means that the agent has not found out by itself."""


class MistakeState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last failure that was no finding, and how often each kind of failure came."""

    words: str = ""
    """What the error is known by; empty while nothing has failed."""
    signature: str = ""
    program: str = ""
    command: str = ""
    """The shell text, on one line; empty for other tools."""
    call: int = 0
    """The number of the call that failed, counted from 1."""
    calls: int = 0
    times: int = 0
    again: bool = False
    """It came a few calls before as well."""
    met: tuple[tuple[str, int, int], ...] = ()
    """By the words of an error, how often it came and at which call last; the newest errors."""
    told: tuple[str, ...] = ()
    """Lessons that were handed out in this session: each once."""

    @property
    def fresh(self) -> bool:
        """It was the last call that failed."""
        return bool(self.words) and self.call == self.calls


def _step(state: MistakeState, event: LiveEvent, frame: Frame) -> MistakeState:
    if not isinstance(event, Called):
        return MistakeState() if isinstance(event, Began) and event.source in ("startup", "clear") else state
    calls = state.calls + 1
    words = error_words(event.signature) if event.status in FAILURES and event.cause != "finding" else ""
    if not words:
        return MistakeState(
            state.words, state.signature, state.program, state.command, state.call, calls, state.times, state.again, state.met,
            state.told,
        )  # fmt: skip
    words = words[:_LONGEST]
    _, before_now, last = next((each for each in state.met if each[0] == words), ("", 0, 0))
    others = tuple(each for each in state.met if each[0] != words)
    return MistakeState(
        words=words,
        signature=event.signature[:_LONGEST],
        program=event.form.split(" ")[0][:_LONGEST],
        command=event.summary[:_LONGEST] if event.kind == "shell" else "",
        call=calls,
        calls=calls,
        times=before_now + 1,
        again=bool(last) and calls - last <= _SOON,
        met=(*others, (words, before_now + 1, calls))[-_MOST:],
        told=state.told,
    )


def _read(state: MistakeState, frame: Frame) -> Reading:
    """How often the last failure came in this session; whether it is known, `happened` tells."""
    if not state.fresh:
        return Reading(signal="mistake", value=0.0, facts={"last call": "did not fail"} if state.calls else {})
    facts = {
        "last failure": one_line(state.signature, 120),
        "of": state.program,
        "times in this session": str(state.times),
    }
    return Reading(signal="mistake", value=float(state.times), cause=f"failure {state.words}"[:_LONGEST], facts=facts)


MISTAKE = Part("mistake", MistakeState(), _step, _read)


def happened(state: MistakeState, known: Known = NOTHING, agent: str = "") -> Reading | None:
    """What is known of the failure that just happened; nothing if it was told already."""
    if not state.fresh:
        return None
    hint = after(known, state.words, state.program, state.command, agent, state.again)
    return _known(state, hint, {"last failure": one_line(state.signature, 120), "of": state.program})


def about_to(state: MistakeState, known: Known, command: str, agent: str = "") -> Reading | None:
    """What is known of a command that is about to run; nothing if it was told already."""
    return _known(state, before(known, command, agent), {"about to run": one_line(command, 120)})


def _known(state: MistakeState, hint: Hint | None, facts: dict[str, str]) -> Reading | None:
    if hint is None or hint.lesson in state.told:
        return None
    return Reading(
        signal="mistake",
        value=float(max(1, state.times)),
        fired=True,
        cause=hint.lesson,
        facts={**facts, "times in this session": str(state.times), "lesson": hint.lesson},
        text=hint.text,
    )


def noted(state: MistakeState, lesson: str) -> MistakeState:
    """The state after a lesson was handed out."""
    return msgspec.structs.replace(state, told=(*state.told, lesson)[-_MOST:])
