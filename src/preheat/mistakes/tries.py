"""What became of each mistake in one session: the tries to put it right, and which one did. Notes for the learner of repairs.

Knows no other session and concludes nothing.
"""

import re
from collections.abc import Sequence

import msgspec

from preheat.calls.files import base_name, file_names_in, file_of
from preheat.calls.intent import RECOVERY_CALLS, intent_of
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.placeholders import without_case
from preheat.calls.shell import command_aim, leaves_sandbox
from preheat.commands import Command, command_text, understand
from preheat.mistakes.command_difference import Change, command_change
from preheat.mistakes.difference import LONGEST, Difference, DifferenceKind, argument_changes
from preheat.mistakes.failure import (
    LONGEST_SHOWN,
    describe_call,
    form_of,
    form_with_starters,
    forms_that_ran,
    is_mistake,
    signature_of,
    tool_family,
)
from preheat.model.session import ToolKind
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import hidden_reason, junk_reason

MOST = 200
"""Mistakes that are noted of one session."""
_LOOKS = frozenset(["read", "search", "list", "poll"])
_WORK = frozenset(["edit", "format", "other"])
"""Changes of the code are work, and no step that repairs a call."""
_QUOTED = re.compile(r"[\s$&|;<>(){}\\*?]")
_AROUND: frozenset[DifferenceKind] = frozenset(["folder", "stayed", "variable", "prefix", "fewer", "quoting"])
"""Differences that show only in the whole text."""
_FEW = 2
"""Commands in a text that is shown whole."""
_CLUSTER = re.compile(r"-\w{1,5}")
_LOOKED_THROUGH = 4000
"""Characters of a result in which the thing that changed is looked for."""


class Try(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A later call with the same intent."""

    seq: int
    differences: tuple[Difference, ...]
    """What changed; empty where that teaches nothing."""
    named: tuple[bool, ...]
    """For each, whether the failed call's result names it."""
    failed: str
    """The failed call as it is best shown beside this one; empty if it cannot be."""
    worked: str
    form: str
    ran: bool
    clean: bool
    """The first try, with nothing but looking on the way."""
    way: tuple[Difference, ...] = ()
    """What was done on the way that may have put it right: the file was read, something else was run (by its form)."""


class MistakenCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call that failed."""

    seq: int
    at: float | None
    tool: str
    family: str
    signature: str
    form: str
    started: str
    """The form with what starts it before it."""
    file: str
    seconds: float
    tokens: int
    environment: bool
    tries: tuple[Try, ...]
    """In order; the last one is the one that put it right, if any did."""


class WaitedCall(msgspec.Struct, frozen=True, gc=False):
    """A call that a person was asked to allow, and did."""

    tool: str
    kind: ToolKind
    summary: str
    seconds: float


class RepairNotes(msgspec.Struct, frozen=True):
    """Of one session."""

    mistakes: tuple[MistakenCall, ...] = ()
    ran: dict[str, int] = {}
    """How often each form of call was right."""
    waits: tuple[WaitedCall, ...] = ()
    """Calls that waited for a person's leave, and got it."""


def take_notes(seen: JudgedSession) -> RepairNotes | None:
    """The mistakes of a session and what was tried after each; None for a session without calls."""
    if not seen.calls:
        return None
    by_seq = seen.calls_by_seq()
    found = [
        _make_mistake(seen, each, [by_seq[n] for n in _following_calls(each) if n in by_seq])
        for each in seen.calls
        if is_mistake(each) and signature_of(each)
    ]
    return RepairNotes(tuple(found[-MOST:]), forms_that_ran(seen), _find_waits(seen))


def _find_waits(seen: JudgedSession) -> tuple[WaitedCall, ...]:
    """The calls that waited for a person, where the transcript says so; those that were refused are counted by their outcome."""
    found = [
        WaitedCall(
            each.call.tool, each.call.kind, one_line(seen.relative(command_text(each.call.input))), float(waited)
        )
        for each in seen.calls
        if each.result is not None
        and each.record.status != "denied"
        and isinstance(waited := each.result.detail.get("waited"), int | float)
    ]
    return tuple(found[-MOST:])


def _following_calls(failure: JudgedCall) -> range:
    return range(failure.record.seq + 1, failure.record.seq + RECOVERY_CALLS + 1)


def _make_mistake(seen: JudgedSession, failure: JudgedCall, later: Sequence[JudgedCall]) -> MistakenCall:
    record = failure.record
    path = seen.relative(file_of(failure.call))
    return MistakenCall(
        seq=record.seq,
        at=failure.call.at,
        tool=record.tool,
        family=tool_family(record.tool, record.kind),
        signature=signature_of(failure),
        form=form_of(failure),
        started=form_with_starters(failure),
        file="" if len(path) > LONGEST or junk_reason(path) else path,
        seconds=record.lost_seconds,
        tokens=record.lost_tokens,
        environment=record.cause == "environment",
        tries=_tries(seen, failure, later),
    )


def _tries(seen: JudgedSession, failure: JudgedCall, later: Sequence[JudgedCall]) -> tuple[Try, ...]:
    found: list[Try] = []
    wanted = intent_of(failure.call)
    mended = failure.record.seq + (failure.record.recovered_in or 0)
    for place, each in enumerate(later):
        together = failure.call.response and failure.call.response == each.call.response
        if together or not (each.ran or is_mistake(each)):
            continue
        if each.record.seq == mended or intent_of(each.call) == wanted:
            found.append(_try(seen, failure, each, later[:place], first=not found))
            if each.ran:
                break
    return tuple(found)


def _try(
    seen: JudgedSession, failure: JudgedCall, later: JudgedCall, between: Sequence[JudgedCall], *, first: bool
) -> Try:
    result = failure.result.model_text[:_LOOKED_THROUGH] if failure.result else ""
    changes, failed, worked = _changes(seen, failure, later, result)
    if _left_sandbox(failure, later, changes):
        changes = (Difference("outside"),)
    changes = _steps_between(seen, failure, changes, between)
    changes = tuple(change for change in changes if not _unfit(change))
    return Try(
        seq=later.record.seq,
        differences=changes,
        named=tuple(_names(result, change) for change in changes),
        failed=failed,
        worked=worked,
        form=form_of(later),
        ran=later.ran,
        clean=first and all(map(_looks, between)),
        way=_way(failure, between),
    )


_DENIED = re.compile(
    r"(?i)operation not permitted|permission denied|\bE(?:PERM|ACCES|ROFS|AI_AGAIN)\b|read-only file system"
    r"|could not resolve host|network is unreachable|error connecting to|sandbox"
)
"""What programs say that a sandbox keeps from a file, a port or the network."""


def _left_sandbox(failure: JudgedCall, later: JudgedCall, changes: tuple[Difference, ...]) -> bool:
    """Whether a call that a sandbox stopped was made again outside of it."""
    if failure.call.kind != "shell" or later.call.kind != "shell":
        return False
    if leaves_sandbox(failure.call.input) or not leaves_sandbox(later.call.input):
        return False
    return bool(_DENIED.search(failure.record.signature)) or (
        failure.record.cause == "environment" and changes == (Difference("again"),)
    )


def _changes(
    seen: JudgedSession, failure: JudgedCall, later: JudgedCall, result: str
) -> tuple[tuple[Difference, ...], str, str]:
    """The differences, and the two calls as they are best shown."""
    one, other = (seen.relative(command_text(each.call.input)) for each in (failure, later))
    if failure.call.kind == "shell" and later.call.kind == "shell" and one and other:
        change = command_change(one, other)
        differences = _without_refused(change, result, failure.record.signature)
        failed, worked = describe_call(seen, failure), describe_call(seen, later)
        if _is_another(change, differences):
            return differences, "", ""
        if change.failed and change.worked and not any(each.kind in _AROUND for each in differences):
            parts = _join_words(change.failed), _join_words(change.worked)
            if not (failed and worked) or (all(parts) and len(understand(one).commands) > _FEW):
                failed, worked = parts  # of a long text the part that matters
        return differences, without_case(failed), without_case(worked)
    if failure.call.tool != later.call.tool:
        return (), "", ""
    before, after = failure.call.input, later.call.input
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    changes = argument_changes(failure.call.tool, _relative(seen, before), _relative(seen, after))
    return changes, describe_call(seen, failure, names), describe_call(seen, later, names)


def _without_refused(change: Change, result: str, signature: str) -> tuple[Difference, ...]:
    """The differences, in the light of the message: an option that it names is the mistake, whatever came in its place; one
    that it does not name is nothing where something else was worked on."""
    if change.failed is not None:
        for option in sorted({word.partition("=")[0] for word in change.failed.words[1:] if word.startswith("-")}):
            removed = change.worked is None or option not in change.worked.words
            if removed and change.failed.program != "" and _refuses(result, option):
                return (Difference("option", option, "", about=change.failed.program),)
    if any(each.kind == "fewer" for each in change.differences):  # the one that failed was left out, and that is all
        return () if any(_is_named(signature, name) for name in change.programs) else change.differences
    if change.elsewhere:
        return tuple(each for each in change.differences if each.kind not in ("option", "variable"))
    return change.differences


def _is_another(change: Change, differences: Sequence[Difference]) -> bool:
    """Whether an option was refused and another program took its place: that shows nobody how to do without the option."""
    refused = [each for each in differences if each.kind == "option" and each.was and not each.now]
    if not refused or change.failed is None:
        return False
    return change.worked is None or change.worked.program != change.failed.program


def _refuses(result: str, option: str) -> bool:
    return re.search(
        r"(?i)\b(?:un(?:known|recogni[sz]ed|expected)|invalid|illegal|no such)\b", result
    ) is not None and _is_named(result, option)


def _relative(seen: JudgedSession, arguments: dict[str, object]) -> dict[str, object]:
    return {
        name: seen.relative(value) if isinstance(value, str) and len(value) <= LONGEST else value
        for name, value in arguments.items()
    }


def _join_words(command: Command) -> str:
    if command.wrappers:  # their own words are not known any more
        return ""
    text = " ".join(f"'{word}'" if _QUOTED.search(word) else word for word in command.words)
    return "" if len(text) > LONGEST_SHOWN or "\n" in text or junk_reason(text) or hidden_reason(text) else text


def _steps_between(
    seen: JudgedSession, failure: JudgedCall, changes: tuple[Difference, ...], between: Sequence[JudgedCall]
) -> tuple[Difference, ...]:
    """The steps between a failure and the same call again: these steps are the repair."""
    kinds = {change.kind for change in changes}
    if failure.call.kind != "shell":
        if any(each.ran and _reads(failure, each) for each in between) and kinds <= {"again"}:
            return (Difference("read"),)
        used = [each.call.tool for each in between if each.ran and not _looks(each)]
        return (Difference("step", "", used[-1]),) if used and kinds == {"again"} else changes
    if kinds != {"again"}:
        return changes
    done = [each for each in between if not _looks(each)]
    if not done:
        return changes
    if len(done) > 1 or done[0].call.kind != "shell" or not done[0].ran:
        return ()
    step = describe_call(seen, done[0])
    if not step or command_aim(step)[0] in ("edit", "vcs", "other", "format"):
        return ()
    return (Difference("step", "", step[:LONGEST]),) if len(step) <= LONGEST else ()


def _way(failure: JudgedCall, between: Sequence[JudgedCall]) -> tuple[Difference, ...]:
    """Reads of the file that the failed call was about; for a command, other commands that do more than look."""
    found: dict[Difference, None] = {}
    for each in between:
        if not each.ran:
            continue
        if failure.call.kind != "shell":
            if _reads(failure, each):
                found[Difference("read")] = None
        elif (
            each.call.kind == "shell"
            and not _looks(each)
            and command_aim(command_text(each.call.input))[0] not in _WORK
        ):
            step = Difference("step", "", form_of(each))
            if not _unfit(step):
                found[step] = None
    return tuple(found)


def _reads(failure: JudgedCall, step: JudgedCall) -> bool:
    about = base_name(file_of(failure.call))
    if not about:
        return False
    if step.call.kind == "shell":
        text = command_text(step.call.input)
        return command_aim(text)[0] in _LOOKS and about in file_names_in(text)
    return step.call.kind in ("read", "search") and base_name(file_of(step.call)) == about


def _looks(step: JudgedCall) -> bool:
    if step.call.kind == "shell":
        text = command_text(step.call.input)
        return not text or command_aim(text)[0] in _LOOKS
    return step.call.kind in ("read", "search", "plan")


def _unfit(change: Difference) -> bool:
    texts = [text for text in (change.was, change.now, change.about) if text]
    return any(len(text) > LONGEST or junk_reason(text) or one_line(text) != text or "`" in text for text in texts)


def _names(result: str, change: Difference) -> bool:
    """Whether the error message names what changed."""
    if change.kind in ("type", "shape") or change.now in ("true", "false"):
        return _is_named(result, change.about)
    return any(_is_named(result, text) for text in (change.was, change.now) if text)


def _is_named(result: str, text: str) -> bool:
    bare = text.partition("=")[0].strip("/.")
    if _CLUSTER.fullmatch(bare):
        letters = "|".join(bare[1:])
        return re.search(rf"(?i:option|flag|argument|switch)[^\n]{{0,12}}?\W-*(?:{letters})(?!\w)", result) is not None
    bare = bare.lstrip("-")
    return len(bare) > 1 and re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", result) is not None
