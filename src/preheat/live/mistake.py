"""Mistake: the last failure of a session, and the hint that lessons of earlier sessions give for it.

The state holds what happened in the session; the index of lessons is passed in at every look, so that the same events give the
same state whatever was learned since. Knows no archive.
"""

import msgspec

from preheat.live.known import (
    NO_KNOWN_MISTAKES,
    Hint,
    KnownMistakes,
    error_words,
    find_hint_after_failure,
    find_hint_before_command,
)
from preheat.live.part import FoldContext, Signal
from preheat.model.live import CallEvent, LiveEvent, SignalReading, StartEvent
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
    is_repeated: bool = False
    """The same failure occurred a few calls before."""
    failure_counts: tuple[tuple[str, int, int], ...] = ()
    """For the newest errors: their words, how often they occurred, and the last call."""
    given_lessons: tuple[str, ...] = ()
    """Lessons that were given in this session; each is given once."""

    @property
    def is_fresh(self) -> bool:
        """Whether the last call is the one that failed."""
        return bool(self.words) and self.call == self.calls


def _step(state: MistakeState, event: LiveEvent, context: FoldContext) -> MistakeState:
    if not isinstance(event, CallEvent):
        return MistakeState() if isinstance(event, StartEvent) and event.source in ("startup", "clear") else state
    calls = state.calls + 1
    words = error_words(event.signature) if event.status in FAILURES and event.cause != "finding" else ""
    if not words:
        return MistakeState(
            state.words, state.signature, state.program, state.command, state.call, calls, state.times, state.is_repeated, state.failure_counts,
            state.given_lessons,
        )  # fmt: skip
    words = words[:_LONGEST]
    _, times_before, last = next((each for each in state.failure_counts if each[0] == words), ("", 0, 0))
    others = tuple(each for each in state.failure_counts if each[0] != words)
    return MistakeState(
        words=words,
        signature=event.signature[:_LONGEST],
        program=event.form.split(" ")[0][:_LONGEST],
        command=event.summary[:_LONGEST] if event.kind == "shell" else "",
        call=calls,
        calls=calls,
        times=times_before + 1,
        is_repeated=bool(last) and calls - last <= _REPEATED_WITHIN,
        failure_counts=(*others, (words, times_before + 1, calls))[-_MOST_REMEMBERED:],
        given_lessons=state.given_lessons,
    )


def _read(state: MistakeState, context: FoldContext) -> SignalReading:
    """How often the last failure occurred in this session; `happened` adds what lessons know of it."""
    if not state.is_fresh:
        return SignalReading(signal="mistake", value=0.0, facts={"last call": "did not fail"} if state.calls else {})
    facts = {
        "last failure": one_line(state.signature, 120),
        "of": state.program,
        "times in this session": str(state.times),
    }
    return SignalReading(
        signal="mistake", value=float(state.times), cause=f"failure {state.words}"[:_LONGEST], facts=facts
    )


MISTAKE = Signal("mistake", MistakeState(), _step, _read)


def read_last_failure(
    state: MistakeState, known: KnownMistakes = NO_KNOWN_MISTAKES, agent: str = ""
) -> SignalReading | None:
    """The hint for the failure of the last call; None if it was given already."""
    if not state.is_fresh:
        return None
    hint = find_hint_after_failure(known, state.words, state.program, state.command, agent, state.is_repeated)
    return _hint_reading(state, hint, {"last failure": one_line(state.signature, 120), "of": state.program})


def read_planned_command(
    state: MistakeState, known: KnownMistakes, command: str, agent: str = ""
) -> SignalReading | None:
    """The hint for a command that is about to run; None if it was given already."""
    return _hint_reading(
        state, find_hint_before_command(known, command, agent), {"about to run": one_line(command, 120)}
    )


def _hint_reading(state: MistakeState, hint: Hint | None, facts: dict[str, str]) -> SignalReading | None:
    if hint is None or hint.lesson in state.given_lessons:
        return None
    return SignalReading(
        signal="mistake",
        value=float(max(1, state.times)),
        fired=True,
        cause=hint.lesson,
        facts={**facts, "times in this session": str(state.times), "lesson": hint.lesson},
        text=hint.text,
    )


def record_lesson(state: MistakeState, lesson: str) -> MistakeState:
    """The state after a lesson was given."""
    return msgspec.structs.replace(state, given_lessons=(*state.given_lessons, lesson)[-_MOST_REMEMBERED:])
