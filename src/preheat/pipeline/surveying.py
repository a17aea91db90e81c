"""Goes over the archive for a dataset: gathers the names that must not be told, and measures the sessions that are chosen.

Knows nothing of what is written where: that is `publishing`.
"""

import os
import re
import socket
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import msgspec

from preheat.agents import AGENTS
from preheat.agents.well_known import well_known_tools
from preheat.archive.lessons import places
from preheat.archive.queries import Filter, Summary, sessions
from preheat.calls.form import command_form
from preheat.commands import Purpose, text_of
from preheat.commands.families import FAMILIES
from preheat.commands.programs import PROGRAMS, TASK_RUNNERS, TRIVIAL
from preheat.compress.values import SORTS
from preheat.dataset.datasheet import Facts, datasheet
from preheat.dataset.leaks import words
from preheat.dataset.markers import Watched, measured
from preheat.dataset.names import Name, Names, in_heading, in_text
from preheat.dataset.rows import SessionRow, Share, Shortened, schema
from preheat.dataset.trajectories import TEXTS
from preheat.dataset.vocabulary import Vocabulary
from preheat.errors import PreheatError
from preheat.lessons.projects import last_part, root_of
from preheat.live.scorecard import DIMENSIONS, scorecard
from preheat.model.live import PHASES
from preheat.model.outcome import CAUSES, RUNGS, STATUSES
from preheat.model.session import AssistantMessage, Event, Session, ToolCall, ToolKind, joined
from preheat.pipeline.compressing import compress_all
from preheat.pipeline.judging import assess
from preheat.pipeline.reading import load
from preheat.pipeline.scoring import facts_of

if TYPE_CHECKING:
    from preheat.ingest.judging import Assessment

_JOINTS = re.compile(r"[\W_]+")
_GIT_SECONDS = 5


class SurveyWatcher:
    """Told how it goes on; this one keeps silent."""

    def begin(self, title: str, sessions: int) -> None:
        """So many are to be read."""

    def done(self, note: str = "") -> None:
        """One more is."""

    def end(self) -> None:
        """All are."""


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


class Survey(NamedTuple):
    """What was found."""

    names: Names
    rows: list[SessionRow]
    vocabulary: Vocabulary
    unreadable: list[str]
    """Keys and reasons."""


def survey(
    connection: sqlite3.Connection,
    chosen: Mapping[str, Summary],
    projects: Projects,
    least: int,
    allowed: Iterable[str] = (),
    watcher: SurveyWatcher | None = None,
) -> Survey:
    """Read every session of the archive once: the chosen ones are measured, and all of them give names away."""
    watcher = watcher or SurveyWatcher()
    vocabulary = Vocabulary(least, well_known_tools())
    names: set[Name] = set(_of_this_machine())
    rows: list[SessionRow] = []
    unreadable: list[str] = []
    everything = sorted(sessions(connection, Filter()), key=lambda each: each.key)
    watcher.begin("Reading", len(everything))
    for summary in everything:
        names.update(in_heading(summary.project, summary.branch))
        try:
            session = load(connection, summary.key)
        except PreheatError as error:
            unreadable += [str(error)] if summary.key in chosen else []
            continue
        for text in texts(session):
            names.update(in_text(text))
        if summary.key in chosen:
            rows.append(_measured(session, projects.of(session.project), vocabulary))
        watcher.done()
    watcher.end()
    return Survey(known(names, allowed), rows, vocabulary, unreadable)


def known(found: Iterable[Name], allowed: Iterable[str] = ()) -> Names:
    """The names to look for, without what is everybody's: words of tools, programs, forms, and of every export's pages."""
    programs = {*PROGRAMS, *FAMILIES, *TASK_RUNNERS, *TRIVIAL}
    told = {word for family in FAMILIES.values() for word in family.subcommands}
    soft = words(" ".join((*programs, *told, *_split(well_known_tools()))))
    enumerated = (*STATUSES, *RUNGS, *CAUSES, *PHASES, *DIMENSIONS, *SORTS, *get_args(ToolKind), *get_args(Purpose))
    hard = words(" ".join((*AGENTS, *enumerated, *allowed, msgspec.json.encode(schema()).decode())))
    return Names(found, soft, hard)


def own_words() -> frozenset[str]:
    """Words that the pages of every export have."""
    pages = [datasheet(Facts(trajectories=number, texts=texts)) for number in (None, 0) for texts in TEXTS]
    return words(" ".join((*pages, msgspec.json.encode(schema()).decode())))


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


# Measuring.
def _measured(session: Session, project: str, vocabulary: Vocabulary) -> SessionRow:
    assessed = assess(session)
    models = {session.model, *(event.model for event in session.events if isinstance(event, AssistantMessage))}
    vocabulary.add_session(project, session.agent, session.version, models - {""})
    by_seq = {record.seq: record for record in assessed.records}
    for seq, (call, _) in enumerate(joined(session)):
        if seq in by_seq:
            vocabulary.add_call(project, by_seq[seq], form_of(call))
    return measured(session, assessed.profile, assessed.records, _watched(session, assessed))


def form_of(call: ToolCall) -> str:
    """The form of a shell command; empty for other calls."""
    return command_form(text_of(call.input)) if call.kind == "shell" else ""


def _watched(session: Session, assessed: "Assessment") -> Watched:
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


def _phases(session: Session, assessed: "Assessment") -> tuple[dict[str, int], int]:
    """How many calls were made in each phase, and how often it changed."""
    from preheat.live.advise import step
    from preheat.live.events import events_of
    from preheat.live.state import START
    from preheat.model.live import Called

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
