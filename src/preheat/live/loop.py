"""Loop: whether the agent repeats itself, as one of five kinds, each counted in turns (the calls of one response count once).

- **repeat**: the same call with the same result, and nothing was changed in between; a call that only reads may be repeated
  once more (`loop_rereads`);
- **retry**: a tool fails with the same error turn after turn, and no call of that tool succeeds in between;
- **cycle**: change, check, and the same failure as before, or one that was gone and came back;
- **still**: change, run, and the same output as before: what was changed is probably not what runs.

A loop ends with a check that passes, fewer failures, another error, or a call that works. Polling is no loop, nor is a new
prompt. Knows no other signal.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from preheat.live import sentences
from preheat.live.failing_checks import (
    FailingCheck,
    PendingCheck,
    add_failure,
    drop_passed,
    make_check,
    note_change,
    note_look,
)
from preheat.live.retries import Retry, add_retry, end_retries
from preheat.live.signal import FoldContext, Signal
from preheat.model.live import CallEvent, CompactionEvent, LiveEvent, PromptEvent, SignalReading, StartEvent
from preheat.model.outcome import FAILURES, Status
from preheat.safe_text.sentences import fit_slot

_REPEATS, _CHECKS, _ROUNDS = 16, 4, 12
"""How many entries of each kind are remembered."""
_RECENT_TURNS = 10
"""Turns after which an entry no longer counts: the agent does something else."""
_LONGEST = 100
"""Characters of a command or an error that are remembered."""
_READING_ACTIVITIES = frozenset(["read", "search", "web", "plan", "shell:read", "shell:search", "shell:list"])
_READING_TOOLS = (
    "get", "list", "check", "search", "find", "read", "fetch", "query", "describe", "view", "show", "lookup", "calculate",
)  # fmt: skip
"""First words in the names of tools that change nothing."""
_WITHOUT_MESSAGE = re.compile(r"exit code N, no message$")
"""A failure without a message, which cannot be compared with another."""
_EXPECTED = re.compile(r"\$\?|\|\| *(?:true\b|echo\b|:)")
_READING_GIT_COMMANDS = frozenset(
    ["status", "diff", "log", "show", "blame", "branch", "remote", "rev-parse", "ls-files", "describe", "reflog"]
)
_RESETTING_EVENTS = (PromptEvent, CompactionEvent)
_NOT_RUN: frozenset[Status] = frozenset(["denied", "interrupted"])

_MORE_ROUNDS = 2
"""Rounds more where the same tests fail and what they say comes and goes: that may be progress."""

LoopKind = Literal["repeat", "retry", "cycle", "tests", "still"]


# What is remembered to recognise a loop.
class Repeat(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A call with its result, repeated since something was last changed."""

    call: int
    result: int
    times: int
    """Turns in which the call was made."""
    turn: int
    what: str
    looks: bool
    failed: bool = False
    """A call that works is repeated for no gain, but nothing is in its way: it may be repeated once more."""


class UnchangedOutput(msgspec.Struct, frozen=True, gc=False):
    """A program that succeeds and prints the same output though files were changed."""

    call: int
    result: int
    turns: tuple[int, ...]
    """The turns of the last runs that followed a change."""
    changed: bool
    what: str


class LoopState(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename={"failing_checks": "lines", "unchanged_outputs": "stills", "pending_checks": "running"},
):
    repeats: tuple[Repeat, ...] = ()
    retries: tuple[Retry, ...] = ()
    failing_checks: tuple[FailingCheck, ...] = ()
    unchanged_outputs: tuple[UnchangedOutput, ...] = ()
    pending_checks: tuple[PendingCheck, ...] = ()


START = LoopState()


def step(state: LoopState, event: LiveEvent, context: FoldContext) -> LoopState:
    if isinstance(event, CallEvent):
        return _fold_poll(state, event, context.turn) if event.polling else _fold_call(state, event, context.turn)
    if isinstance(event, _RESETTING_EVENTS):  # a person asked for it again, or earlier results left the context
        return msgspec.structs.replace(state, repeats=()) if state.repeats else state
    if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
        return START
    return state


def _fold_poll(state: LoopState, event: CallEvent, turn: int) -> LoopState:
    """A poll is no loop, but it may bring the result of the oldest pending check."""
    if not state.pending_checks or event.cause != "finding" or not event.same_failure:
        return state
    first, *others = state.pending_checks
    failing_checks = add_failure(state.failing_checks, first, event, turn)
    return msgspec.structs.replace(state, failing_checks=failing_checks, pending_checks=tuple(others))


def _fold_call(state: LoopState, event: CallEvent, turn: int) -> LoopState:
    repeats, retries, failing, unchanged = state.repeats, state.retries, state.failing_checks, state.unchanged_outputs
    status, activity, edited, checks = event.status, event.activity, event.edited, event.checks
    failed = status in FAILURES
    only_reads = activity in _READING_ACTIVITIES or _only_reads(event)
    index = _index_of(repeats, event.same_call, event.same_result) if repeats else -1
    # May change the results of other calls: it edited a file, or it succeeded and does more than read.
    may_change = index < 0 and bool(
        edited or event.removed or not (failed or only_reads or checks or status in _NOT_RUN)
    )
    if failing:
        failing = note_change(failing, event) if may_change and not checks else failing
        failing = note_look(failing) if only_reads and not failed else failing
        failing = drop_passed(failing, event) if not failed else failing
    if retries and not failed:
        retries = end_retries(retries, event)
    pending = state.pending_checks
    if checks and status == "unknown":
        others = tuple(each for each in pending if each.call != event.same_call)
        pending = (*others, make_check(event))[-_CHECKS:]
    elif failed and event.signature and not _WITHOUT_MESSAGE.search(event.signature):
        if event.cause != "finding" and not _expects_failure(event):
            retries = add_retry(retries, event, turn)
        if _ran(event):
            failing = add_failure(failing, make_check(event), event, turn)
    if edited:
        unchanged = _note_edit(unchanged, event) if unchanged else unchanged
    elif activity == "shell:run" and status == "ok":
        unchanged = _add_run(unchanged, event, turn)
    kept = () if may_change else repeats
    if not edited and _is_comparable(event):
        kept = _add_repeat(kept, index, event, turn, only_reads)
    if (
        kept is state.repeats and retries is state.retries and failing is state.failing_checks
        and unchanged is state.unchanged_outputs and pending is state.pending_checks
    ):  # fmt: skip
        return state
    return LoopState(kept, retries, failing, unchanged, pending)


def _ran(event: CallEvent) -> bool:
    """Whether a failed call ran what it was to run, so that its failure is about the code and not about the call."""
    if event.checks:
        return event.cause == "finding" or (event.cause != "environment" and event.same_failure != 0)
    return event.activity == "shell:run" and event.cause == "finding" and not _expects_failure(event)


def _expects_failure(event: CallEvent) -> bool:
    """Whether a command is made to see how something fails: it prints the exit code, or goes on if there is one."""
    return event.kind == "shell" and _EXPECTED.search(event.summary) is not None


def _is_comparable(event: CallEvent) -> bool:
    """Whether a call can be repeated as a whole: it has arguments, and it is no edit (the same edit again is a retry)."""
    return event.kind not in ("edit", "write") and (bool(event.summary) or event.kind == "other")


def _only_reads(event: CallEvent) -> bool:
    """Whether a call only reads, though its activity alone does not say so."""
    if event.activity == "shell:vcs":
        return not _READING_GIT_COMMANDS.isdisjoint(event.form.split(" ", 3)[1:3])
    return event.activity == "other" and event.tool.rpartition("__")[2].lower().startswith(_READING_TOOLS)


# Repeat: the same call with the same result.
def _index_of(repeats: tuple[Repeat, ...], call: int, result: int) -> int:
    """The index of the same call with the same result; -1 if it is new."""
    for index, each in enumerate(repeats):
        if each.call == call and each.result == result:
            return index
    return -1


def _add_repeat(
    repeats: tuple[Repeat, ...], index: int, event: CallEvent, turn: int, only_reads: bool
) -> tuple[Repeat, ...]:
    if index >= 0:
        each = repeats[index]
        if each.turn == turn:
            return repeats
        again = msgspec.structs.replace(each, times=each.times + 1, turn=turn)
        return (*repeats[:index], *repeats[index + 1 :], again)
    what, failed = (event.summary or event.tool)[:_LONGEST], event.status in FAILURES
    first = Repeat(event.same_call, event.same_result, 1, turn, what, only_reads, failed)
    return (*repeats, first) if len(repeats) < _REPEATS else (*repeats[1:], first)


# Still: change, run, the same output.
def _note_edit(outputs: tuple[UnchangedOutput, ...], event: CallEvent) -> tuple[UnchangedOutput, ...]:
    """Note an edit; an edit of the program that is run does not count, only edits of other files."""
    names = [path.rpartition("/")[2] for path in event.edited]
    if all(output.changed or all(name in output.what for name in names) for output in outputs):
        return outputs
    return tuple(
        output if all(name in output.what for name in names) else msgspec.structs.replace(output, changed=True)
        for output in outputs
    )


def _add_run(outputs: tuple[UnchangedOutput, ...], event: CallEvent, turn: int) -> tuple[UnchangedOutput, ...]:
    index, output = next(
        ((index, output) for index, output in enumerate(outputs) if output.call == event.same_call), (-1, None)
    )
    if output is None or output.result != event.same_result:
        turns: tuple[int, ...] = (turn,)
    elif output.changed:
        turns = (*(each for each in output.turns if each >= turn - _RECENT_TURNS), turn)[-_ROUNDS:]
    else:
        return outputs
    again = UnchangedOutput(event.same_call, event.same_result, turns, False, event.summary[:_LONGEST])
    others = (*outputs[:index], *outputs[index + 1 :]) if output else outputs
    return (*others, again)[-_CHECKS:]


# Reading.
def find_loop_cause(state: LoopState, context: FoldContext) -> str:
    """The cause of the present loop, as in its reading; empty while there is none."""
    if is_quiet(state, context):
        return ""
    found = _strongest(state, context)
    return _format_cause(found) if found is not None and found.times >= found.least else ""


def _strongest(state: LoopState, context: FoldContext) -> "_Repetition | None":
    return max(_repetitions(state, context), default=None, key=lambda found: found.times / found.least)


def _format_cause(found: "_Repetition") -> str:
    return f"{found.kind}:{found.cause}"


def read(state: LoopState, context: FoldContext) -> SignalReading:
    found = _strongest(state, context)
    if found is None:
        return SignalReading(signal="loop", value=0.0, facts={"rounds": "0"})
    fired = found.times >= found.least
    return SignalReading(
        signal="loop",
        value=float(found.times),
        fired=fired,
        cause=_format_cause(found) if fired else "",
        facts={
            "what": found.kind,
            "rounds": str(found.times),
            "fires at": f"{found.least:g} ({context.phase})",
            "of": fit_slot("error" if found.kind in ("cycle", "tests", "retry") else "command", found.what) or "…",
        },
        text=_TEXTS[found.kind](found.entry) if fired else "",
    )


class _Repetition(NamedTuple):
    kind: LoopKind
    times: int
    least: float
    cause: str
    what: str
    entry: Any


def _repetitions(state: LoopState, context: FoldContext) -> Iterable[_Repetition]:
    """The recent repetitions of all four kinds."""
    thresholds, since = context.thresholds, context.turn - _RECENT_TURNS
    repeats, cycles = thresholds.loop_repeats.of(context.phase), thresholds.loop_cycles.of(context.phase)
    for each in state.repeats:
        if each.times > 1 and each.turn >= since:
            least = max(repeats, thresholds.loop_rereads) if each.looks or not each.failed else repeats
            yield _Repetition("repeat", each.times, least, f"{each.call:x}", each.what, each)
    for retry in state.retries:
        if retry.times > 1 and retry.turn >= since:
            cause = f"{retry.tool} {retry.target} {retry.error}"
            yield _Repetition("retry", retry.times, repeats, cause, retry.what, retry)
    for check in state.failing_checks:
        if check.turn >= since:
            least = cycles + 1 if check.back else cycles  # what came and went may have been a slip
            yield _Repetition("cycle", check.times, least, check.key, check.error, check)
            if check.times > 1:
                yield _Repetition("tests", check.test_times, cycles + _MORE_ROUNDS, check.key, check.error, check)
    for output in state.unchanged_outputs:
        if len(output.turns) > 1 and output.turns[-1] >= since:
            yield _Repetition("still", len(output.turns), cycles, f"{output.call:x}", output.what, output)


def is_quiet(state: LoopState, context: FoldContext) -> bool:
    """Whether nothing was repeated often enough; much cheaper than a reading."""
    most = 1
    for each in state.repeats:
        if each.times > most:
            most = each.times
    for retry in state.retries:
        if retry.times > most:
            most = retry.times
    for check in state.failing_checks:
        if check.times > most or check.test_times > most:
            most = max(check.times, check.test_times)
    for output in state.unchanged_outputs:
        if len(output.turns) > most:
            most = len(output.turns)
    if most == 1:  # once is no loop, whatever the thresholds are
        return True
    return most < min(
        context.thresholds.loop_repeats.of(context.phase), context.thresholds.loop_cycles.of(context.phase)
    )


# The advisory texts.
def _describe_repeat(repeat: Repeat) -> str:
    sentence = sentences.REPEATED_LOOK if repeat.looks else sentences.REPEATED_CALL
    return sentence.write(times=repeat.times)


def _describe_retry(retry: Retry) -> str:
    values = {"times": retry.times, "tool": retry.tool}
    said = sentences.RETRIED_FILE.write(target=retry.target, **values) if retry.target else ""
    return said or sentences.RETRIED_CALL.write(**values)


def _describe_cycle(check: FailingCheck) -> str:
    values = {"times": check.times, "what": check.what, "error": check.error}
    if check.back:
        return sentences.BACK_AFTER_COMMAND.write(**values) or sentences.BACK_AFTER_CHECK.write(**values)
    return sentences.SAME_FAILURE.write(**values) or sentences.SAME_FAILURE_OF_CHECK.write(**values)


def _describe_tests(check: FailingCheck) -> str:
    values = {"times": check.test_times, "what": check.what, "error": check.error}
    return sentences.SAME_TESTS.write(**values) or sentences.SAME_TESTS_OF_CHECK.write(**values)


def _describe_still(output: UnchangedOutput) -> str:
    values = {"what": output.what, "times": len(output.turns)}
    return sentences.SAME_OUTPUT.write(**values) or sentences.SAME_OUTPUT_OF_CALL.write(**values)


_TEXTS: dict[LoopKind, Callable[[Any], str]] = {
    "repeat": _describe_repeat, "retry": _describe_retry, "cycle": _describe_cycle, "tests": _describe_tests,
    "still": _describe_still,
}  # fmt: skip


LOOP = Signal("loop", START, step, read, is_quiet)
