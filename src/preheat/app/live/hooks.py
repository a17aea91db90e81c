"""Answers to hooks: reads hook events, finds advice, contexts and assignments, and writes answers, with everything preloaded.

Knows nothing of the daemon. Slow work (reading the archive) is in `prepare_folder`, `choose_context` and
`describe_score`, which other threads may call; everything else is quick.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from preheat.agents import LIVE, WITH_HOOKS, dialect_of, hooks_of, reader_of
from preheat.agents.reader import Parser
from preheat.agents.sources import read as read_sessions
from preheat.agents.sources import read_part as read_session
from preheat.app.analysis.scorecard import score_session
from preheat.app.context import provision, record_use, render
from preheat.app.experiments.assignment import Assigner
from preheat.app.live.advice import advise_before_call, live_events, load_known_mistakes, step, tool_kind
from preheat.app.live.outputs import shorten_output
from preheat.app.live.running import LiveState, RunningSession, apply_entry
from preheat.app.live.settings import NO_ACTIONS, load_actions, load_thresholds
from preheat.app.projects import find_repository, require_project
from preheat.archive.connect import connect
from preheat.commands import command_text, understand
from preheat.errors import NotFound, PreheatError, UserError
from preheat.ingest.redact import redact
from preheat.lessons.projects import root_of
from preheat.live.events import call_event
from preheat.live.mistake import NO_KNOWN_MISTAKES, KnownMistakes
from preheat.live.progress import describe_progress
from preheat.live.safety import Severity, check_call, matcher, refusal
from preheat.live.scorecard import summarise_scorecard
from preheat.live.signal import DEFAULTS
from preheat.model.experiment import AdviceAssignment, Assignment, AssignmentRecord
from preheat.model.live import Advisory, CallEvent, HookAnswer, HookEvent, JournalEntry, LiveEvent, Phase
from preheat.model.session import Session, ToolCall, ToolResult
from preheat.outcomes import judge
from preheat.settings import archive_path
from preheat.state.connect import reading
from preheat.state.marks import marks_stamp

__all__ = ["HandedContext", "Hooks", "LiveState", "Parser"]

_MOST_FOLDERS = 200
"""The number of folders whose known mistakes are cached."""
_LARGEST_SCORED = 3_000_000
"""The largest transcript, in bytes, that is scored at the end of a session."""


class HandedContext(NamedTuple):
    """A context as it is handed out."""

    id: str
    text: str
    messages: tuple[dict[str, Any], ...] = ()
    """Instead of the text, if the person wants messages and the program takes them."""
    records: tuple[AssignmentRecord, ...] = ()
    """Records of assignments, to be stored before anything is handed out."""


class FolderKnowledge(NamedTuple):
    """What is known of the folder that a session works in."""

    root: str
    known: KnownMistakes
    stamp: tuple[float, ...] = ()
    """When the archive's file and log had last changed, and a stamp of the marks on lessons."""


class Hooks:
    """Answers hooks from the archive in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        try:
            self.thresholds = load_thresholds(folder)
        except UserError:  # reported by `preheat doctor`, not to the agent
            self.thresholds = DEFAULTS
        try:
            self.choices = load_actions(folder)
        except UserError:
            self.choices = NO_ACTIONS
        self._refused_severity: Severity | None = None if self.choices.block == "never" else self.choices.block
        if self._refused_severity is not None:
            matcher()  # compiling its patterns takes longer than a hook may
        self._folders: dict[str, FolderKnowledge] = {}
        self._assigner = Assigner(folder)
        for agent in WITH_HOOKS:
            hooks_of(agent)
            dialect_of(agent)

    # Hooks.
    def read(self, agent: str, payload: bytes, at: float) -> HookEvent | None:
        """A hook event from an agent's payload, with secrets redacted: parts of it are stored."""
        hooks = hooks_of(agent)
        return hooks.read(redact(payload)[0], at) if hooks is not None else None

    def write(self, event: HookEvent, answer: HookAnswer) -> bytes:
        """An answer in the agent's own format; empty if there is nothing to answer."""
        hooks = hooks_of(event.agent)
        return (hooks.write(event, answer) if hooks is not None else None) or b""

    # Live events and advice.
    def live_events(self, event: HookEvent) -> list[LiveEvent]:
        """The live events of a hook event."""
        return live_events(event, self._folder_at(event.cwd).root)

    def step(self, state: LiveState, event: LiveEvent, hook: HookEvent) -> tuple[LiveState, Advisory | None]:
        """The state after a live event, and the advisory that it causes."""
        return step(state, event, self._folder_at(hook.cwd).known, self.thresholds, hook.agent)

    def advise_before_call(self, state: LiveState, hook: HookEvent) -> Advisory | None:
        """The advisory on a call that is about to be made."""
        return advise_before_call(state, hook, self._folder_at(hook.cwd).known, self.thresholds)

    def judge_call(self, agent: str, call: ToolCall, result: ToolResult, cwd: str) -> CallEvent | None:
        """A call from a transcript as a live event."""
        (outcome,) = judge(Session(agent=agent, id="", events=(call, result)), dialect_of(agent))
        return call_event(call, result, outcome, root=self._folder_at(cwd).root, folder=cwd)

    def apply(self, running: RunningSession, entry: JournalEntry, folded: LiveState | None = None) -> RunningSession:
        """A session after an entry of the journal; `folded` is its state then, if it is already known."""
        return apply_entry(running, entry, self.thresholds, folded)

    # Progress and transcripts.
    def resume_packet(self, running: RunningSession) -> str:
        """What a session should still know after a compaction; empty if there is nothing."""
        return describe_progress(running.progress)

    def parser(self, agent: str, transcript: str) -> Parser | None:
        """The parser of a growing transcript; None if it is not a file of lines, or the agent leaves no such files."""
        if agent not in LIVE or not os.path.isfile(transcript):
            return None
        reader = reader_of(agent)
        return reader.parser(transcript) if reader.framing(transcript) == "lines" else None

    # Opt-in actions.
    def refusal(self, event: HookEvent, unsaved: bool) -> str:
        """Why a call that is about to be made is refused; empty if it is not."""
        if self._refused_severity is None:
            return ""
        call = ToolCall(line=1, call_id=event.call_id, tool=event.tool, kind=tool_kind(event), input=event.arguments)
        return refusal(check_call(call, unsaved=unsaved), self._refused_severity)

    def shorten_output(self, event: HookEvent, phase: Phase) -> str | None:
        """A command's output in short; None if it stays as it is."""
        printed = event.result if event.printed is None else event.printed
        if not (self.choices.shorten_output and printed) or tool_kind(event) != "shell":
            return None
        if _asks_for_all(command_text(event.arguments)):
            return None
        return shorten_output(printed, event.exit_code, phase, self.thresholds, self._folder)

    def describe_score(self, event: HookEvent) -> str:
        """The scores of a session, in a line; empty if its transcript is too long or cannot be read. Slow."""
        reader = reader_of(event.agent)
        try:
            if reader.framing(event.transcript) == "database":  # one of many sessions: the others are not read
                sessions = read_session(event.transcript, reader, event.session)
            elif os.path.getsize(event.transcript) > _LARGEST_SCORED:
                return ""
            else:
                sessions = read_sessions(event.transcript, reader)
        except (PreheatError, OSError):
            return ""
        for session in sessions:
            if session.id == event.session:
                scores = summarise_scorecard(score_session(session, self.thresholds, self._folder_at(event.cwd).root))
                return f"Preheat: this session scored {scores}." if scores else ""
        return ""

    # Known mistakes and contexts.
    def _folder_at(self, cwd: str) -> FolderKnowledge:
        return self._folders.get(cwd) or FolderKnowledge(cwd, NO_KNOWN_MISTAKES)

    def is_prepared(self, cwd: str) -> bool:
        """Whether the known mistakes of a folder have been loaded."""
        return cwd in self._folders

    def prepare_folder(self, cwd: str) -> None:
        """Load the known mistakes of a folder; none if the archive cannot be read. Slow."""
        root = root_of(cwd, find_repository) or cwd
        known, stamp = NO_KNOWN_MISTAKES, self._stamp()
        if os.path.exists(archive_path(self._folder)):
            try:
                known = self._load_known(cwd)
            except PreheatError:
                known = NO_KNOWN_MISTAKES
        while len(self._folders) >= _MOST_FOLDERS:
            del self._folders[next(iter(self._folders))]
        self._folders[cwd] = FolderKnowledge(root, known, stamp)

    def _stamp(self) -> tuple[float, ...]:
        path = archive_path(self._folder)
        marks: tuple[float, ...] = ()
        with suppress(UserError), reading(self._folder) as state:
            marks = marks_stamp(state)
        return _changed_at(path), _changed_at(f"{path}-wal"), *marks

    def _load_known(self, cwd: str) -> KnownMistakes:
        connection = connect(self._folder)
        try:
            try:
                project = require_project(connection, cwd) if cwd else ""
            except NotFound:
                project = ""
            return load_known_mistakes(connection, project, time.time())
        finally:
            connection.close()

    def clear_folders(self) -> None:
        """Drop everything that was loaded, because new lessons were learned."""
        self._folders.clear()

    def choose_context(self, event: HookEvent, task: str) -> HandedContext | None:
        """The context of a session at its start. Slow."""
        if self._folder_at(event.cwd).stamp != self._stamp():  # lessons may have been learned or marked since
            self.prepare_folder(event.cwd)
        form = self._message_format(event.agent)
        template = self._assigner.template_for(event)
        try:
            chosen = provision(
                self._folder,
                task,
                agent=event.agent,
                project=event.cwd,
                resuming=True,
                template=template,
                loaded=not template,
                examples=bool(form),
            )
        except NotFound:  # no session ran here before: general lessons
            chosen = provision(self._folder, task, agent=event.agent, template=template, examples=bool(form))
        chosen, replacement, records = self._assigner.treat(event, chosen)
        if replacement is not None:
            return HandedContext(chosen.id if replacement else "", replacement, records=records)
        if not chosen.items and not chosen.addendum:
            return HandedContext("", "", records=records) if records else None
        with suppress(UserError, OSError):  # a session must not fail because of this record
            record_use(self._folder, chosen, time.time())
        if form:
            return HandedContext(chosen.id, "", tuple(render(chosen, form).document), records)
        return HandedContext(chosen.id, render(chosen).text, records=records)

    # Assignment.
    def assign_session(self, event: HookEvent, known: Assignment | None, begun: bool) -> Assignment | None:
        """The assignment of a session that starts; None if nothing is assigned. `known` is the one that it or its parent has."""
        return self._assigner.assign(event, known, begun)

    def assign_advice(self, event: HookEvent, advisory: Advisory, root: str) -> AdviceAssignment | None:
        """Whether an advisory is sent, by assignment; None if nothing is assigned: then it is sent."""
        return self._assigner.assign_advice(event, advisory, root)

    def store_assignments(self, records: Sequence[AssignmentRecord]) -> None:
        """Store records of assignments; those that are stored already stay. Raises OSError."""
        self._assigner.store(records)

    def _message_format(self, agent: str) -> str:
        """The format for a context in messages; empty if the program takes none, or the person did not ask for messages."""
        hooks = hooks_of(agent)
        return hooks.message_format if hooks is not None and self.choices.start_as == "messages" else ""


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _asks_for_all(command: str) -> bool:
    """Whether a command prints the full text of a shortened output, which must not be shortened again."""
    return "preheat output" in command and any(
        each.program == "preheat" and each.words[1:2] == ("output",) for each in understand(command).commands
    )
