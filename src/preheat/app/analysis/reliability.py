"""How reliable agents were: error rates, repeated mistakes, comparisons, compactions, from the archive's analysed rows.

Knows nothing of how an answer is shown.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from preheat.agents import agents_with_waits
from preheat.app.agents import title_of
from preheat.app.analysis.assessment import assess, judge
from preheat.app.analysis.one_pass import analyse_archive
from preheat.app.lazy import LazyModule
from preheat.app.sessions.archive import load_session
from preheat.archive import judgements, notes
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.queries import find_session, list_children, list_sessions
from preheat.errors import NotFound, UserError
from preheat.files import write_atomically
from preheat.lessons.dead_ends import BUILD_DEAD_END_MEMORY, AttemptNotes
from preheat.lessons.repairs import LEARN_REPAIR_PATTERNS
from preheat.mistakes import recurring
from preheat.mistakes.failure import MISTAKE_CAUSES
from preheat.mistakes.tries import MistakenCall, RepairNotes
from preheat.model.comparison import COMPARED_CALLS, PRESERVED_MARGIN, CompactionCheck, Comparison
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.mistake import MistakeCost, Mistakes
from preheat.model.outcome import Cause
from preheat.model.population import MOST_CELLS, Population
from preheat.model.profile import SessionProfile
from preheat.model.progress import SILENT, Progress
from preheat.model.session import Session, ToolKind, UserMessage
from preheat.profiles import trace
from preheat.profiles.comparison import Counts, count_calls
from preheat.reports import PageContext, render_page

if TYPE_CHECKING:
    from preheat.profiles import compaction as _compaction
    from preheat.profiles import comparison as _comparison
    from preheat.profiles import population as _population
    from preheat.profiles.compaction import BoundaryCalls
else:
    # They load numpy and scipy, which takes longer than most answers here.
    _compaction = LazyModule("preheat.profiles.compaction")
    _comparison = LazyModule("preheat.profiles.comparison")
    _population = LazyModule("preheat.profiles.population")

# Compactions in chains of sessions: whether work went on as well after them as before.
_CONTINUATIONS = ("compaction", "continuation")
"""Relations of a session that goes on with the work of its parent."""


class CheckedCompactions(NamedTuple):
    """Whether work went on as well after compactions as before, and which sessions could not be read."""

    check: CompactionCheck
    unreadable: list[str]


def check_compactions(
    connection: ArchiveConnection,
    which: SessionSummary | SessionFilter,
    margin: float,
    size: int,
    progress: Progress = SILENT,
) -> CheckedCompactions:
    """Check the compactions of one session, or of all chosen ones."""
    loader = CompactionLoader(connection, size, progress)
    boundaries = loader.find_in_session(which) if isinstance(which, SessionSummary) else list(loader.find_in_all(which))
    return CheckedCompactions(_compaction.check_boundaries(boundaries, margin, size), loader.unreadable)


class CompactionLoader:
    """Loads sessions with compactions from the archive, and notes which of them could not be read."""

    def __init__(self, connection: ArchiveConnection, size: int, progress: Progress = SILENT) -> None:
        self._connection = connection
        self._size = size
        self._progress = progress
        self.unreadable: list[str] = []

    def find_in_session(self, summary: SessionSummary) -> "list[BoundaryCalls]":
        """The compactions within a session, before it (from its parent) and after it (to its continuations)."""
        before = self._parent(summary)
        after = [child for child in list_children(self._connection, summary) if child.relation in _CONTINUATIONS]
        chain_start = [summary] if before is None else [before, summary]
        found: list[BoundaryCalls] = []
        for chain in [[*chain_start, child] for child in after] or [chain_start]:
            places = {(each.session, each.child, each.number) for each in found}
            for boundary in self._boundaries(chain):
                concerns_it = summary.key in (boundary.session, boundary.child)
                if concerns_it and (boundary.session, boundary.child, boundary.number) not in places:
                    found.append(boundary)
        return found

    def find_in_all(self, chosen: SessionFilter) -> "Iterator[BoundaryCalls]":
        """The compactions of all chosen sessions."""
        found = list_sessions(self._connection, chosen)
        known = {(each.agent, each.session): each for each in found}
        continuations: defaultdict[str, list[SessionSummary]] = defaultdict(list)
        for each in found:
            parent = known.get((each.agent, each.parent)) if each.parent and each.relation in _CONTINUATIONS else None
            if parent is not None:
                continuations[parent.key].append(each)
        continued = {child.key for group in continuations.values() for child in group}
        roots = [
            each for each in found if each.key not in continued and (each.compactions or each.key in continuations)
        ]
        self._progress.begin("Checking", len(roots))
        try:
            for each in roots:
                yield from self._chain_boundaries(each, continuations)
                self._progress.advance()
        finally:
            self._progress.end()

    def _chain_boundaries(
        self, root: SessionSummary, continuations: dict[str, list[SessionSummary]]
    ) -> "Iterator[BoundaryCalls]":
        """The compactions in all chains that begin with a session, each one once."""
        chains = [[root]]
        seen: set[tuple[str, str | None, int]] = set()
        while chains:
            chain = chains.pop()
            while following := continuations.get(chain[-1].key, []):
                if len(chain) > len(continuations):
                    break  # sessions that name each other as parents
                chains += [[*chain, other] for other in following[1:]]
                chain = [*chain, following[0]]
            for boundary in self._boundaries(chain):
                place = (boundary.session, boundary.child, boundary.number)
                if place not in seen:
                    seen.add(place)
                    yield boundary

    def _boundaries(self, chain: list[SessionSummary]) -> "list[BoundaryCalls]":
        try:
            loaded = [load_session(self._connection, each.key) for each in chain]
        except UserError as error:
            self.unreadable.append(str(error))
            return []
        traced = [
            _compaction.TracedSession(each.key, session, trace(session, judge(session)))
            for each, session in zip(chain, loaded, strict=True)
        ]
        return list(_compaction.find_boundaries(traced, self._size))

    def _parent(self, summary: SessionSummary) -> SessionSummary | None:
        if not summary.parent or summary.relation not in _CONTINUATIONS:
            return None
        try:
            return find_session(self._connection, f"{summary.agent}:{summary.parent}")
        except NotFound:
            return None


# Rates, repeated mistakes and comparisons.
_LONGEST_TITLE = 100


def population(connection: ArchiveConnection, chosen: SessionFilter, top: int | None = MOST_CELLS) -> Population:
    """Error rates of the chosen sessions, over all and by group."""
    return _population.measure_population(
        judgements.judged_sessions(connection, chosen), judgements.judged_calls(connection, chosen), top
    )


def mistakes(
    connection: ArchiveConnection,
    chosen: SessionFilter,
    causes: Sequence[Cause] = (),
    by: MistakeCost = "calls",
    min_sessions: int = 2,
) -> Mistakes:
    """Mistakes that several of the chosen sessions made; those of the agent and of the environment unless causes are given."""
    failures = list(judgements.failed_calls(connection, chosen))
    keys = {failure.key for failure in failures}
    found = recurring.find_mistakes(
        failures,
        by=by,
        min_sessions=min_sessions,
        causes=causes or MISTAKE_CAUSES,
        notes_of=_repairs_tried(connection, keys),
        alternatives_of=_commands_used_instead(connection, keys),
    )
    if causes:
        return found
    waited = [*judgements.denied_calls(connection, chosen), *_answered_calls(connection, chosen)]
    return msgspec.structs.replace(found, waits=recurring.add_up_waits(waited))


def _answered_calls(
    connection: ArchiveConnection, chosen: SessionFilter
) -> Iterator[tuple[str, str, ToolKind, str, float | None]]:
    """The calls that a person allowed after a while, of the agents whose transcripts record that."""
    agents, learner = agents_with_waits(), LEARN_REPAIR_PATTERNS
    decoder = msgspec.msgpack.Decoder(RepairNotes)
    keys = [each.key for each in judgements.judged_sessions(connection, chosen) if each.agent in agents]
    stored = notes.load_session_notes(connection, keys, learner.name, learner.version)
    for key in keys:
        data = stored.get(key)
        for each in decoder.decode(data).waits if data else ():
            yield key, each.tool, each.kind, each.summary, each.seconds


def _repairs_tried(connection: ArchiveConnection, keys: set[str]) -> recurring.NotesOf:
    """Looks up what was tried after each mistake of these sessions, in the notes of the learner of repairs."""
    learner = LEARN_REPAIR_PATTERNS
    decoder = msgspec.msgpack.Decoder(RepairNotes)
    stored = notes.load_session_notes(connection, keys, learner.name, learner.version)

    @cache
    def notes_of(session: str) -> dict[int, MistakenCall]:
        data = stored.get(session)
        return {each.seq: each for each in decoder.decode(data).mistakes} if data else {}

    return notes_of


def _commands_used_instead(connection: ArchiveConnection, keys: set[str]) -> recurring.AlternativesOf:
    """Looks up for which command each failed one of these sessions was given up, in the notes of the learner of dead ends."""
    learner = BUILD_DEAD_END_MEMORY
    decoder = msgspec.msgpack.Decoder(AttemptNotes)
    stored = notes.load_session_notes(connection, keys, learner.name, learner.version)

    @cache
    def alternatives_of(session: str) -> dict[int, str]:
        data = stored.get(session)
        return {each.seq: each.instead for each in decoder.decode(data).failed} if data else {}

    return alternatives_of


def compare_sessions(connection: ArchiveConnection, a: str, b: str) -> Comparison:
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
    connection: ArchiveConnection, a: tuple[str, SessionFilter], b: tuple[str, SessionFilter]
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


def _counts(connection: ArchiveConnection, wanted: SessionFilter) -> dict[int, Counts]:
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
    ) -> CheckedCompactions:
        """Whether work went on as well after compactions as before: in one session by name, or in all chosen ones."""
        with closing(connect(self._folder)) as connection:
            found = find_session(connection, which) if isinstance(which, str) else which
            return check_compactions(connection, found, margin, size, progress)

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
        return _save(path, render_page(population, context))

    def _open_archive(self) -> closing[ArchiveConnection]:
        if self._analyse:
            analyse_archive(self._folder)
        return closing(connect(self._folder))


def _label_of(filters: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in filters.items()) or "all"


def _save(path: str, text: str) -> bool:
    """Write a file whole or not at all; whether it replaced one."""
    replaces = os.path.exists(path)
    try:
        write_atomically(path, text.encode(), like=path)
    except OSError as error:
        raise UserError(f"cannot write `{path}`: {error.strerror or error}") from error
    return replaces
