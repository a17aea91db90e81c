"""Repeated mistakes: a failure that several sessions met, what it cost, and what usually put it right.

Frozen values; how they are found is in `mistakes`. Texts in here came out of tools: they are data, and whoever
shows them takes away what a terminal or a page would obey.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.outcome import Cause

CostBy: TypeAlias = Literal["calls", "minutes", "tokens"]
"""What mistakes are ranked by."""

COSTS: tuple[CostBy, ...] = ("calls", "minutes", "tokens")


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One call that failed this way."""

    session: str
    """The key of its session."""
    seq: int
    at: float | None
    tool: str
    summary: str
    """What the call was given, on one line."""
    seconds: float
    tokens: int
    recovered_in: int | None
    """How many calls later the same intent succeeded, if within five."""
    repair: str
    """What the call that succeeded was given; empty if none did."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """What usually put a mistake right, as the lesson about it says, and an example."""

    form: str
    """What was different in what worked, in words: `after reading the file`, "with `rg` instead of `grep`"."""
    count: int
    """How many failures were put right so."""
    failed: str
    """The failed call of the example; empty where there is none to show beside what worked."""
    worked: str
    """What worked in the example; empty where none shows it."""


class Mistake(msgspec.Struct, frozen=True, kw_only=True):
    """One failure signature (or several that say the same) of one family of tools."""

    id: str
    """Made from family and the words of the message: the same in every run and on every machine."""
    title: str
    family: str
    """The kind of tool, or the tool itself where its kind says nothing."""
    cause: Cause
    """The commonest of its calls."""
    signatures: tuple[str, ...]
    """The commonest first."""
    tools: tuple[str, ...]
    calls: int
    sessions: tuple[str, ...]
    """Keys, the one that met it most often first."""
    seconds: float
    tokens: int
    agents: tuple[str, ...]
    projects: tuple[str, ...]
    first_seen: float | None
    last_seen: float | None
    recovered: int
    """How many of the calls were followed, within five calls, by a success of the same intent, or by a right call of it that
    brought bad news: a test command that finds failing tests."""
    repair: Repair | None
    """None when fewer than two recoveries look alike: one lucky call is no usual repair."""
    occurrences: tuple[Occurrence, ...]


class Mistakes(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, the dearest first."""

    by: CostBy
    min_sessions: int
    causes: tuple[Cause, ...]
    mistakes: tuple[Mistake, ...]
    calls: int
    """Failed calls of the mistakes together; seconds and tokens likewise."""
    seconds: float
    tokens: int
    failures: int
    """All failed calls of these causes, repeated across sessions or not."""
    unnamed: int
    """Of those, the ones without a message to know them by."""
    sessions: int
    """Sessions that met at least one of the mistakes."""
