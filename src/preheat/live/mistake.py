"""Mistake: the last failure of a session, and the hint that lessons of earlier sessions give for it.

The state holds what happened in the session; the index of lessons is passed in at every look, so that the same events give the
same state whatever was learned since. Knows no archive.
"""

import msgspec

from preheat.live.known import NOTHING, Hint, Known, after, before, error_words
from preheat.live.part import Frame, Part
from preheat.model.live import Began, Called, LiveEvent, Reading
from preheat.model.outcome import FAILURES
from preheat.safe_text.letters import one_line

_MOST_REMEMBERED = 32
"""Errors that are counted, and given lessons that are remembered."""
_LONGEST = 300
_REPEATED_WITHIN = 10
"""Calls within which the same failure counts as repeated: the agent has not found the repair itself."""


class MistakeState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last failure that was no finding, and how often each failure occurred."""

    words: str = ""
    """The telling words of the error; empty while nothing has failed."""
    signature: str = ""
    program: str = ""
    command: str = ""
    """The shell text, on one line; empty for other tools."""
    call: int = 0
    """The number of the call that failed, counted from 1."""
    calls: int = 0
    times: int = 0
    again: bool = False
    """The same failure occurred a few calls before."""
    met: tuple[tuple[str, int, int], ...] = ()
    """For the newest errors: their words, how often they occurred, and the last call."""
    told: tuple[str, ...] = ()
    """Lessons that were given in this session; each is given once."""

    @property
    def fresh(self) -> bool:
        """Whether the last call is the one that failed."""
        return bool(self.words) and self.call == self.calls


def _step(state: MistakeState, event: LiveEvent, context: Frame) -> MistakeState:
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
    _, times_before, last = next((each for each in state.met if each[0] == words), ("", 0, 0))
    others = tuple(each for each in state.met if each[0] != words)
    return MistakeState(
        words=words,
        signature=event.signature[:_LONGEST],
        program=event.form.split(" ")[0][:_LONGEST],
        command=event.summary[:_LONGEST] if event.kind == "shell" else "",
        call=calls,
        calls=calls,
        times=times_before + 1,
        again=bool(last) and calls - last <= _REPEATED_WITHIN,
        met=(*others, (words, times_before + 1, calls))[-_MOST_REMEMBERED:],
        told=state.told,
    )


def _read(state: MistakeState, context: Frame) -> Reading:
    """How often the last failure occurred in this session; `happened` adds what lessons know of it."""
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
    """The hint for the failure of the last call; None if it was given already."""
    if not state.fresh:
        return None
    hint = after(known, state.words, state.program, state.command, agent, state.again)
    return _hint_reading(state, hint, {"last failure": one_line(state.signature, 120), "of": state.program})


def about_to(state: MistakeState, known: Known, command: str, agent: str = "") -> Reading | None:
    """The hint for a command that is about to run; None if it was given already."""
    return _hint_reading(state, before(known, command, agent), {"about to run": one_line(command, 120)})


def _hint_reading(state: MistakeState, hint: Hint | None, facts: dict[str, str]) -> Reading | None:
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
    """The state after a lesson was given."""
    return msgspec.structs.replace(state, told=(*state.told, lesson)[-_MOST_REMEMBERED:])
