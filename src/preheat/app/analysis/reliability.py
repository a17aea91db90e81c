"""What can be asked of a judged archive: reliability, repeated mistakes, comparisons, compactions.

Knows nothing of how an answer is shown.
"""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from preheat.app.agents import title_of
from preheat.app.analysis.assessment import assess, judge
from preheat.app.analysis.one_pass import analyse_archive
from preheat.app.later import Later
from preheat.app.sessions.archive import load
from preheat.archive import judgements, notes
from preheat.archive.connect import connect
from preheat.archive.queries import find
from preheat.errors import UserError
from preheat.files import AS_USUAL, write_whole
from preheat.lessons.repairs import LEARN_REPAIR_PATTERNS
from preheat.mistakes import recurring
from preheat.mistakes.identity import MISTAKEN
from preheat.mistakes.tries import Mistaken, Notes
from preheat.model.comparison import MARGIN, WINDOW, Comparison
from preheat.model.listing import Filter
from preheat.model.mistake import CostBy, Mistakes
from preheat.model.outcome import Cause
from preheat.model.population import TOP, Population
from preheat.model.profile import SessionProfile
from preheat.model.progress import SILENT, Progress
from preheat.model.session import Session, UserMessage
from preheat.profiles import trace
from preheat.profiles.counts import Counts, count_calls
from preheat.reports import Context, page

if TYPE_CHECKING:
    from preheat.app.analysis import compactions as _compactions
    from preheat.profiles import comparison as _comparison
    from preheat.profiles import population as _population
else:
    # Numpy and scipy, which nothing else here needs and which take longer than most answers.
    _compactions = Later("preheat.app.analysis.compactions")
    _comparison = Later("preheat.profiles.comparison")
    _population = Later("preheat.profiles.population")

_LONGEST_TITLE = 100


def population(connection: sqlite3.Connection, chosen: Filter, top: int | None = TOP) -> Population:
    """How reliable agents were over the chosen sessions."""
    return _population.population(judgements.sessions(connection, chosen), judgements.calls(connection, chosen), top)


def mistakes(
    connection: sqlite3.Connection,
    chosen: Filter,
    causes: Sequence[Cause] = (),
    by: CostBy = "calls",
    min_sessions: int = 2,
) -> Mistakes:
    """The mistakes that the chosen sessions repeat; mistake and environment unless other causes are given."""
    return recurring.mistakes(
        judgements.failures(connection, chosen),
        by=by,
        min_sessions=min_sessions,
        causes=causes or MISTAKEN,
        noted=_noted_mistakes(connection),
    )


def _noted_mistakes(connection: sqlite3.Connection) -> recurring.NotedIn:
    """What was tried after the mistakes of a session, as the learner of repairs has noted it."""
    learner = LEARN_REPAIR_PATTERNS
    decoder = msgspec.msgpack.Decoder(Notes)

    @cache
    def noted(session: str) -> dict[int, Mistaken]:
        data = notes.of_session(connection, session, learner.name, learner.version)
        return {each.seq: each for each in decoder.decode(data).mistakes} if data else {}

    return noted


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
    return _comparison.compare_sessions(sides[0], sides[1])


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
    return _comparison.compare_sets((labels[0], list(left.values())), (labels[1], list(right.values())), len(shared))


def _counts(connection: sqlite3.Connection, wanted: Filter) -> dict[int, Counts]:
    """The counts of every chosen session that has calls."""
    facts = judgements.calls(connection, wanted)
    counted = {session: count_calls(group) for session, group in groupby(facts, lambda call: call.session)}
    return {session: counts for session, counts in counted.items() if counts.calls}


class Reliability:
    """What can be asked of the archive in a folder; what is new there is judged first."""

    def __init__(self, folder: str, analyse: bool = True) -> None:
        self._folder = folder
        self._analyse = analyse

    def as_analysed(self) -> "Reliability":
        """The same of what is analysed by now: nothing new is looked at first."""
        return Reliability(self._folder, analyse=False)

    def profile(self, name: str) -> SessionProfile:
        """One session, measured."""
        with self._judged() as connection:
            key = find(connection, name).key
            stored = judgements.profile_of(connection, key)
            return assess(load(connection, key)).profile if stored is None else stored

    def population(self, chosen: Filter, top: int | None = TOP) -> Population:
        """How reliable agents were over the chosen sessions; of each group the `top` most used."""
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
        if isinstance(a, str) and isinstance(b, str):
            return self.compare_sessions(a, b)
        if isinstance(a, dict) and isinstance(b, dict):
            return self.compare_sets((_name_of(a), Filter(**a)), (_name_of(b), Filter(**b)))
        raise UserError("compare two sessions by name, or two sets by their filters, not one of each")

    def compare_sessions(self, a: str, b: str) -> Comparison:
        """Two sessions, by their names."""
        with self._judged() as connection:
            return compare_sessions(connection, a, b)

    def compare_sets(self, a: tuple[str, Filter], b: tuple[str, Filter]) -> Comparison:
        """Two sets of sessions, each with a name. A session that is in both counts in the smaller one only."""
        with self._judged() as connection:
            return compare_sets(connection, a, b)

    def compactions(
        self, which: str | Filter, margin: float = MARGIN, size: int = WINDOW, progress: Progress = SILENT
    ) -> "_compactions.CheckedCompactions":
        """Whether work went on as well after compactions as before: of one session by its name, or of all the chosen ones."""
        connection = connect(self._folder)
        try:
            found = find(connection, which) if isinstance(which, str) else which
            return _compactions.checked(connection, found, margin, size, progress)
        finally:
            connection.close()

    def write_report(
        self, path: str, measured: Population, chosen: Filter, about: str, project: Callable[[str], str] = str
    ) -> bool:
        """Write what was measured of the chosen sessions as a page, whole or not at all; whether a file was replaced.

        `about` says in words which they are, `project` how a project is named."""
        with self._judged() as connection:
            rungs: Counter[str] = Counter()
            for profile in judgements.profiles(connection, chosen):
                rungs.update(profile.rungs)
            repeated_ones = mistakes(connection, chosen).mistakes
        made = f"Preheat, {time.strftime('%Y-%m-%d %H:%M')}"
        context = Context(made, about, repeated_ones, rungs, title_of, project)
        return _save(path, page(measured, context))

    @contextmanager
    def _judged(self) -> Iterator[sqlite3.Connection]:
        if self._analyse:
            analyse_archive(self._folder)
        connection = connect(self._folder)
        try:
            yield connection
        finally:
            connection.close()


def _name_of(filters: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in filters.items()) or "all"


def _save(path: str, text: str) -> bool:
    """Beside its place first, then moved there: a reader never sees half a page."""
    there = os.path.exists(path)
    try:
        write_whole(path, text.encode(), mode=AS_USUAL)
    except OSError as error:
        raise UserError(f"cannot write `{path}`: {error.strerror or error}") from error
    return there
