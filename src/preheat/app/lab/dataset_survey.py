"""Surveys the archive for a dataset: collects names that must not be published, and measures the chosen sessions.

Knows nothing of files (`app.lab.dataset` does).
"""

import os
import re
import socket
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, get_args

import msgspec

from preheat.agents import AGENTS
from preheat.agents.tool_names import well_known_tools
from preheat.app.analysis.one_pass import assess
from preheat.app.analysis.scorecard import count_facts
from preheat.app.sessions.archive import load_session
from preheat.app.sessions.transcripts import compress_all
from preheat.archive.analyses import PendingSession, SourceGroup, find_sessions, load_group
from preheat.archive.database import ArchiveConnection
from preheat.archive.projects import load_places
from preheat.archive.queries import list_sessions
from preheat.calls.shell import command_form
from preheat.commands import Purpose, command_text
from preheat.commands.programs import FAMILIES, PROGRAMS, TASK_RUNNERS, TRIVIAL
from preheat.compress.view import MARKER_KINDS
from preheat.errors import PreheatError
from preheat.ingest.stored_sessions import UnreadableSession, process_groups, process_sessions, read_group
from preheat.lab.dataset.leaks import words
from preheat.lab.dataset.names import Name, Names, names_in_heading, names_in_text
from preheat.lab.dataset.rows import SessionRow, Share, Shortened, dataset_schema
from preheat.lab.dataset.session_rows import LiveMeasures, measure_session
from preheat.lab.dataset.vocabulary import Vocabulary
from preheat.live.advice import step
from preheat.live.events import events_of
from preheat.live.scorecard import DIMENSIONS, compute_scorecard
from preheat.live.state import START
from preheat.model.analysis import Assessment
from preheat.model.listing import SessionFilter
from preheat.model.live import PHASES, CallEvent
from preheat.model.outcome import CAUSES, RUNGS, STATUSES
from preheat.model.profile import CallRecord
from preheat.model.progress import SILENT, Progress
from preheat.model.session import AssistantMessage, Event, Session, ToolCall, ToolKind, pair_calls_with_results
from preheat.programs import ask_git
from preheat.projects.folders import folder_name, main_folder

_SEPARATORS = re.compile(r"[\W_]+")


class Projects:
    """Which project a folder belongs to. Folders of the same name count as one project: when projects are counted for
    anonymity, none may count twice."""

    def __init__(self, connection: ArchiveConnection) -> None:
        self._roots = {each.folder: each.place.root for each in load_places(connection) if each.is_analysed}

    def project_of(self, folder: str) -> str:
        """The project of a folder; empty for a home folder, which is no project."""
        root = self._roots[folder] if folder in self._roots else main_folder(folder)
        return self.normalise(root)

    def normalise(self, name: str) -> str:
        """The project by its name or root."""
        return _SEPARATORS.sub("", folder_name(name)).casefold() if name else ""


class MeasuredSession(NamedTuple):
    """A session's row with its real names in it, and its calls."""

    row: SessionRow
    models: list[str]
    calls: list[tuple[CallRecord, str]]
    """Each call with the form of its shell command."""


class Survey(NamedTuple):
    """The result of a survey."""

    names: Names
    rows: list[SessionRow]
    vocabulary: Vocabulary
    unreadable: list[str]
    """Keys of chosen sessions that cannot be read, with the reasons."""
    unread: int
    """Other sessions that cannot be read: names that only they contain are not known."""


class _SessionNames(NamedTuple):
    """The names in one session, and its measures if it is chosen."""

    key: str
    names: list[Name]
    measured: MeasuredSession | None
    """None if the session is not chosen."""


class _GroupResult(NamedTuple):
    """The sessions of one group of sources."""

    sessions: list[bytes]
    """Encoded one by one: a session that cannot be encoded fails alone."""
    failures: list[UnreadableSession]


_GROUP_DECODER, _SESSION_DECODER = msgspec.msgpack.Decoder(_GroupResult), msgspec.msgpack.Decoder(_SessionNames)


def survey(
    connection: ArchiveConnection,
    chosen: Collection[str],
    projects: Projects,
    least: int,
    allowed: Iterable[str] = (),
    progress: Progress = SILENT,
) -> Survey:
    """Read every session of the archive once, for its names; measure the chosen ones."""
    names: set[Name] = set(_names_of_this_machine())
    summaries = list_sessions(connection, SessionFilter())
    for summary in summaries:
        names.update(names_in_heading(summary.project, summary.branch))
    measured_sessions: list[MeasuredSession] = []
    failures: dict[str, str] = {}
    progress.begin("Reading", len(summaries), "sessions")
    for session_names in _search_sessions(connection, {each.key for each in summaries}, frozenset(chosen), failures):
        names.update(session_names.names)
        measured_sessions += [session_names.measured] if session_names.measured is not None else []
        progress.advance()
    progress.end()
    vocabulary = Vocabulary(least, well_known_tools())
    measured_sessions.sort(key=lambda each: (each.row.agent, each.row.session))  # in any number of processes
    for each in measured_sessions:
        _add_to_vocabulary(vocabulary, projects.project_of(each.row.project or ""), each)
    unreadable = [f"{key}: {failures[key]}" for key in sorted(failures) if key in chosen]
    rows = [each.row for each in measured_sessions]
    return Survey(names_to_search(names, allowed), rows, vocabulary, unreadable, len(failures) - len(unreadable))


def _search_sessions(
    connection: ArchiveConnection, keys: set[str], chosen: frozenset[str], failures: dict[str, str]
) -> Iterator[_SessionNames]:
    """Search every session, each source read once, in several processes if there are many."""
    unseen = set(keys)
    for group in process_groups(
        connection, find_sessions(connection, keys), partial(_search_group, chosen), _GROUP_DECODER
    ):
        failures.update((each.key, each.why) for each in group.failures)
        for data in group.sessions:
            session_names = _SESSION_DECODER.decode(data)
            unseen.discard(session_names.key)
            yield session_names
    for key in sorted(unseen.difference(failures)):  # a sync has changed these meanwhile
        try:
            yield _search_session(key, load_session(connection, key), key in chosen)
        except PreheatError as error:
            failures[key] = str(error)


def _search_group(chosen: frozenset[str], group: SourceGroup) -> _GroupResult:
    """Search one group of sources, in a worker process."""

    def search(pending: PendingSession, session: Session) -> bytes:
        return msgspec.msgpack.encode(_search_session(pending.key, session, pending.key in chosen))

    return _GroupResult(*process_sessions(group, search, "search for names"))


def _search_session(key: str, session: Session, chosen: bool) -> _SessionNames:
    names = {name for text in session_texts(session) for name in names_in_text(text)}
    return _SessionNames(key, list(names), measure(session) if chosen else None)


# Measures.
def measure(session: Session) -> MeasuredSession:
    """Everything that a dataset counts of a session."""
    assessed = assess(session)
    models = {session.model, *(event.model for event in session.events if isinstance(event, AssistantMessage))}
    by_seq = {record.seq: record for record in assessed.records}
    calls = [
        (by_seq[seq], _form_of(call)) for seq, (call, _) in enumerate(pair_calls_with_results(session)) if seq in by_seq
    ]
    row = measure_session(session, assessed.profile, assessed.records, _measure_live(session, assessed))
    return MeasuredSession(row, sorted(models - {""}), calls)


def _form_of(call: ToolCall) -> str:
    """The form of a shell command; empty for other calls."""
    return command_form(command_text(call.input)) if call.kind == "shell" else ""


def _measure_live(session: Session, assessed: Assessment) -> LiveMeasures:
    card = compute_scorecard(count_facts(session, assessed))
    phases, changes = _count_phases(session, assessed)
    shortened = {
        each.strategy: Shortened(
            each.ratio, {sort: Share(kept.kept, kept.total) for sort, kept in each.markers.items()}
        )
        for each in compress_all(session)
        if each.strategy != "none"
    }
    scores: dict[str, float | None] = {score.dimension: score.value for score in card.scores}
    rules: Counter[str] = Counter()
    for rule in card.facts.rules:
        rules[rule.rule] += rule.times
    return LiveMeasures(phases, changes, {**scores, "mean": card.mean}, rules, shortened)


def _count_phases(session: Session, assessed: Assessment) -> tuple[dict[str, int], int]:
    """The number of calls in each phase, and how often the phase changed."""
    state = START
    counted: Counter[str] = Counter()
    changes = 0
    for event in events_of(session, assessed.records):
        before = state.phase.phase
        state, _ = step(state, event)
        changes += state.phase.phase != before
        if isinstance(event, CallEvent):
            counted[state.phase.phase] += 1
    return dict(counted), changes


def call_outcomes(session: Session) -> list[dict[str, Any]]:
    """The outcome of each call, in order: a trajectory without texts does not show it."""
    return [
        {
            "status": record.status,
            "rung": record.rung,
            "activity": record.activity,
            **({"cause": record.cause} if record.cause else {}),
        }
        for record in assess(session).records
    ]


def _add_to_vocabulary(vocabulary: Vocabulary, project: str, found: MeasuredSession) -> None:
    vocabulary.add_session(project, found.row.agent, found.row.agent_version, found.models)
    for record, form in found.calls:
        vocabulary.add_call(project, record, form)


def load_sessions(connection: ArchiveConnection, keys: Collection[str]) -> Iterator[tuple[str, Session]]:
    """Sessions by their keys, in any order, each source read once. Raises if a session cannot be read."""
    missing = set(keys)
    for group in find_sessions(connection, keys).groups:
        for pending, session, _ in read_group(load_group(connection, group)):
            if session is not None:
                missing.discard(pending.key)
                yield pending.key, session
    for key in sorted(missing):
        yield key, load_session(connection, key)


def names_to_search(found: Iterable[Name], allowed: Iterable[str] = ()) -> Names:
    """The names to search for, without words of tools, programs and the dataset's own pages."""
    programs = {*PROGRAMS, *FAMILIES, *TASK_RUNNERS, *TRIVIAL}
    subcommands = {word for family in FAMILIES.values() for word in family.subcommands}
    tool_words = words(" ".join((*programs, *subcommands, *_words_of_names(well_known_tools()))))
    enumerated = (
        *STATUSES,
        *RUNGS,
        *CAUSES,
        *PHASES,
        *DIMENSIONS,
        *MARKER_KINDS,
        *get_args(ToolKind),
        *get_args(Purpose),
    )
    dataset_words = words(" ".join((*AGENTS, *enumerated, *allowed, msgspec.json.encode(dataset_schema()).decode())))
    return Names(found, tool_words, dataset_words)


def _words_of_names(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield name
        yield from re.findall(r"[A-Z]?[a-z]+", name)


def session_texts(session: Session) -> Iterator[str]:
    """All texts of a session."""
    yield session.title
    for problem in session.problems:
        yield str(problem)
    for event in session.events:
        yield from _event_texts(event)


def _event_texts(event: Event) -> Iterator[str]:
    for name in event.__struct_fields__:
        value: Any = getattr(event, name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list | tuple) and value:
            try:
                yield msgspec.json.encode(value).decode()
            except (TypeError, UnicodeEncodeError):
                yield repr(value)


def _names_of_this_machine() -> Iterator[Name]:
    """The names of the account, of this machine and of git's author here."""
    account = os.path.basename(os.path.expanduser("~"))
    yield Name("person", account)
    yield Name("host", socket.gethostname())
    for setting in ("user.name", "user.email"):
        if value := ask_git(os.sep, "config", "--global", setting):
            yield from names_in_text(f"user.name={value}\n" if setting == "user.name" else value)
