"""The outcome of one call: the judge's verdict and its evidence.

Knows nothing of sessions, of agents or of how a verdict is reached.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

Status: TypeAlias = Literal["ok", "failed", "empty", "partial", "denied", "interrupted", "unknown"]
"""`empty`: worked and found nothing. `partial`: a part of it worked. `unknown`: there is no evidence."""

Rung: TypeAlias = Literal["flag", "exit_code", "structure", "text", "none"]
"""The evidence for the verdict, best first: the program's own flag, an exit code, a value in a structured result, an unambiguous
line of the result, none."""

Cause: TypeAlias = Literal["mistake", "finding", "environment", "unknown"]
"""Why a call did not succeed: the agent's mistake, a finding (a tool that worked and reports a problem), the environment, or
`unknown` where nothing shows it."""

STATUSES: tuple[Status, ...] = ("ok", "failed", "empty", "partial", "denied", "interrupted", "unknown")
RUNGS: tuple[Rung, ...] = ("flag", "exit_code", "structure", "text", "none")
CAUSES: tuple[Cause, ...] = ("mistake", "finding", "environment", "unknown")
EARLIER_CAUSES: dict[str, Cause] = {"misuse": "mistake"}
"""Causes by the names that version 0.1.0 had for them."""

FAILURES: frozenset[Status] = frozenset(["failed", "partial"])
"""What counts as an error in a rate."""
JUDGED: frozenset[Status] = frozenset(["ok", "empty", "failed", "partial"])
"""The statuses that rates are computed over; refused, interrupted and unknown calls say nothing about reliability."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The verdict on one call."""

    call_id: str
    """The agent's id of the call."""
    status: Status
    rung: Rung
    """The evidence for the verdict."""
    exit_code: int | None = None
    signature: str = ""
    """The message of a failure with numbers, paths, hashes and quotes masked: equal for the same mistake; empty for
    a success."""
    cause: Cause | None = None
    """Why the call failed; None for a success."""
    confidence: float = 1.0
    """How often verdicts on this evidence are right, 0 to 1."""


CallEnding: TypeAlias = Literal["denied", "interrupted", "running", "empty", "timeout"]
"""How a call ended other than by success or failure, where the agent's program says so: refused or interrupted by a person or a
policy, still running when it was recorded, nothing found, timed out."""


class Dialect(msgspec.Struct, frozen=True):
    """The words that one agent's program uses for the endings of calls, in fields or in place of a tool's result.

    Texts are regular expressions for the beginning of a result, without groups that capture.
    """

    fields: dict[str, CallEnding | dict[str, CallEnding]] = {}
    """What a field of `ToolResult.detail` means when it is set, or what each of its values means."""
    denied: tuple[str, ...] = ()
    """A person or a policy refused the call."""
    interrupted: tuple[str, ...] = ()
    """A person interrupted the call."""
    timeout: tuple[str, ...] = ()
    """The call was stopped because it took too long."""
    mistake: tuple[str, ...] = ()
    """The program refuses the call itself: bad arguments, no such tool, a file that was not read before."""
    failed: tuple[str, ...] = ()
    """A failure whose cause is in the message."""
    worked: tuple[str, ...] = ()
    """A sentence that means success, whatever follows."""
    empty: tuple[str, ...] = ()
    """A sentence that means that nothing was found."""
    running: tuple[str, ...] = ()
    """The command is still running."""


NO_DIALECT = Dialect()


def merge_dialects(dialects: Iterable[Dialect]) -> Dialect:
    """A dialect with the texts of all; fields differ between programs and are left out."""
    known = list(dialects)
    names = [name for name in Dialect.__struct_fields__ if name != "fields"]
    texts: dict[str, tuple[str, ...]] = {
        name: tuple(dict.fromkeys(text for each in known for text in getattr(each, name))) for name in names
    }
    return msgspec.structs.replace(NO_DIALECT, **texts)
