"""What is remembered to recognise a loop: a few calls, failing tools and failing checks. Does not know how they are counted."""

import msgspec


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
