"""Whether the agent goes round: the same call and the same answer, the same refusal, the same failure after every edit.

Ways of going round, each counted in turns, because the calls of one response were all decided before the first answer:

- **repeat**: the same call with the same result, and nothing was changed in between; of a call that only looks, one more is
  allowed (`loop_rereads`);
- **retry**: a tool refuses in the same words, turn after turn, and nothing of that kind works in between;
- **cycle**: change, check, and the same failure as before, or one that was gone and is back;
- **still**: change, run, and the same output as before, several times in a short while: what was changed is not what runs.

What ends it: a check that passes, fewer failures, another error, a call that works. A poll is no loop, nor is a person's
new prompt. Knows no other signal.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from preheat.calls.words import telling_words
from preheat.live.covers import about
from preheat.live.loop_state import Line, LoopState, Repeat, Retry, Round, Running, Still
from preheat.live.loop_texts import TEXTS, Way, shown
from preheat.live.part import Frame, Part, passed
from preheat.model.live import Asked, Began, Called, Compacted, LiveEvent, Reading
from preheat.model.outcome import FAILURES, Status

_REPEATS, _RETRIES, _LINES, _ROUNDS = 16, 4, 4, 12
"""How much is remembered of each."""
_SOON = 10
"""Turns within which runs with the same output follow upon each other, and after which the agent is busy with something else."""
_LONG_AGO = 40
"""Turns after which a failure that comes back is a new one."""
_LONGEST = 100
"""Characters of a command or an error that are remembered."""
_LOOKS = frozenset(["read", "search", "web", "plan", "shell:read", "shell:search", "shell:list"])
_LOOKING = (
    "get",
    "list",
    "check",
    "search",
    "find",
    "read",
    "fetch",
    "query",
    "describe",
    "view",
    "show",
    "lookup",
    "calculate",
)
"""What the names of tools begin with that change nothing."""
_SILENT = re.compile(r"exit code N, no message$")
"""A failure that said nothing here (it goes on elsewhere): it cannot be told from another."""
_VCS_LOOKS = frozenset(
    ["status", "diff", "log", "show", "blame", "branch", "remote", "rev-parse", "ls-files", "describe", "reflog"]
)
_ANEW = (Asked, Compacted)
_NOT_DONE: frozenset[Status] = frozenset(["denied", "interrupted"])

START = LoopState()


def step(state: LoopState, event: LiveEvent, frame: Frame) -> LoopState:
    if isinstance(event, Called):
        return _polled(state, event, frame.turn) if event.polling else _called(state, event, frame.turn)
    if isinstance(event, _ANEW):  # asked to do it again, or what was read is gone
        return msgspec.structs.replace(state, repeats=()) if state.repeats else state
    if isinstance(event, Began) and event.source in ("startup", "clear"):
        return START
    return state


def _polled(state: LoopState, event: Called, turn: int) -> LoopState:
    """A poll is no loop; but it may bring the answer of a check that went on, the first one started first."""
    if not state.running or event.cause != "finding" or not event.same_failure:
        return state
    first, *others = state.running
    lines = _failed(state.lines, first, event, turn)
    return msgspec.structs.replace(state, lines=lines, running=tuple(others))


def _called(state: LoopState, event: Called, turn: int) -> LoopState:
    repeats, retries, lines, stills = state.repeats, state.retries, state.lines, state.stills
    status, activity, edited, checks = event.status, event.activity, event.edited, event.checks
    failed = status in FAILURES
    looks = activity in _LOOKS or _looks(event)
    place = _place(repeats, event.same_call, event.same_result) if repeats else -1
    # What may have changed what others find: it changed a file, or it worked and does more than look.
    acts = place < 0 and bool(edited or event.removed or not (failed or looks or checks or status in _NOT_DONE))
    if lines:
        lines = _changed(lines, event) if acts and not checks else lines
        lines = _passed(lines, event) if not failed else lines
    if retries and not failed:
        retries = _worked(retries, event)
    running = state.running
    if checks and status == "unknown":
        others = tuple(each for each in running if each.call != event.same_call)
        running = (*others, _check(event))[-_LINES:]
    elif failed and event.signature and not _SILENT.search(event.signature):
        if event.cause != "finding":
            retries = _refused(retries, event, turn)
        elif checks or activity == "shell:run":  # news from something that ran
            lines = _failed(lines, _check(event), event, turn)
    if edited:
        stills = _touched(stills, event) if stills else stills
    elif activity == "shell:run" and status == "ok":
        stills = _ran(stills, event, turn)
    kept = () if acts else repeats
    if not edited and (event.summary or event.kind == "other"):  # without arguments it cannot be told from others
        kept = _repeated(kept, place, event, turn, looks)
    if (
        kept is state.repeats and retries is state.retries and lines is state.lines and stills is state.stills
        and running is state.running
    ):  # fmt: skip
        return state
    return LoopState(kept, retries, lines, stills, running)


def _looks(event: Called) -> bool:
    """Whether a call only looks, though its activity alone does not say so."""
    if event.activity == "shell:vcs":
        return not _VCS_LOOKS.isdisjoint(event.form.split(" ", 3)[1:3])
    return event.activity == "other" and event.tool.rpartition("__")[2].lower().startswith(_LOOKING)


# The same call and the same answer.
def _place(repeats: tuple[Repeat, ...], call: int, result: int) -> int:
    """Where the same call with the same result stands; -1: it is new."""
    for place, each in enumerate(repeats):
        if each.call == call and each.result == result:
            return place
    return -1


def _repeated(repeats: tuple[Repeat, ...], place: int, event: Called, turn: int, looks: bool) -> tuple[Repeat, ...]:
    if place >= 0:
        each = repeats[place]
        if each.turn == turn:
            return repeats
        again = Repeat(each.call, each.result, each.times + 1, turn, each.what, each.looks)
        return (*repeats[:place], *repeats[place + 1 :], again)
    first = Repeat(event.same_call, event.same_result, 1, turn, (event.summary or event.tool)[:_LONGEST], looks)
    return (*repeats, first) if len(repeats) < _REPEATS else (*repeats[1:], first)


# The same refusal.
def _refused(retries: tuple[Retry, ...], event: Called, turn: int) -> tuple[Retry, ...]:
    tool = event.tool[:_LONGEST]
    target = event.files[0][-_LONGEST:] if event.kind in ("edit", "write") and event.files else ""
    if event.kind == "shell" and event.same_failure:
        # To the letter: a program that is tried out in different ways says it of each.
        error = f"{event.same_failure:x}"
    else:
        error = (" ".join(telling_words(event.signature)) or event.signature)[:_LONGEST]
    for place, each in enumerate(retries):
        if each.tool == tool and each.target == target and each.error == error:
            if each.turn == turn:
                return retries
            again = Retry(each.tool, target, error, each.times + 1, turn, each.what)
            return (*retries[:place], *retries[place + 1 :], again)
    return (*retries, Retry(tool, target, error, 1, turn, event.signature[:_LONGEST]))[-_RETRIES:]


def _worked(retries: tuple[Retry, ...], event: Called) -> tuple[Retry, ...]:
    """What is left when a call worked. A way around through the shell does not make the tool work."""
    if event.status in ("denied", "interrupted"):
        return retries
    edited = [path[-_LONGEST:] for path in event.edited] if event.kind != "shell" else []
    tool = event.tool[:_LONGEST]
    left = tuple(each for each in retries if (each.target not in edited if each.target else each.tool != tool))
    return retries if len(left) == len(retries) else left


# Change, check, the same failure.
def _check(event: Called) -> Running:
    named = about(event.summary)[:_LONGEST] if event.checks else ""
    return Running(_key(event), event.same_call, named, event.summary[:_LONGEST])


def _key(event: Called) -> str:
    return ("+".join(event.checks) or event.form)[:_LONGEST]


def _changed(lines: tuple[Line, ...], event: Called) -> tuple[Line, ...]:
    """Going back to an earlier state is no new attempt: what fails there is there to compare."""
    back = event.activity == "shell:vcs" and not event.edited
    if all(line.changed is not back and line.compared is back for line in lines):
        return lines
    return tuple(msgspec.structs.replace(line, changed=line.changed or not back, compared=back) for line in lines)


def _passed(lines: tuple[Line, ...], event: Called) -> tuple[Line, ...]:
    """What is left when a check passed, or what was run works now. A test of one part says nothing of another part."""
    if event.checks:
        if not passed(event):
            return lines
        named = about(event.summary)[:_LONGEST]
        left = tuple(
            _without(line, event.same_call, named) if _covers(event.checks, line.key) else line for line in lines
        )
    elif event.activity == "shell:run":
        left = tuple(line for line in lines if line.key != event.form[:_LONGEST])
    else:
        return lines
    kept = tuple(line for line in left if line is not None)
    return lines if kept == lines else kept


def _covers(checks: tuple[str, ...], key: str) -> bool:
    return all(kind in checks for kind in key.split("+"))


def _without(line: Line, call: int, named: str) -> Line | None:
    """A line without the rounds of what passed; nothing if none are left."""
    rounds = tuple(each for each in line.rounds if named and each.call != call and each.about != named)
    if not rounds:
        return None
    if len(rounds) == len(line.rounds):
        return line
    times, back = _times(rounds)
    return msgspec.structs.replace(line, rounds=rounds, times=times, back=back)


def _failed(lines: tuple[Line, ...], check: Running, event: Called, turn: int) -> tuple[Line, ...]:
    place, line = next(((place, line) for place, line in enumerate(lines) if line.key == check.key), (-1, None))
    if line and line.compared and not event.edited:
        return lines
    # A program that is run to find out prints more each time: only all of its output can say that nothing is new.
    failure = event.same_failure if event.checks or event.polling else 0
    now = Round(check.call, failure or event.same_result, event.failing, check.about)
    rounds = _without_progress(line.rounds, now) if line and turn - line.turn <= _LONG_AGO else ()
    if line and rounds and not line.changed and not event.edited and _akin(rounds[-1], now):
        rounds = rounds[:-1]  # looked at again: the same round
    rounds = (*rounds, now)[-_ROUNDS:]
    times, back = _times(rounds)
    again = Line(check.key, rounds, False, False, times, back, turn, check.what, event.signature[:_LONGEST])
    others = (*lines[:place], *lines[place + 1 :]) if line else lines
    return (*others, again)[-_LINES:]


def _akin(one: Round, other: Round) -> bool:
    return one.call == other.call or one.failure == other.failure


def _without_progress(rounds: tuple[Round, ...], now: Round) -> tuple[Round, ...]:
    """The rounds that still count: fewer failures than ever of the same check mean that what went before was of use."""
    before = [each.failing for each in rounds if each.call == now.call and each.failing is not None]
    if not before or now.failing is None or now.failing >= min(before):
        return rounds
    return tuple(each for each in rounds if not _akin(each, now))


def _times(rounds: tuple[Round, ...]) -> tuple[int, bool]:
    """How many rounds there were since the last failure was first seen, and whether it was gone in between."""
    now = rounds[-1]
    mine = [each for each in rounds if _akin(each, now)]
    first = next(place for place, each in enumerate(mine) if each.failure == now.failure)
    since = mine[first:]
    return len(since), any(each.failure != now.failure for each in since)


# Change, run, the same output.
def _touched(stills: tuple[Still, ...], event: Called) -> tuple[Still, ...]:
    """A program that is itself rewritten may well print the same: only what it works on counts."""
    names = [path.rpartition("/")[2] for path in event.edited]
    if all(still.changed or all(name in still.what for name in names) for still in stills):
        return stills
    return tuple(
        still if all(name in still.what for name in names) else msgspec.structs.replace(still, changed=True)
        for still in stills
    )


def _ran(stills: tuple[Still, ...], event: Called, turn: int) -> tuple[Still, ...]:
    place, still = next(
        ((place, still) for place, still in enumerate(stills) if still.call == event.same_call), (-1, None)
    )
    if still is None or still.result != event.same_result:
        turns: tuple[int, ...] = (turn,)
    elif still.changed:
        turns = (*(each for each in still.turns if each >= turn - _SOON), turn)[-_ROUNDS:]
    else:
        return stills
    again = Still(event.same_call, event.same_result, turns, False, event.summary[:_LONGEST])
    others = (*stills[:place], *stills[place + 1 :]) if still else stills
    return (*others, again)[-_LINES:]


# What it says.
def cause(state: LoopState, frame: Frame) -> str:
    """What goes round, as `read` tells it; empty while nothing does."""
    if quiet(state, frame):
        return ""
    found = _most(state, frame)
    return _cause(found) if found is not None and found.times >= found.least else ""


def _most(state: LoopState, frame: Frame) -> "_Found | None":
    return max(_ways(state, frame), default=None, key=lambda found: found.times / found.least)


def _cause(found: "_Found") -> str:
    return f"{found.way}:{found.cause}"


def read(state: LoopState, frame: Frame) -> Reading:
    found = _most(state, frame)
    if found is None:
        return Reading(signal="loop", value=0.0, facts={"rounds": "0"})
    fired = found.times >= found.least
    return Reading(
        signal="loop",
        value=float(found.times),
        fired=fired,
        cause=_cause(found) if fired else "",
        facts={
            "what": found.way,
            "rounds": str(found.times),
            "fires at": f"{found.least:g} ({frame.phase})",
            "of": shown(found.what),
        },
        text=TEXTS[found.way](found.entry) if fired else "",
    )


class _Found(NamedTuple):
    way: Way
    times: int
    least: float
    cause: str
    what: str
    entry: Any


def _ways(state: LoopState, frame: Frame) -> Iterable[_Found]:
    """What goes round, as far as it is not long ago."""
    thresholds, since = frame.thresholds, frame.turn - _SOON
    repeats, cycles = thresholds.loop_repeats.of(frame.phase), thresholds.loop_cycles.of(frame.phase)
    for each in state.repeats:
        if each.times > 1 and each.turn >= since:
            least = max(repeats, thresholds.loop_rereads) if each.looks else repeats
            yield _Found("repeat", each.times, least, f"{each.call:x}", each.what, each)
    for retry in state.retries:
        if retry.times > 1 and retry.turn >= since:
            cause = f"{retry.tool} {retry.target} {retry.error}"
            yield _Found("retry", retry.times, repeats, cause, retry.what, retry)
    for line in state.lines:
        if line.turn >= since:
            yield _Found("cycle", line.times, cycles, line.key, line.error, line)
    for still in state.stills:
        if len(still.turns) > 1 and still.turns[-1] >= since:
            yield _Found("still", len(still.turns), cycles, f"{still.call:x}", still.what, still)


def quiet(state: LoopState, frame: Frame) -> bool:
    """Whether nothing came often enough; asked after every event, where reading would cost much more."""
    most = 1
    for each in state.repeats:
        if each.times > most:
            most = each.times
    for retry in state.retries:
        if retry.times > most:
            most = retry.times
    for line in state.lines:
        if line.times > most:
            most = line.times
    for still in state.stills:
        if len(still.turns) > most:
            most = len(still.turns)
    if most == 1:  # once is no loop, whatever is set
        return True
    return most < min(frame.thresholds.loop_repeats.of(frame.phase), frame.thresholds.loop_cycles.of(frame.phase))


LOOP = Part("loop", START, step, read, quiet)
