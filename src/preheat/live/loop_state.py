"""What is remembered to know a loop when it comes: few calls, few refusals, few failing checks. Knows not how it comes about."""

import msgspec


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """A call and its answer since something was last changed."""

    call: int
    result: int
    times: int
    """Turns in which it was made."""
    turn: int
    what: str
    looks: bool


class Retry(msgspec.Struct, frozen=True, gc=False):
    """A tool that refuses in the same words."""

    tool: str
    target: str
    error: str
    times: int
    turn: int
    what: str
    """The error as it is shown."""


class Round(msgspec.Struct, frozen=True, gc=False):
    """A check that failed after a change."""

    call: int
    failure: int
    """Equal for the same failure, though the code has moved."""
    failing: int | None
    about: str
    """What the check names; empty: everything."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """The failing checks of one kind, since one passed."""

    key: str
    rounds: tuple[Round, ...]
    changed: bool
    """Something was changed since the last of them."""
    compared: bool
    """The last change went back to an earlier state."""
    times: int
    """Rounds that ended as the last one did, as far back as that failure was first seen."""
    back: bool
    """It was gone in between."""
    turn: int
    what: str
    error: str


class Still(msgspec.Struct, frozen=True, gc=False):
    """A program that works, and prints the same though files were changed."""

    call: int
    result: int
    turns: tuple[int, ...]
    """Of the runs that came after a change, the last few."""
    changed: bool
    what: str


class Running(msgspec.Struct, frozen=True, gc=False):
    """A check that was started, and whose answer a poll will bring."""

    key: str
    call: int
    about: str
    what: str


class LoopState(msgspec.Struct, frozen=True, gc=False):
    repeats: tuple[Repeat, ...] = ()
    retries: tuple[Retry, ...] = ()
    lines: tuple[Line, ...] = ()
    stills: tuple[Still, ...] = ()
    running: tuple[Running, ...] = ()
