"""Counts the calls of a session (or of a part of one) for every rate that two things are compared by.

Knows nothing of where the calls come from: a record just made and a row of the archive count alike.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from preheat.model.outcome import FAILURES, JUDGED, Cause, Status

_READS = frozenset(["read", "shell:read"])


class CountedCall(Protocol):
    """What is asked of a judged call."""

    @property
    def activity(self) -> str: ...
    @property
    def bookkeeping(self) -> bool: ...
    @property
    def status(self) -> Status: ...
    @property
    def cause(self) -> Cause | None: ...
    @property
    def repeated(self) -> bool: ...
    @property
    def reread(self) -> bool: ...
    @property
    def lost_seconds(self) -> float: ...
    @property
    def lost_tokens(self) -> int: ...
    @property
    def recovered_in(self) -> int | None: ...


class Counts(NamedTuple):
    """What a session (or a part of one) adds to each rate; the agent's notes to itself are in none of them."""

    calls: int = 0
    judged: int = 0
    failures: int = 0
    mistakes: int = 0
    recovered: int = 0
    repeats: int = 0
    reads: int = 0
    rereads: int = 0
    lost_seconds: float = 0.0
    lost_tokens: int = 0
    avoidable: int = 0
    """Failures that can cost something: all but findings."""
    timed: int = 0
    """The calls, if failures among them cost time at all: not every agent records when things happened."""
    asks: int = 0
    asked_again: int = 0

    def plus(self, other: "Counts") -> "Counts":
        return Counts._make(mine + theirs for mine, theirs in zip(self, other, strict=True))


NO_COUNTS = Counts()


def count_calls(calls: Iterable[CountedCall]) -> Counts:
    """The counts of some calls."""
    number = judged = failures = mistakes = recovered = repeats = reads = rereads = tokens = avoidable = 0
    seconds = 0.0
    for call in calls:
        if call.bookkeeping:
            continue
        number += 1
        judged += call.status in JUDGED
        repeats += call.repeated
        reads += call.activity in _READS
        rereads += call.reread
        if call.status in FAILURES:
            failures += 1
            mistakes += call.cause == "mistake"
            avoidable += call.cause != "finding"
            recovered += call.recovered_in is not None
            seconds += call.lost_seconds
            tokens += call.lost_tokens
    timed = number if seconds > 0 or not avoidable else 0
    return Counts(
        number, judged, failures, mistakes, recovered, repeats, reads, rereads, seconds, tokens, avoidable, timed
    )
