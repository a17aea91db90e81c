"""What can be asked of a judged archive: reliability, repeated mistakes, comparisons, compactions.

Knows nothing of how an answer is shown. Heavy to import (statistics): whoever asks imports it then.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import Any

from preheat.app.analysis import analyse_archive
from preheat.app.assessment import assess, judge
from preheat.app.compactions import Loading
from preheat.app.sessions import load
from preheat.archive import judgements
from preheat.archive.connect import connect
from preheat.archive.queries import find
from preheat.archive.repairs import calls_between
from preheat.errors import UserError
from preheat.model.comparison import CompactionCheck, Comparison
from preheat.model.listing import Filter, Summary
from preheat.model.mistake import CostBy, Mistakes
from preheat.model.outcome import Cause
from preheat.model.population import Population
from preheat.model.profile import SessionProfile
from preheat.model.session import Session, UserMessage
from preheat.profiles import comparison, trace
from preheat.profiles import mistakes as repeated
from preheat.profiles.compaction import MARGIN, WINDOW, check
from preheat.profiles.counts import Counts, count_calls
from preheat.profiles.population import TOP
from preheat.profiles.population import population as measured

_LONGEST_TITLE = 100


def population(connection: sqlite3.Connection, chosen: Filter, top: int | None = TOP) -> Population:
    """How reliable agents were over the chosen sessions."""
    return measured(judgements.sessions(connection, chosen), judgements.calls(connection, chosen), top)


def mistakes(
    connection: sqlite3.Connection,
    chosen: Filter,
    causes: Sequence[Cause] = (),
    by: CostBy = "calls",
    min_sessions: int = 2,
) -> Mistakes:
    """The mistakes that the chosen sessions repeat; misuse and environment unless other causes are given."""
    return repeated.mistakes(
        judgements.failures(connection, chosen),
        by=by,
        min_sessions=min_sessions,
        causes=causes or repeated.MISTAKEN,
        steps=partial(calls_between, connection),
    )


def compare_sessions(connection: sqlite3.Connection, a: str, b: str) -> Comparison:
    """Two sessions, by their names."""
    found = [find(connection, name) for name in (a, b)]
    if found[0].key == found[1].key:
        raise UserError(f"`{a}` and `{b}` are the same session; name two")
    sides = []
    for summary, name in zip(found, (a, b), strict=True):
        session = load(connection, summary.key)
        records = trace(session, judge(session))
        if not any(not record.bookkeeping for record in records):
            raise UserError(f"`{name}` has no calls to compare")
        sides.append((f"{summary.session}  {_title(session)}", records))
    return comparison.compare_sessions(sides[0], sides[1])


def _title(session: Session) -> str:
    """Its title, else the first words a person said."""
    said = (event.text for event in session.events if isinstance(event, UserMessage) and event.origin == "human")
    flat = " ".join((session.title or next(filter(str.strip, said), "") or "(no title)").split())
    return flat if len(flat) <= _LONGEST_TITLE else flat[: _LONGEST_TITLE - 1].rstrip() + "…"


def compare_sets(connection: sqlite3.Connection, a: tuple[str, Filter], b: tuple[str, Filter]) -> Comparison:
    """Two sets of sessions, each with a name. A session that is in both counts in the smaller one only."""
    left, right = _counts(connection, a[1]), _counts(connection, b[1])
    for name, found in ((a[0], left), (b[0], right)):
        if not found:
            raise UserError(f"no session with calls fits `{name}`; `preheat sessions list` shows what there is")
    shared = left.keys() & right.keys()
    if len(shared) == len(left) == len(right):
        raise UserError(f"`{a[0]}` and `{b[0]}` are the same {len(shared):,} sessions; write two different sets")
    larger = left if len(left) > len(right) else right
    for session in shared:
        del larger[session]
    labels = [
        f"{name}, the others" if shared and found is larger else name for name, found in ((a[0], left), (b[0], right))
    ]
    return comparison.compare_sets((labels[0], list(left.values())), (labels[1], list(right.values())), len(shared))


def _counts(connection: sqlite3.Connection, wanted: Filter) -> dict[int, Counts]:
    """The counts of every chosen session that has calls."""
    facts = judgements.calls(connection, wanted)
    counted = {session: count_calls(group) for session, group in groupby(facts, lambda call: call.session)}
    return {session: counts for session, counts in counted.items() if counts.calls}


def compactions(
    connection: sqlite3.Connection, which: Summary | Filter, margin: float = MARGIN, size: int = WINDOW
) -> CompactionCheck:
    """Whether work went on as well after compactions as before: of one session, or of all the chosen ones."""
    loading = Loading(connection, size)
    found = loading.of_one(which) if isinstance(which, Summary) else loading.of_all(which)
    return check(found, margin, size)


class Reliability:
    """What can be asked of the archive in a folder; what is new there is judged first."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def profile(self, name: str) -> SessionProfile:
        """One session, measured."""
        with self._judged() as connection:
            key = find(connection, name).key
            stored = judgements.profile_of(connection, key)
            return assess(load(connection, key)).profile if stored is None else stored

    def population(self, chosen: Filter, top: int | None = TOP) -> Population:
        """How reliable agents were over the chosen sessions."""
        with self._judged() as connection:
            return population(connection, chosen, top)

    def mistakes(
        self, chosen: Filter, causes: Sequence[Cause] = (), by: CostBy = "calls", min_sessions: int = 2
    ) -> Mistakes:
        """The mistakes that the chosen sessions repeat."""
        with self._judged() as connection:
            return mistakes(connection, chosen, causes, by, min_sessions)

    def compare(self, a: str | dict[str, Any], b: str | dict[str, Any]) -> Comparison:
        """Two sessions by name, or two sets of sessions by their filters."""
        with self._judged() as connection:
            if isinstance(a, str) and isinstance(b, str):
                return compare_sessions(connection, a, b)
            if isinstance(a, dict) and isinstance(b, dict):
                return compare_sets(connection, (_name_of(a), Filter(**a)), (_name_of(b), Filter(**b)))
        raise UserError("compare two sessions by name, or two sets by their filters, not one of each")

    def compactions(self, which: str | Filter, margin: float = MARGIN, size: int = WINDOW) -> CompactionCheck:
        """Whether work went on as well after compactions as before: of one session by its name, or of all the chosen ones."""
        with self._judged() as connection:
            return compactions(connection, find(connection, which) if isinstance(which, str) else which, margin, size)

    @contextmanager
    def _judged(self) -> Iterator[sqlite3.Connection]:
        analyse_archive(self._folder, need="outcomes")
        connection = connect(self._folder)
        try:
            yield connection
        finally:
            connection.close()


def _name_of(filters: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in filters.items()) or "all"
