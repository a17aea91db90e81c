"""Repeated mistakes: a failure in several sessions, its cost, and its usual repair.

Frozen values; how they are found is in `mistakes`. Texts come from tools: they are data, and whoever shows them removes what a
terminal or a page would execute.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.amounts import format_count
from preheat.model.outcome import Cause

MistakeCost: TypeAlias = Literal["calls", "minutes", "tokens"]
"""What mistakes are ranked by."""

MISTAKE_COSTS: tuple[MistakeCost, ...] = ("calls", "minutes", "tokens")


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One call that failed by a repeated mistake."""

    session: str
    """The key of its session."""
    seq: int
    """Number (from 0) of the call among the session's calls."""
    at: float | None
    tool: str
    summary: str
    """The call's main argument, on one line."""
    seconds: float
    """Time that the failure cost."""
    tokens: int
    """Tokens that the failure cost."""
    recovered_in: int | None
    """How many calls later the same intent succeeded, if within five."""
    repair: str
    """The main argument of the call that succeeded, or the form of the command that was used instead; empty if none did."""


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
    instead: str = ""
    """Where the command was given up for another one: the form of that; the mistake's dead end says the same."""


class Mistake(msgspec.Struct, frozen=True, kw_only=True):
    """A failure that was repeated: one signature (or several equivalent ones) of one family of tools."""

    id: str
    """Made from the family and the words of the message: the same in every run and on every machine."""
    title: str
    """The mistake in a few words, for people: the command that fails, where there is one, and its message."""
    family: str
    """The kind of tool, or the tool itself where its kind says nothing."""
    cause: Cause
    """The commonest cause of the calls."""
    signatures: tuple[str, ...]
    """The masked messages of the failures, the commonest first."""
    tools: tuple[str, ...]
    calls: int
    """How many calls failed so."""
    sessions: tuple[str, ...]
    """Keys of the sessions with such a call, the one with most of them first."""
    seconds: float
    """Time that these failures cost."""
    tokens: int
    """Tokens that these failures cost."""
    agents: tuple[str, ...]
    projects: tuple[str, ...]
    first_seen: float | None
    last_seen: float | None
    recovered: int
    """How many of the calls were followed, within five calls, by a success of the same intent or by a finding (a test command
    that runs and reports failing tests); where the repair is another command, also those for which one was used."""
    repair: Repair | None
    """The usual repair; None where fewer than two recoveries are alike."""
    message: str = ""
    """The message alone, as the mistake's lesson quotes it."""
    variants: tuple[str, ...] = ()
    """Other messages of the same mistake, in the same form, the commonest first."""
    command: str = ""
    """The form of command that most of these calls have; empty for other tools, and where they have none in common."""
    mendable: bool = True
    """Whether a person can mend it, in the project or on the machine: a command that is not there, a missing script, a service
    that is down. How an agent uses its own tools is not, nor where it looks for files."""
    occurrences: tuple[Occurrence, ...]

    @property
    def recovery(self) -> str:
        """How often it was put right, in the words of every surface; `repair.form` stands before it where there is one."""
        if self.repair is None:
            often = f"recovered {self.recovered:,} of {format_count(self.calls, 'time')}, each in another way"
            return often if self.recovered else "no repair found"
        others = self.recovered - self.repair.count
        more = f", other ways {others:,}" if others > 0 else ""
        return f"worked {self.repair.count:,} of {format_count(self.calls, 'time')}{more}"


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of one form that were put before a person: not allowed, not answered, or allowed after a while."""

    command: str
    """The form of command, or the tool."""
    calls: int
    sessions: int
    seconds: float
    """From the question to its answer, all together, as far as transcripts record it."""


class Mistakes(msgspec.Struct, frozen=True, kw_only=True):
    """All repeated mistakes: what a person can mend first, and of these the most expensive."""

    by: MistakeCost
    """The cost by which the mistakes are ordered."""
    min_sessions: int
    """In how many sessions a failure must occur to be listed."""
    causes: tuple[Cause, ...]
    """The causes that are counted."""
    mistakes: tuple[Mistake, ...]
    calls: int
    """Failed calls of all listed mistakes."""
    seconds: float
    """Time that all listed mistakes cost."""
    tokens: int
    """Tokens that all listed mistakes cost."""
    failures: int
    """All failed calls of these causes, repeated across sessions or not."""
    unnamed: int
    """Failed calls of these causes without a message to identify them."""
    sessions: int
    """Sessions with at least one of the listed mistakes."""
    waits: tuple[Wait, ...] = ()
    """What waited for a person, the longest first."""
