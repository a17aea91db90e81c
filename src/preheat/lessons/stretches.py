"""Stretches of a session: the calls that lead up to a check, as shapes, and how the check came out. Knows one session.

What decides (the check, the commit) is not part of the stretch, nor are the looks at the repository right before a commit:
they stand there by the very rule that calls a stretch good, and would be found again as what makes it so.
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from preheat.calls.form import command_form
from preheat.calls.seen import JudgedCall, JudgedSession
from preheat.calls.shell import command_aim
from preheat.commands import CHECKS, command_text
from preheat.model.session import ToolCall, UserMessage
from preheat.safe_text.reasons import junk_reason

LONGEST = 20
"""Calls of a stretch: what lies further back has little to do with its end."""
MOST_STEPS = 12
"""Only the last shapes of a stretch count, so that long stretches do not contain more of everything."""
_CHECKS = frozenset(f"shell:{purpose}" for purpose in CHECKS)
_NAMED = frozenset([*CHECKS, "vcs", "package", "format"])
"""Purposes whose commands are named by program and subcommand; other commands are named by their purpose."""
_SAME = {"shell:read": "read", "shell:search": "search", "shell:edit": "edit", "write": "edit", "shell:list": "list"}
"""One shape for the same activity, whether a tool or a command does it."""
_LONGEST_SHAPE = 40


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    steps: tuple[str, ...]
    first: int
    """The places of its first and its last call."""
    last: int
    at: float | None


class StretchNotes(msgspec.Struct, frozen=True, array_like=True):
    """The last stretch of each sort: one of each, so that every session counts once on either side, however long it is."""

    good: Stretch | None = None
    bad: Stretch | None = None
    forms: dict[str, str] = {}
    """By shape: the form of a call of that shape."""


def take_notes(seen: JudgedSession) -> StretchNotes | None:
    """What a session's last good and its last bad stretch looked like."""
    kept = {good: calls for calls, good in _stretches(seen) if len(_steps(calls)) > 1}
    if not kept:
        return None
    forms = {shape_of(each): _form(seen, each) for side in sorted(kept) for each in kept[side]}
    return StretchNotes(_stretch(kept.get(True)), _stretch(kept.get(False)), dict(sorted(forms.items())))


def shape_of(each: JudgedCall) -> str:
    """The shape of a call: one or two words that mean the same in every session."""
    activity = each.record.activity
    if each.call.kind == "shell":
        purpose, *words = command_aim(command_text(each.call.input))
        name = " ".join(words)
        if purpose in _NAMED and words and len(name) <= _LONGEST_SHAPE and not junk_reason(name):
            return name
    elif activity == "other":
        return each.record.tool
    return _SAME.get(activity, activity)


def _steps(calls: list[JudgedCall]) -> tuple[str, ...]:
    """The shapes of the calls; what is done several times in a row counts once."""
    steps: list[str] = []
    for each in calls:
        step = shape_of(each)
        if steps[-1:] != [step]:
            steps.append(step)
    return tuple(steps[-MOST_STEPS:])


def _stretch(calls: list[JudgedCall] | None) -> Stretch | None:
    if calls is None:
        return None
    return Stretch(_steps(calls), calls[0].record.seq, calls[-1].record.seq, calls[-1].call.at)


def _stretches(seen: JudgedSession) -> Iterator[tuple[list[JudgedCall], bool]]:
    """The calls between a prompt or a check and the next check, and whether it went well.

    Good: the check passed (or a commit was made) and no mistake was made twice. Bad: it failed, a mistake was made twice, or
    the stretch broke off with a failure or because a person stopped it. One that just ends is neither."""
    for calls in _between_prompts(seen):
        current: list[JudgedCall] = []
        for each in calls:
            commits = _is_commit(each)
            if not (commits or each.record.activity in _CHECKS) or not (each.worked or each.failed):
                current.append(each)
                continue
            while commits and current and current[-1].record.activity == "shell:vcs":
                current.pop()
            yield current[-LONGEST:], each.worked and not _same_mistake_twice(current[-LONGEST:])
            current = []
        if current and (current[-1].failed or current[-1].record.status in ("denied", "interrupted")):
            yield current[-LONGEST:], False


def _between_prompts(seen: JudgedSession) -> Iterator[list[JudgedCall]]:
    known = {each.call.call_id: each for each in seen.calls}
    current: list[JudgedCall] = []
    for event in seen.events():
        if isinstance(event, UserMessage) and event.origin == "human":
            if current:
                yield current
            current = []
        elif isinstance(event, ToolCall) and event.call_id in known:
            current.append(known[event.call_id])
    if current:
        yield current


def _is_commit(each: JudgedCall) -> bool:
    return each.record.activity == "shell:vcs" and "commit" in command_aim(command_text(each.call.input))[2:]


def _same_mistake_twice(calls: list[JudgedCall]) -> bool:
    mistakes = Counter(each.record.signature for each in calls if each.failed and each.record.cause == "mistake")
    return any(count > 1 for count in mistakes.values())


def _form(seen: JudgedSession, each: JudgedCall) -> str:
    if each.call.kind != "shell":
        return each.record.tool
    return command_form(seen.relative(command_text(each.call.input))) or each.record.tool
