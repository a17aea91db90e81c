"""Checks that fail again and again though something was changed: the rounds of the loop kind `cycle`.

A round is a change and a check that fails. Rounds are alike if the same command reports the same failure (moved code aside) or if
the same tests fail. A command that was changed asks something else, and an agent that read a good deal since the last round is
finding out: such rounds do not count. Fewer failures than ever end the count, and so does a check that passes and covers it. A
failure that is there without the changes too (seen after Git went back to an earlier state) is not the agent's to end.
Knows no other kind of loop.
"""

import re

import msgspec

from preheat.commands import CHECKS
from preheat.live.project_files import describe_scope
from preheat.live.signal import check_passed
from preheat.model.live import CallEvent

_CHECKS, _ROUNDS = 4, 12
"""How many checks, and rounds of one, are remembered."""
_ALL_CHECKS = re.compile(rf"(?:{'|'.join(CHECKS)})(?:\+(?:{'|'.join(CHECKS)}))*")
_FORGOTTEN_TURNS = 40
"""Turns after which a returning failure starts a new count."""
_LONGEST = 100
_MANY_LOOKS = 3
"""Looks between two rounds that are still the look at what failed."""


class FailedRound(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A check that failed after a change."""

    call: int
    failure: int
    """Equal for the same failure, though the code has moved."""
    failing: int | None
    about: str
    """The paths that the check names; empty: everything."""
    tests: tuple[int, ...] = ()
    """The tests that failed, where the output names them."""
    studied: bool = False
    """The agent read a good deal before it, so that the change was more than a variation."""


class FailingCheck(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
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
    test_times: int = 0
    """Rounds in a row in which the same tests failed, whatever they said."""
    without_changes: tuple[int, ...] = ()
    """Failures that were there after the changes were undone."""
    looks: int = 0
    """Calls that only read, since the last round."""


class PendingCheck(msgspec.Struct, frozen=True, gc=False):
    """A check that was started and whose result a poll will bring."""

    key: str
    call: int
    about: str
    what: str


def make_check(event: CallEvent) -> PendingCheck:
    named = describe_scope(event.summary)[:_LONGEST] if event.checks else ""
    return PendingCheck(_check_key(event), event.same_call, named, event.summary[:_LONGEST])


def _check_key(event: CallEvent) -> str:
    return ("+".join(event.checks) or event.form)[:_LONGEST]


def note_change(checks: tuple[FailingCheck, ...], event: CallEvent) -> tuple[FailingCheck, ...]:
    """Note a change; a Git command that goes back to an earlier state is a comparison, no new attempt."""
    back = event.activity == "shell:vcs" and not event.edited
    names = [path.rpartition("/")[2] for path in event.edited]
    return tuple(
        check
        if (check.changed is not back and check.compared is back) or _is_program_itself(check, names)
        else msgspec.structs.replace(check, changed=check.changed or not back, compared=back)
        for check in checks
    )


def note_look(checks: tuple[FailingCheck, ...]) -> tuple[FailingCheck, ...]:
    """Note a call that only reads."""
    return tuple(
        msgspec.structs.replace(check, looks=check.looks + 1) if check.looks <= _MANY_LOOKS else check
        for check in checks
    )


def _is_program_itself(check: FailingCheck, names: list[str]) -> bool:
    """Whether a change is of nothing but the program that is run: a reproduction that is written until it shows the failure."""
    return bool(names) and not _ALL_CHECKS.fullmatch(check.key) and all(name in check.what for name in names)


def drop_passed(checks: tuple[FailingCheck, ...], event: CallEvent) -> tuple[FailingCheck, ...]:
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
    return _count_again(check, rounds, check.without_changes)


def add_failure(
    checks: tuple[FailingCheck, ...], pending: PendingCheck, event: CallEvent, turn: int
) -> tuple[FailingCheck, ...]:
    index, check = next(((index, check) for index, check in enumerate(checks) if check.key == pending.key), (-1, None))
    # A program that is no check is compared by its whole output.
    failure = (event.same_failure if event.checks or event.polling else 0) or event.same_result
    known = check.without_changes if check else ()
    if check and check.compared and not event.edited:  # the failure is there without the changes too
        rounds = tuple(each for each in check.rounds if each.failure != failure)
        known = (*(each for each in known if each != failure), failure)[-_ROUNDS:]
        return _replace(checks, index, _count_again(check, rounds, known))
    if failure in known:
        return checks
    studied = check is not None and check.looks > _MANY_LOOKS
    now = FailedRound(pending.call, failure, event.failing, pending.about, event.failing_tests, studied)
    rounds = _without_progress(check.rounds, now) if check and turn - check.turn <= _FORGOTTEN_TURNS else ()
    if check and rounds and not check.changed and not event.edited and _is_same_check(rounds[-1], now):
        rounds = rounds[:-1]  # checked again without a change: the same round
    rounds = (*rounds, now)[-_ROUNDS:]
    error = event.signature[:_LONGEST]
    times, back, test_times = _count_rounds(rounds)
    again = FailingCheck(
        pending.key, rounds, False, False, times, back, turn, pending.what, error, test_times, known
    )  # fmt: skip
    return _replace(checks, index, again)


def _replace(checks: tuple[FailingCheck, ...], index: int, check: FailingCheck) -> tuple[FailingCheck, ...]:
    """The checks with one more at the end, in place of the one at `index` (-1: in place of none)."""
    others = checks if index < 0 else (*checks[:index], *checks[index + 1 :])
    return (*others, check)[-_CHECKS:]


def _count_again(check: FailingCheck, rounds: tuple[FailedRound, ...], known: tuple[int, ...]) -> FailingCheck:
    times, back, test_times = _count_rounds(rounds) if rounds else (0, False, 0)
    return msgspec.structs.replace(
        check, rounds=rounds, times=times, back=back, test_times=test_times, without_changes=known
    )


def _is_same_check(one: FailedRound, other: FailedRound) -> bool:
    return one.call == other.call or one.failure == other.failure or not set(one.tests).isdisjoint(other.tests)


def _without_progress(rounds: tuple[FailedRound, ...], now: FailedRound) -> tuple[FailedRound, ...]:
    """The rounds that still count: a check with fewer failures than ever before made progress, and its rounds are dropped."""
    before = [each.failing for each in rounds if each.call == now.call and each.failing is not None]
    if not before or now.failing is None or now.failing >= min(before):
        return rounds
    return tuple(each for each in rounds if not _is_same_check(each, now))


def _count_rounds(rounds: tuple[FailedRound, ...]) -> tuple[int, bool, int]:
    """How many rounds there were since the latest failure first occurred, whether it was gone in between, and in how many the
    same tests failed."""
    now = rounds[-1]
    mine = [each for each in rounds if _is_same_check(each, now)]
    first = next(index for index, each in enumerate(mine) if each.failure == now.failure)
    since = mine[first:]
    alike = [each for each in since if each.call == now.call]
    times = len(alike) - sum(each.studied for each in alike[1:])
    named = [
        each for each in mine if each.tests and not each.studied
    ]  # a build that fails names no test, and says nothing of any
    failing = 0
    for each in reversed(named):
        if not set(now.tests) <= set(each.tests) and not set(each.tests) <= set(now.tests):
            break
        failing += 1
    return times, any(each.failure != now.failure for each in since), failing if now.tests else 0
