"""How reliable agents were: error rates, repeated mistakes, comparisons, compactions, from the archive's analysed rows.

Knows nothing of how an answer is shown.
"""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from preheat.app.agents import title_of
from preheat.app.analysis.assessment import assess, judge
from preheat.app.analysis.one_pass import analyse_archive
from preheat.app.later import LazyModule
from preheat.app.sessions.archive import load_session
from preheat.archive import judgements, notes
from preheat.archive.connect import connect
from preheat.archive.queries import find_session
from preheat.errors import UserError
from preheat.files import UMASK_DEFAULT, write_atomically
from preheat.lessons.repairs import LEARN_REPAIR_PATTERNS
from preheat.mistakes import recurring
from preheat.mistakes.identity import MISTAKE_CAUSES
from preheat.mistakes.tries import MistakenCall, RepairNotes
from preheat.model.comparison import COMPARED_CALLS, PRESERVED_MARGIN, Comparison
from preheat.model.listing import SessionFilter
from preheat.model.mistake import MistakeCost, Mistakes
from preheat.model.outcome import Cause
from preheat.model.population import MOST_CELLS, Population
from preheat.model.profile import SessionProfile
from preheat.model.progress import SILENT, Progress
from preheat.model.session import Session, UserMessage
from preheat.profiles import trace
from preheat.profiles.counts import Counts, count_calls
from preheat.reports import PageContext, page

if TYPE_CHECKING:
    from preheat.app.analysis import compactions as _compactions
    from preheat.profiles import comparison as _comparison
    from preheat.profiles import population as _population
else:
    # They load numpy and scipy, which takes longer than most answers here.
    _compactions = LazyModule("preheat.app.analysis.compactions")
    _comparison = LazyModule("preheat.profiles.comparison")
    _population = LazyModule("preheat.profiles.population")

_LONGEST_TITLE = 100


def population(connection: sqlite3.Connection, chosen: SessionFilter, top: int | None = MOST_CELLS) -> Population:
    """Error rates of the chosen sessions, over all and by group."""
    return _population.measure_population(
        judgements.judged_sessions(connection, chosen), judgements.judged_calls(connection, chosen), top
    )


def mistakes(
    connection: sqlite3.Connection,
    chosen: SessionFilter,
    causes: Sequence[Cause] = (),
    by: MistakeCost = "calls",
    min_sessions: int = 2,
) -> Mistakes:
    """Mistakes that several of the chosen sessions made; those of the agent and of the environment unless causes are given."""
    return recurring.find_mistakes(
        judgements.failed_calls(connection, chosen),
        by=by,
        min_sessions=min_sessions,
        causes=causes or MISTAKE_CAUSES,
        notes_of=_repairs_tried(connection),
    )


def _repairs_tried(connection: sqlite3.Connection) -> recurring.NotesOf:
    """Looks up what was tried after each mistake of a session, in the notes of the learner of repairs."""
    learner = LEARN_REPAIR_PATTERNS
    decoder = msgspec.msgpack.Decoder(RepairNotes)

    @cache
    def notes_of(session: str) -> dict[int, MistakenCall]:
        data = notes.load_session_notes(connection, session, learner.name, learner.version)
        return {each.seq: each for each in decoder.decode(data).mistakes} if data else {}

    return notes_of


def compare_sessions(connection: sqlite3.Connection, a: str, b: str) -> Comparison:
    """Compare two sessions by name."""
    summaries = [find_session(connection, name) for name in (a, b)]
    if summaries[0].key == summaries[1].key:
        raise UserError(f"`{a}` and `{b}` are the same session; name two")
    sides = []
    for summary, name in zip(summaries, (a, b), strict=True):
        session = load_session(connection, summary.key)
        records = trace(session, judge(session))
        if not any(not record.bookkeeping for record in records):
            raise UserError(f"`{name}` has no calls to compare")
        sides.append((f"{summary.session}  {_title(session)}", records))
    return _comparison.compare_sessions(sides[0], sides[1])


def _title(session: Session) -> str:
    """The title of a session, else its first prompt, shortened."""
    prompts = (event.text for event in session.events if isinstance(event, UserMessage) and event.origin == "human")
    title = " ".join((session.title or next(filter(str.strip, prompts), "") or "(no title)").split())
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"


def compare_sets(
    connection: sqlite3.Connection, a: tuple[str, SessionFilter], b: tuple[str, SessionFilter]
) -> Comparison:
    """Compare two sets of sessions, each with a label. A session in both counts in the smaller set only."""
    left, right = _counts(connection, a[1]), _counts(connection, b[1])
    for name, group in ((a[0], left), (b[0], right)):
        if not group:
            raise UserError(f"no session with calls fits `{name}`; `preheat sessions list` shows what there is")
    shared = left.keys() & right.keys()
    if len(shared) == len(left) == len(right):
        raise UserError(f"`{a[0]}` and `{b[0]}` are the same {len(shared):,} sessions; write two different sets")
    larger = left if len(left) > len(right) else right
    for session in shared:
        del larger[session]
    labels = [
        f"{name}, the others" if shared and group is larger else name for name, group in ((a[0], left), (b[0], right))
    ]
    return _comparison.compare_sets((labels[0], list(left.values())), (labels[1], list(right.values())), len(shared))


def _counts(connection: sqlite3.Connection, wanted: SessionFilter) -> dict[int, Counts]:
    """The call counts of every chosen session that has calls."""
    facts = judgements.judged_calls(connection, wanted)
    counts_by_session = {session: count_calls(group) for session, group in groupby(facts, lambda call: call.session)}
    return {session: counts for session, counts in counts_by_session.items() if counts.calls}


class Reliability:
    """Questions to the archive in a folder; new sessions are analysed first."""

    def __init__(self, folder: str, analyse: bool = True) -> None:
        self._folder = folder
        self._analyse = analyse

    def without_analysing(self) -> "Reliability":
        """The same questions, without analysing new sessions first."""
        return Reliability(self._folder, analyse=False)

    def profile(self, name: str) -> SessionProfile:
        """The profile of one session."""
        with self._open_archive() as connection:
            key = find_session(connection, name).key
            stored = judgements.load_profile(connection, key)
            return assess(load_session(connection, key)).profile if stored is None else stored

    def population(self, chosen: SessionFilter, top: int | None = MOST_CELLS) -> Population:
        """Error rates of the chosen sessions, over all and by group; of each group the `top` most used."""
        with self._open_archive() as connection:
            return population(connection, chosen, top)

    def mistakes(
        self, chosen: SessionFilter, causes: Sequence[Cause] = (), by: MistakeCost = "calls", min_sessions: int = 2
    ) -> Mistakes:
        """Mistakes that several of the chosen sessions made."""
        with self._open_archive() as connection:
            return mistakes(connection, chosen, causes, by, min_sessions)

    def compare(self, a: str | dict[str, Any], b: str | dict[str, Any]) -> Comparison:
        """Compare two sessions by name, or two sets of sessions by their filters."""
        if isinstance(a, str) and isinstance(b, str):
            return self.compare_sessions(a, b)
        if isinstance(a, dict) and isinstance(b, dict):
            return self.compare_sets((_label_of(a), SessionFilter(**a)), (_label_of(b), SessionFilter(**b)))
        raise UserError("compare two sessions by name, or two sets by their filters, not one of each")

    def compare_sessions(self, a: str, b: str) -> Comparison:
        """Compare two sessions by name."""
        with self._open_archive() as connection:
            return compare_sessions(connection, a, b)

    def compare_sets(self, a: tuple[str, SessionFilter], b: tuple[str, SessionFilter]) -> Comparison:
        """Compare two sets of sessions, each with a label. A session in both counts in the smaller set only."""
        with self._open_archive() as connection:
            return compare_sets(connection, a, b)

    def check_compactions(
        self,
        which: str | SessionFilter,
        margin: float = PRESERVED_MARGIN,
        size: int = COMPARED_CALLS,
        progress: Progress = SILENT,
    ) -> "_compactions.CheckedCompactions":
        """Whether work went on as well after compactions as before: in one session by name, or in all chosen ones."""
        with closing(connect(self._folder)) as connection:
            found = find_session(connection, which) if isinstance(which, str) else which
            return _compactions.check_compactions(connection, found, margin, size, progress)

    def write_report(
        self, path: str, population: Population, chosen: SessionFilter, about: str, project: Callable[[str], str] = str
    ) -> bool:
        """Write a report of the chosen sessions as a page, and return whether it replaced a file. `about` says in words which
        sessions they are, `project` gives the name to show for a project."""
        with self._open_archive() as connection:
            rungs: Counter[str] = Counter()
            for profile in judgements.session_profiles(connection, chosen):
                rungs.update(profile.rungs)
            repeated = mistakes(connection, chosen).mistakes
        made_by = f"Preheat, {time.strftime('%Y-%m-%d %H:%M')}"
        context = PageContext(made_by, about, repeated, rungs, title_of, project)
        return _save(path, page(population, context))

    def _open_archive(self) -> closing[sqlite3.Connection]:
        if self._analyse:
            analyse_archive(self._folder)
        return closing(connect(self._folder))


def _label_of(filters: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in filters.items()) or "all"


def _save(path: str, text: str) -> bool:
    """Write a file whole or not at all; whether it replaced one."""
    replaces = os.path.exists(path)
    try:
        write_atomically(path, text.encode(), mode=UMASK_DEFAULT)
    except OSError as error:
        raise UserError(f"cannot write `{path}`: {error.strerror or error}") from error
    return replaces
