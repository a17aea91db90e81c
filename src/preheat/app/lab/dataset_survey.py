"""Goes over the archive for a dataset: gathers the names that must not be told, and measures the sessions that are chosen, for
their rows and for what several projects may share.

Knows nothing of what is written where: that is `app.lab.dataset`.
"""

import os
import re
import socket
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, get_args

import msgspec

from preheat.agents import AGENTS
from preheat.agents.well_known import well_known_tools
from preheat.app.analysis.one_pass import assess
from preheat.app.analysis.scorecard import facts_of
from preheat.app.sessions.archive import load
from preheat.app.sessions.compression import compress_all
from preheat.archive.analyses import Gathered, Unanalysed, gather, listed
from preheat.archive.lessons import places
from preheat.archive.queries import sessions
from preheat.calls.form import command_form
from preheat.commands import Purpose, text_of
from preheat.commands.families import FAMILIES
from preheat.commands.programs import PROGRAMS, TASK_RUNNERS, TRIVIAL
from preheat.compress.values import SORTS
from preheat.errors import PreheatError
from preheat.ingest.rereading import Unreadable, over_groups, reread, sessions_of
from preheat.lab.dataset.leaks import words
from preheat.lab.dataset.markers import Watched, measured
from preheat.lab.dataset.names import Name, Names, in_heading, in_text
from preheat.lab.dataset.rows import SessionRow, Share, Shortened, schema
from preheat.lab.dataset.vocabulary import Vocabulary
from preheat.lessons.projects import last_part, root_of
from preheat.live.advise import step
from preheat.live.events import events_of
from preheat.live.scorecard import DIMENSIONS, scorecard
from preheat.live.state import START
from preheat.model.analysis import Assessment
from preheat.model.listing import Filter
from preheat.model.live import PHASES, Called
from preheat.model.outcome import CAUSES, RUNGS, STATUSES
from preheat.model.profile import CallRecord
from preheat.model.progress import SILENT, Progress
from preheat.model.session import AssistantMessage, Event, Session, ToolCall, ToolKind, joined

_JOINTS = re.compile(r"[\W_]+")
_GIT_SECONDS = 5


class Projects:
    """Which project a folder belongs to. Folders of one name are one project here, whoever's they are and however it is
    written: whoever counts projects to hide in must not count one twice."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._roots = {place.folder: place.root for place in places(connection)}

    def of(self, folder: str) -> str:
        """Empty where a session has none: a home folder is no project."""
        root = self._roots[folder] if folder in self._roots else root_of(folder)
        return self.named(root)

    def named(self, name: str) -> str:
        """The same by the name or root of a project."""
        return _JOINTS.sub("", last_part(name)).casefold() if name else ""


class Measured(NamedTuple):
    """A session's row with its own names in it, and its calls."""

    row: SessionRow
    models: list[str]
    calls: list[tuple[CallRecord, str]]
    """Each with the form of its shell command."""


class Survey(NamedTuple):
    """What was found."""

    names: Names
    rows: list[SessionRow]
    vocabulary: Vocabulary
    unreadable: list[str]
    """Keys and reasons, of the chosen sessions."""
    unread: int
    """Other sessions that cannot be read: names that only they tell are not known."""


class _Looked(NamedTuple):
    """What one session gives."""

    key: str
    names: list[Name]
    measured: Measured | None
    """Of those that are chosen."""


class _Found(NamedTuple):
    """What became of a group."""

    looked: list[bytes]
    """Encoded where they were looked at: one that cannot be fails alone."""
    failures: list[Unreadable]


_FOUND, _LOOKED = msgspec.msgpack.Decoder(_Found), msgspec.msgpack.Decoder(_Looked)


def survey(
    connection: sqlite3.Connection,
    chosen: Collection[str],
    projects: Projects,
    least: int,
    allowed: Iterable[str] = (),
    progress: Progress = SILENT,
) -> Survey:
    """Read every session of the archive once: the chosen ones are measured, and all of them give names away."""
    names: set[Name] = set(_of_this_machine())
    every = sessions(connection, Filter())
    for summary in every:
        names.update(in_heading(summary.project, summary.branch))
    found: list[Measured] = []
    failures: dict[str, str] = {}
    progress.begin("Reading", len(every), "sessions")
    for looked in _over(connection, {each.key for each in every}, frozenset(chosen), failures):
        names.update(looked.names)
        found += [looked.measured] if looked.measured is not None else []
        progress.advance()
    progress.end()
    vocabulary = Vocabulary(least, well_known_tools())
    found.sort(key=lambda each: (each.row.agent, each.row.session))  # however many processes read them
    for each in found:
        _learn(vocabulary, projects.of(each.row.project or ""), each)
    unreadable = [f"{key}: {failures[key]}" for key in sorted(failures) if key in chosen]
    rows = [each.row for each in found]
    return Survey(known(names, allowed), rows, vocabulary, unreadable, len(failures) - len(unreadable))


def _over(
    connection: sqlite3.Connection, keys: set[str], chosen: frozenset[str], failures: dict[str, str]
) -> Iterator[_Looked]:
    """What each session gives, each source read once and side by side if there is enough to do."""
    missing = set(keys)
    for found in over_groups(connection, listed(connection, keys), partial(_look_over, chosen), _FOUND):
        failures.update((each.key, each.why) for each in found.failures)
        for data in found.looked:
            looked = _LOOKED.decode(data)
            missing.discard(looked.key)
            yield looked
    for key in sorted(missing.difference(failures)):  # a sync has changed them meanwhile: nobody in them may be missed
        try:
            yield _look(key, load(connection, key), key in chosen)
        except PreheatError as error:
            failures[key] = str(error)


def _look_over(chosen: frozenset[str], group: Gathered) -> _Found:
    """At the top of the module: it goes to other processes by its name."""

    def encoded(of: Unanalysed, session: Session) -> bytes:
        return msgspec.msgpack.encode(_look(of.key, session, of.key in chosen))

    return _Found(*reread(group, encoded, "search for names"))


def _look(key: str, session: Session, chosen: bool) -> _Looked:
    names = {name for text in texts(session) for name in in_text(text)}
    return _Looked(key, list(names), measure(session) if chosen else None)


# What a dataset counts of a session.
def measure(session: Session) -> Measured:
    """All that a dataset counts of a session."""
    assessed = assess(session)
    models = {session.model, *(event.model for event in session.events if isinstance(event, AssistantMessage))}
    by_seq = {record.seq: record for record in assessed.records}
    calls = [(by_seq[seq], _form_of(call)) for seq, (call, _) in enumerate(joined(session)) if seq in by_seq]
    row = measured(session, assessed.profile, assessed.records, _watched(session, assessed))
    return Measured(row, sorted(models - {""}), calls)


def _form_of(call: ToolCall) -> str:
    """The form of a shell command; empty for other calls."""
    return command_form(text_of(call.input)) if call.kind == "shell" else ""


def _watched(session: Session, assessed: Assessment) -> Watched:
    card = scorecard(facts_of(session, assessed))
    phases, changes = _phases(session, assessed)
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
    return Watched(phases, changes, {**scores, "mean": card.mean}, rules, shortened)


def _phases(session: Session, assessed: Assessment) -> tuple[dict[str, int], int]:
    """How many calls were made in each phase, and how often it changed."""
    state = START
    counted: Counter[str] = Counter()
    changes = 0
    for event in events_of(session, assessed.records):
        before = state.phase.phase
        state, _ = step(state, event)
        changes += state.phase.phase != before
        if isinstance(event, Called):
            counted[state.phase.phase] += 1
    return dict(counted), changes


def outcomes(session: Session) -> list[dict[str, Any]]:
    """What came of each call, in their order: a reader of a trajectory without texts could not tell."""
    return [
        {
            "status": record.status,
            "rung": record.rung,
            "activity": record.activity,
            **({"cause": record.cause} if record.cause else {}),
        }
        for record in assess(session).records
    ]


def _learn(vocabulary: Vocabulary, project: str, found: Measured) -> None:
    vocabulary.add_session(project, found.row.agent, found.row.agent_version, found.models)
    for record, form in found.calls:
        vocabulary.add_call(project, record, form)


def loaded(connection: sqlite3.Connection, keys: Collection[str]) -> Iterator[tuple[str, Session]]:
    """Sessions by their keys, in no order: each source is read once for all of its own. Raises if one cannot be read."""
    missing = set(keys)
    for group in listed(connection, keys).groups:
        for of, session, _ in sessions_of(gather(connection, group)):
            if session is not None:
                missing.discard(of.key)
                yield of.key, session
    for key in sorted(missing):
        yield key, load(connection, key)


def known(found: Iterable[Name], allowed: Iterable[str] = ()) -> Names:
    """The names to look for, without what is everybody's: words of tools, programs, forms, and of every export's pages."""
    programs = {*PROGRAMS, *FAMILIES, *TASK_RUNNERS, *TRIVIAL}
    told = {word for family in FAMILIES.values() for word in family.subcommands}
    soft = words(" ".join((*programs, *told, *_split(well_known_tools()))))
    enumerated = (*STATUSES, *RUNGS, *CAUSES, *PHASES, *DIMENSIONS, *SORTS, *get_args(ToolKind), *get_args(Purpose))
    hard = words(" ".join((*AGENTS, *enumerated, *allowed, msgspec.json.encode(schema()).decode())))
    return Names(found, soft, hard)


def _split(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield name
        yield from re.findall(r"[A-Z]?[a-z]+", name)


def texts(session: Session) -> Iterator[str]:
    """Everything that stands in a session, one text after the other."""
    yield session.title
    for problem in session.problems:
        yield str(problem)
    for event in session.events:
        yield from _told(event)


def _told(event: Event) -> Iterator[str]:
    for name in event.__struct_fields__:
        value: Any = getattr(event, name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list | tuple) and value:
            try:
                yield msgspec.json.encode(value).decode()
            except (TypeError, UnicodeEncodeError):
                yield repr(value)


def _of_this_machine() -> Iterator[Name]:
    """The account, the machine and the name that commits are signed with here."""
    account = os.path.basename(os.path.expanduser("~"))
    yield Name("person", account)
    yield Name("host", socket.gethostname())
    for setting in ("user.name", "user.email"):
        try:
            done = subprocess.run(
                ["git", "config", "--global", setting], capture_output=True, text=True, timeout=_GIT_SECONDS
            )
        except (OSError, subprocess.SubprocessError):
            return
        value = done.stdout.strip()
        if value:
            yield from in_text(f"user.name={value}\n" if setting == "user.name" else value)
