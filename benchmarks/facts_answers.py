"""What a later session is told on the spot, besides facts: warnings before calls, answers and lessons after failures.

As in the product (`app/live/hooks.py`): before a call first what a lesson says, then the warning, then a fact; after a failure
what a lesson says of it, else the answer, else a fact. Warnings and answers take nothing from the budget of advice; each is said
once in a session, before a call or after it. Known is what came before: all earlier sessions of the project, the calls so far,
the recorded tree. That some agents take no text before a call is not counted, as little as with facts.
"""

from typing import NamedTuple

from benchmarks.recorded import Replay, group_of, is_judged
from preheat.answers import Answer
from preheat.calls.judged import JudgedCall
from preheat.commands import command_text
from preheat.live.mistake import MISTAKE, KnownMistakes, MistakeState, has_hint, read_last_failure
from preheat.live.signal import DEFAULTS, FoldContext

_CONTEXT = FoldContext(0, "exploring", DEFAULTS)
"""What the count of failures does not look at."""
_GROUPS = {"missing path": "missing path", "edit text": "edit text"}
"""Rules whose warnings are about one group of failures only; the others name the program or the command itself."""


class SpotLine(NamedTuple):
    """A warning or an answer, as one session was told it."""

    moment: str
    """`warning` or `answer`."""
    text: str
    rule: str
    prompt: str
    """The last prompt before it."""
    call: str
    """The command or file that it was said at."""
    is_right: bool | None
    """Whether the call failed that a warning was said before; None where that is not known, and of an answer."""


class SpotAdvice:
    """The warnings and answers of one recorded session, call by call."""

    def __init__(self, replay: Replay, known: KnownMistakes, agent: str) -> None:
        self.lines: list[SpotLine] = []
        self._replay, self._known, self._agent = replay, known, agent
        self._said: set[tuple[str, str]] = set()
        self._mistakes: MistakeState = MISTAKE.start

    def warn(self, each: JudgedCall, prompt: str, at: str) -> bool:
        """Whether a warning is said before a call."""
        found = self._replay.warn(each)
        if found is None or (found.rule, found.about) in self._said:
            return False
        self._say("warning", found, prompt, at, each.failed if is_judged(each) else None)
        return True

    def names(self, each: JudgedCall) -> bool:
        """Whether what was said before a call names its failure: a warning of this very call, said now or earlier, or the answer
        that the failure gets, said before."""
        before = self._replay.warn(each)
        if before is not None and (before.rule, before.about) in self._said and _is_about(before, each):
            return True
        after = self._replay.answer(each)
        return after is not None and (after.rule, after.about) in self._said

    def go_on(self, each: JudgedCall, prompt: str, at: str) -> bool:
        """Go on behind a call; whether it is answered: it failed, and no lesson speaks of that."""
        found = self._replay.answer(each) if each.failed and each.record.cause != "finding" else None
        self._mistakes = MISTAKE.step(self._mistakes, self._replay.apply(each), _CONTEXT)
        command = command_text(each.call.input) if each.call.kind == "shell" else ""
        if found is None or (found.rule, found.about) in self._said:
            return False
        if has_hint(self._mistakes, self._known, self._agent, command):
            return False
        self._say("answer", found, prompt, at, None)
        return True

    def find_hint(self) -> str:
        """The id of the lesson that speaks of the last call, if that failed; empty if none does."""
        found = read_last_failure(self._mistakes, self._known, self._agent)
        return found.cause if found is not None else ""

    def _say(self, moment: str, found: Answer, prompt: str, at: str, is_right: bool | None) -> None:
        self._said.add((found.rule, found.about))
        self.lines.append(SpotLine(moment, found.text, found.rule, prompt, at, is_right))


def _is_about(warning: Answer, each: JudgedCall) -> bool:
    """Whether a call failed by what it was warned of, not by something else."""
    group = group_of(each.record.signature)
    return _GROUPS.get(warning.rule, group) == group
