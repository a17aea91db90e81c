"""Loop: whether the agent repeats itself, as one of four kinds, each counted in turns (the calls of one response count once).

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

from preheat.calls.words import MASK, telling_words
from preheat.live.project_files import describe_scope
from preheat.live.signal import FoldContext, Signal, check_passed
from preheat.model.live import CallEvent, CompactionEvent, LiveEvent, PromptEvent, SignalReading, StartEvent
from preheat.model.outcome import FAILURES, Status
from preheat.safe_text.reasons import order_reason

_REPEATS, _RETRIES, _CHECKS, _ROUNDS = 16, 4, 4, 12
"""How many entries of each kind are remembered."""
_RECENT_TURNS = 10
"""Turns after which an entry no longer counts: the agent does something else."""
_FORGOTTEN_TURNS = 40
"""Turns after which a returning failure starts a new count."""
_LONGEST = 100
"""Characters of a command or an error that are remembered."""
_READING_ACTIVITIES = frozenset(["read", "search", "web", "plan", "shell:read", "shell:search", "shell:list"])
_READING_TOOLS = (
    "get", "list", "check", "search", "find", "read", "fetch", "query", "describe", "view", "show", "lookup", "calculate",
)  # fmt: skip
"""First words in the names of tools that change nothing."""
_WITHOUT_MESSAGE = re.compile(r"exit code N, no message$")
"""A failure without a message, which cannot be compared with another."""
_READING_GIT_COMMANDS = frozenset(
    ["status", "diff", "log", "show", "blame", "branch", "remote", "rev-parse", "ls-files", "describe", "reflog"]
)
_RESETTING_EVENTS = (PromptEvent, CompactionEvent)
_NOT_RUN: frozenset[Status] = frozenset(["denied", "interrupted"])

LoopKind = Literal["repeat", "retry", "cycle", "still"]


# What is remembered to recognise a loop.
class Repeat(msgspec.Struct, frozen=True, gc=False):
    """A call with its result, repeated since something was last changed."""

    call: int
    result: int
    times: int
    """Turns in which the call was made."""
    turn: int
    what: str
    looks: bool


class Retry(msgspec.Struct, frozen=True, gc=False):
    """A tool that failed repeatedly with the same error."""

    tool: str
    target: str
    error: str
    times: int
    turn: int
    what: str
    """The error for display."""


class FailedRound(msgspec.Struct, frozen=True, gc=False):
    """A check that failed after a change."""

    call: int
    failure: int
    """Equal for the same failure, though the code has moved."""
    failing: int | None
    about: str
    """The paths that the check names; empty: everything."""


class FailingCheck(msgspec.Struct, frozen=True, gc=False):
    """A kind of check that has failed since it last passed."""

    key: str
    rounds: tuple[FailedRound, ...]
    changed: bool
    """Something was changed since the last round."""
    compared: bool
    """The last change went back to an earlier state."""
    times: int
    """Rounds since the latest failure first occurred."""
    back: bool
    """The latest failure was gone in between."""
    turn: int
    what: str
    error: str


class UnchangedOutput(msgspec.Struct, frozen=True, gc=False):
    """A program that succeeds and prints the same output though files were changed."""

    call: int
    result: int
    turns: tuple[int, ...]
    """The turns of the last runs that followed a change."""
    changed: bool
    what: str


class PendingCheck(msgspec.Struct, frozen=True, gc=False):
    """A check that was started and whose result a poll will bring."""

    key: str
    call: int
    about: str
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
    failing_checks = _add_failure(state.failing_checks, first, event, turn)
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
        failing = _note_change(failing, event) if may_change and not checks else failing
        failing = _drop_passed(failing, event) if not failed else failing
    if retries and not failed:
        retries = _end_retries(retries, event)
    pending = state.pending_checks
    if checks and status == "unknown":
        others = tuple(each for each in pending if each.call != event.same_call)
        pending = (*others, _make_check(event))[-_CHECKS:]
    elif failed and event.signature and not _WITHOUT_MESSAGE.search(event.signature):
        if event.cause != "finding":
            retries = _add_retry(retries, event, turn)
        elif checks or activity == "shell:run":  # a finding of something that ran
            failing = _add_failure(failing, _make_check(event), event, turn)
    if edited:
        unchanged = _note_edit(unchanged, event) if unchanged else unchanged
    elif activity == "shell:run" and status == "ok":
        unchanged = _add_run(unchanged, event, turn)
    kept = () if may_change else repeats
    if not edited and (event.summary or event.kind == "other"):  # a call without arguments cannot be compared
        kept = _add_repeat(kept, index, event, turn, only_reads)
    if (
        kept is state.repeats and retries is state.retries and failing is state.failing_checks
        and unchanged is state.unchanged_outputs and pending is state.pending_checks
    ):  # fmt: skip
        return state
    return LoopState(kept, retries, failing, unchanged, pending)


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
        again = Repeat(each.call, each.result, each.times + 1, turn, each.what, each.looks)
        return (*repeats[:index], *repeats[index + 1 :], again)
    first = Repeat(event.same_call, event.same_result, 1, turn, (event.summary or event.tool)[:_LONGEST], only_reads)
    return (*repeats, first) if len(repeats) < _REPEATS else (*repeats[1:], first)


# Retry: the same error of a tool.
def _add_retry(retries: tuple[Retry, ...], event: CallEvent, turn: int) -> tuple[Retry, ...]:
    tool = event.tool[:_LONGEST]
    target = event.files[0][-_LONGEST:] if event.kind in ("edit", "write") and event.files else ""
    if event.kind == "shell" and event.same_failure:
        # The exact failure: a program that is tried in different ways prints the same words for each.
        error = f"{event.same_failure:x}"
    else:
        error = (" ".join(telling_words(event.signature)) or event.signature)[:_LONGEST]
    for index, each in enumerate(retries):
        if each.tool == tool and each.target == target and each.error == error:
            if each.turn == turn:
                return retries
            again = Retry(each.tool, target, error, each.times + 1, turn, each.what)
            return (*retries[:index], *retries[index + 1 :], again)
    return (*retries, Retry(tool, target, error, 1, turn, event.signature[:_LONGEST]))[-_RETRIES:]


def _end_retries(retries: tuple[Retry, ...], event: CallEvent) -> tuple[Retry, ...]:
    """The retries that remain after a call succeeded; a shell command does not end the retries of another tool."""
    if event.status in ("denied", "interrupted"):
        return retries
    edited = [path[-_LONGEST:] for path in event.edited] if event.kind != "shell" else []
    tool = event.tool[:_LONGEST]
    left = tuple(each for each in retries if (each.target not in edited if each.target else each.tool != tool))
    return retries if len(left) == len(retries) else left


# Cycle: change, check, the same failure.
def _make_check(event: CallEvent) -> PendingCheck:
    named = describe_scope(event.summary)[:_LONGEST] if event.checks else ""
    return PendingCheck(_check_key(event), event.same_call, named, event.summary[:_LONGEST])


def _check_key(event: CallEvent) -> str:
    return ("+".join(event.checks) or event.form)[:_LONGEST]


def _note_change(checks: tuple[FailingCheck, ...], event: CallEvent) -> tuple[FailingCheck, ...]:
    """Note a change; a Git command that goes back to an earlier state is a comparison, no new attempt."""
    back = event.activity == "shell:vcs" and not event.edited
    if all(check.changed is not back and check.compared is back for check in checks):
        return checks
    return tuple(msgspec.structs.replace(check, changed=check.changed or not back, compared=back) for check in checks)


def _drop_passed(checks: tuple[FailingCheck, ...], event: CallEvent) -> tuple[FailingCheck, ...]:
    """The failing checks that remain after a check passed or a program succeeded; a check covers only what it names."""
    if event.checks:
        if not check_passed(event):
            return checks
        named = describe_scope(event.summary)[:_LONGEST]
        left = tuple(
            _without_covered(check, event.same_call, named) if _covers(event.checks, check.key) else check
            for check in checks
        )
    elif event.activity == "shell:run":
        left = tuple(check for check in checks if check.key != event.form[:_LONGEST])
    else:
        return checks
    kept = tuple(check for check in left if check is not None)
    return checks if kept == checks else kept


def _covers(checks: tuple[str, ...], key: str) -> bool:
    return all(kind in checks for kind in key.split("+"))


def _without_covered(check: FailingCheck, call: int, named: str) -> FailingCheck | None:
    """A failing check without the rounds that a passed check covers; None if no round is left."""
    rounds = tuple(each for each in check.rounds if named and each.call != call and each.about != named)
    if not rounds:
        return None
    if len(rounds) == len(check.rounds):
        return check
    times, back = _count_rounds(rounds)
    return msgspec.structs.replace(check, rounds=rounds, times=times, back=back)


def _add_failure(
    checks: tuple[FailingCheck, ...], pending: PendingCheck, event: CallEvent, turn: int
) -> tuple[FailingCheck, ...]:
    index, check = next(((index, check) for index, check in enumerate(checks) if check.key == pending.key), (-1, None))
    if check and check.compared and not event.edited:
        return checks
    # A program that is no check is compared by its whole output.
    failure = event.same_failure if event.checks or event.polling else 0
    now = FailedRound(pending.call, failure or event.same_result, event.failing, pending.about)
    rounds = _without_progress(check.rounds, now) if check and turn - check.turn <= _FORGOTTEN_TURNS else ()
    if check and rounds and not check.changed and not event.edited and _is_same_check(rounds[-1], now):
        rounds = rounds[:-1]  # checked again without a change: the same round
    rounds = (*rounds, now)[-_ROUNDS:]
    times, back = _count_rounds(rounds)
    again = FailingCheck(pending.key, rounds, False, False, times, back, turn, pending.what, event.signature[:_LONGEST])
    others = (*checks[:index], *checks[index + 1 :]) if check else checks
    return (*others, again)[-_CHECKS:]


def _is_same_check(one: FailedRound, other: FailedRound) -> bool:
    return one.call == other.call or one.failure == other.failure


def _without_progress(rounds: tuple[FailedRound, ...], now: FailedRound) -> tuple[FailedRound, ...]:
    """The rounds that still count: a check with fewer failures than ever before made progress, and its rounds are dropped."""
    before = [each.failing for each in rounds if each.call == now.call and each.failing is not None]
    if not before or now.failing is None or now.failing >= min(before):
        return rounds
    return tuple(each for each in rounds if not _is_same_check(each, now))


def _count_rounds(rounds: tuple[FailedRound, ...]) -> tuple[int, bool]:
    """How many rounds there were since the latest failure first occurred, and whether it was gone in between."""
    now = rounds[-1]
    mine = [each for each in rounds if _is_same_check(each, now)]
    first = next(index for index, each in enumerate(mine) if each.failure == now.failure)
    since = mine[first:]
    return len(since), any(each.failure != now.failure for each in since)


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
            "of": quote_unless_order(found.what),
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
            least = max(repeats, thresholds.loop_rereads) if each.looks else repeats
            yield _Repetition("repeat", each.times, least, f"{each.call:x}", each.what, each)
    for retry in state.retries:
        if retry.times > 1 and retry.turn >= since:
            cause = f"{retry.tool} {retry.target} {retry.error}"
            yield _Repetition("retry", retry.times, repeats, cause, retry.what, retry)
    for check in state.failing_checks:
        if check.turn >= since:
            yield _Repetition("cycle", check.times, cycles, check.key, check.error, check)
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
        if check.times > most:
            most = check.times
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
    end = (
        "Nothing was changed in between: one more would show the same."
        if repeat.looks
        else "One more would end the same way."
    )
    return (
        f"`{quote_unless_order(repeat.what)}` was called {repeat.times} times with the same result. {end} What it "
        "said still stands above."
    )


def _describe_retry(retry: Retry) -> str:
    if retry.target:
        target = f"on `{quote_unless_order(retry.target)}` "
        hint = (
            "Its text as it is now, read once more and copied to the letter, or that part written anew, would end this."
        )
    else:
        target = ""
        hint = "Another form of the call may end this, another try of the same form would not."
    calls = f"{retry.times} calls of `{quote_unless_order(retry.tool)}`"
    return f"{calls} {target}failed in a row with `{_mask_error(retry.what)}`. {hint}"


def _describe_cycle(check: FailingCheck) -> str:
    begin = f"{check.times} rounds of change and `{quote_unless_order(check.what)}`"
    if check.back:
        return (
            f"{begin} ended where they began: `{_mask_error(check.error)}` is back. The changes undo each other; what the "
            "errors in between have in common is worth a look before the next change."
        )
    return (
        f"{begin} ended with the same failure: `{_mask_error(check.error)}`. The changes did not reach its cause; the values "
        "at the place it names, or the last changes undone, would show more than another variation."
    )


def _describe_still(output: UnchangedOutput) -> str:
    return (
        f"`{quote_unless_order(output.what)}` printed the same {len(output.turns)} times, though files were changed before "
        "each run. What was changed may not be what runs: a print at its beginning, or the place it is imported from, would tell."
    )


_TEXTS: dict[LoopKind, Callable[[Any], str]] = {
    "repeat": _describe_repeat, "retry": _describe_retry, "cycle": _describe_cycle, "still": _describe_still,
}  # fmt: skip


def quote_unless_order(text: str) -> str:
    """A text of a call or a tool for use in backticks; `…` if it reads like an instruction."""
    return "…" if order_reason(text) else text.replace("`", "'")


def _mask_error(signature: str) -> str:
    return MASK.sub("…", quote_unless_order(signature))


LOOP = Signal("loop", START, step, read, is_quiet)
