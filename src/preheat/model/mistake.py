"""Repeated mistakes: a failure in several sessions, its cost, and its usual repair.

Frozen values; how they are found is in `mistakes`. Texts come from tools: they are data, and whoever shows them removes what a
terminal or a page would execute.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.outcome import Cause

MistakeCost: TypeAlias = Literal["calls", "minutes", "tokens"]
"""What mistakes are ranked by."""

MISTAKE_COSTS: tuple[MistakeCost, ...] = ("calls", "minutes", "tokens")


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One call that failed this way."""

    session: str
    """The key of its session."""
    seq: int
    at: float | None
    tool: str
    summary: str
    """The call's main argument, on one line."""
    seconds: float
    tokens: int
    recovered_in: int | None
    """How many calls later the same intent succeeded, if within five."""
    repair: str
    """The main argument of the call that succeeded; empty if none did."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """The usual repair of a mistake, as its lesson says it, with an example."""

    form: str
    """What was different in the call that worked: `after reading the file`, "with `rg` instead of `grep`"."""
    count: int
    """How many failures were repaired so."""
    failed: str
    """The failed call of the example; may be empty."""
    worked: str
    """The call that worked in the example; may be empty."""


class Mistake(msgspec.Struct, frozen=True, kw_only=True):
    """One failure signature (or several equivalent ones) of one family of tools."""

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
    """How many of the calls were followed, within five calls, by a success of the same intent or by a finding (a test command
    that runs and reports failing tests)."""
    repair: Repair | None
    """None where fewer than two recoveries are alike."""
    occurrences: tuple[Occurrence, ...]


class Mistakes(msgspec.Struct, frozen=True, kw_only=True):
    """All repeated mistakes, the most expensive first."""

    by: MistakeCost
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
    """Of those, the ones without a message to identify them."""
    sessions: int
    """Sessions that met at least one of the mistakes."""
