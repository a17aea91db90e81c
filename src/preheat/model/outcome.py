"""What came of one call: the judge's verdict, and on what evidence.

Knows nothing of sessions, of agents or of how a verdict is reached.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

Status: TypeAlias = Literal["ok", "failed", "empty", "partial", "denied", "interrupted", "unknown"]
"""`empty`: worked and found nothing. `partial`: a part of it worked. `unknown`: nothing tells."""

Rung: TypeAlias = Literal["flag", "exit_code", "structure", "text", "none"]
"""What the verdict rests on, best first: the program's own flag, an exit code, a value in the result that says so, a line
of the result that can only mean this, nothing."""

Cause: TypeAlias = Literal["mistake", "finding", "environment"]
"""Why a call did not succeed: the agent's mistake, bad news from a tool that did its work, or the world around it."""

STATUSES: tuple[Status, ...] = ("ok", "failed", "empty", "partial", "denied", "interrupted", "unknown")
RUNGS: tuple[Rung, ...] = ("flag", "exit_code", "structure", "text", "none")
CAUSES: tuple[Cause, ...] = ("mistake", "finding", "environment")
EARLIER_CAUSES: dict[str, Cause] = {"misuse": "mistake"}
"""Causes by the names that version 0.1.0 had for them."""

FAILURES: frozenset[Status] = frozenset(["failed", "partial"])
"""What counts as an error in a rate."""
JUDGED: frozenset[Status] = frozenset(["ok", "empty", "failed", "partial"])
"""What a rate is taken over: a call that was refused, cut off or cannot be told says nothing about reliability."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The verdict on one call. `cause` is None and `signature` empty for calls that did what they were asked."""

    call_id: str
    status: Status
    rung: Rung
    exit_code: int | None = None
    signature: str = ""
    """The message of a failure with numbers, paths, hashes and quotes masked: equal for the same mistake."""
    cause: Cause | None = None
    confidence: float = 1.0
    """How often verdicts on this evidence are right, 0 to 1."""


Ending: TypeAlias = Literal["denied", "interrupted", "running", "empty", "timeout"]
"""How a call ended beyond success and failure, where the agent's own program says so: refused by a person or a policy, cut
off by one of them, still going on when it was read, nothing found, out of time."""


class Dialect(msgspec.Struct, frozen=True):
    """How one agent's program words what it records of a call or puts in the place of a tool's own result.

    Texts are regular expressions for the beginning of a result, without groups that capture.
    """

    fields: dict[str, Ending | dict[str, Ending]] = {}
    """By the name of a detail: what it means when set, or what its values mean."""
    denied: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()
    timeout: tuple[str, ...] = ()
    mistake: tuple[str, ...] = ()
    """The program refuses the call itself: bad arguments, no such tool, a file that was not read before."""
    failed: tuple[str, ...] = ()
    """A failure whose cause the message tells."""
    worked: tuple[str, ...] = ()
    """A sentence that stands for success, whatever follows."""
    empty: tuple[str, ...] = ()
    """A sentence that stands for nothing found."""
    running: tuple[str, ...] = ()
    """What was asked for goes on; how it ends is not known yet."""


NO_DIALECT = Dialect()


def merged(dialects: Iterable[Dialect]) -> Dialect:
    """One that knows the texts of all; fields are each program's own and stay out."""
    known = list(dialects)
    names = [name for name in Dialect.__struct_fields__ if name != "fields"]
    texts: dict[str, tuple[str, ...]] = {
        name: tuple(dict.fromkeys(text for each in known for text in getattr(each, name))) for name in names
    }
    return msgspec.structs.replace(NO_DIALECT, **texts)
