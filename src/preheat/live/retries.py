"""Tools that fail with the same error turn after turn: the rounds of the loop kind `retry`.

A retry is known by its tool and its error, that of an edit also by its file and what it would change, and it ends with a call of
that tool that works. Knows no other kind of loop.
"""

import msgspec

from preheat.calls.words import telling_words
from preheat.live.results import is_same_change
from preheat.model.live import CallEvent
from preheat.model.outcome import Status

_RETRIES = 4
"""How many are remembered."""
_LONGEST = 100
"""Characters of a name or an error that are remembered."""
_NOT_RUN: frozenset[Status] = frozenset(["denied", "interrupted"])
_NOT_INSTALLED = ("command not found: ", "module not found: ")
"""How a signature begins that names what is missing."""


class Retry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A tool that failed repeatedly with the same error."""

    tool: str
    target: str
    error: str
    times: int
    turn: int
    what: str
    """The error for display."""
    change: tuple[int, ...] = ()
    """What an edit would have changed: another change is another call."""
    check: str = ""
    """The program of a check that cannot start."""


def add_retry(retries: tuple[Retry, ...], event: CallEvent, turn: int) -> tuple[Retry, ...]:
    tool = event.tool[:_LONGEST]
    target = event.files[0][-_LONGEST:] if event.kind in ("edit", "write") and event.files else ""
    if event.kind == "shell" and event.signature.startswith(_NOT_INSTALLED):
        error = event.signature[:_LONGEST]  # whatever was typed around it
    elif event.kind == "shell" and event.same_failure:
        # The exact failure: a program that is tried in different ways prints the same words for each.
        error = f"{event.same_failure:x}"
    else:
        error = (" ".join(telling_words(event.signature)) or event.signature)[:_LONGEST]
        if not any(
            map(str.isalpha, error)
        ):  # a value with everything masked: nobody knows whether it is the same error
            return retries
    if target and not event.change:  # nobody knows whether it is the same edit
        return retries
    for index, each in enumerate(retries):
        same = each.tool == tool and each.target == target and each.error == error
        if same and (not target or is_same_change(each.change, event.change)):
            if each.turn == turn:
                return retries
            again = msgspec.structs.replace(each, times=each.times + 1, turn=turn, change=event.change)
            return (*retries[:index], *retries[index + 1 :], again)
    check = event.form.partition(" ")[0][:_LONGEST] if event.checks else ""
    return (*retries, Retry(tool, target, error, 1, turn, event.signature[:_LONGEST], event.change, check))[-_RETRIES:]


def end_retries(retries: tuple[Retry, ...], event: CallEvent) -> tuple[Retry, ...]:
    """The retries that remain after a call succeeded: a shell command does not end the retries of another tool, nor those of a
    check that cannot start, unless it is a check or changes something; a look does not end those of an edit."""
    if event.status in _NOT_RUN:
        return retries
    edited = [path[-_LONGEST:] for path in event.edited] if event.kind != "shell" else []
    left = tuple(each for each in retries if not _ends(each, event, edited))
    return retries if len(left) == len(retries) else left


def _ends(retry: Retry, event: CallEvent, edited: list[str]) -> bool:
    if retry.target:
        return retry.target in edited
    if retry.change and event.kind not in ("edit", "write"):  # a tool that edits and shows: a look is no edit
        return False
    if retry.check and event.kind == "shell":
        return bool(event.checks or event.edited) or event.form.partition(" ")[0] == retry.check
    return retry.tool == event.tool[:_LONGEST]
