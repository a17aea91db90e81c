"""All that answering hooks needs, loaded once and then at hand: how agents talk, what is known, what to say and to give.

Knows nothing of the daemon. What takes long (reading the archive) is in `prepare` and `context`, which other threads may
call; all the rest is quick and changes nothing.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from preheat.agents import HOOKED, LIVE, dialect_of, hooks_of, reader_of
from preheat.agents.reader import Parser
from preheat.agents.sources import read as sessions_in
from preheat.agents.sources import read_part as session_in
from preheat.app.analysis.scorecard import score_session
from preheat.app.context.provisioning import note_use, provision, render
from preheat.app.experiments.assignment import Proving
from preheat.app.live.advice import before, known_in, step
from preheat.app.live.hook_events import from_hook, tool_kind
from preheat.app.live.outputs import shortened
from preheat.app.live.running import LiveState, Running, apply_entry
from preheat.app.live.settings import NOTHING_MORE, choices_in, thresholds_in
from preheat.app.projects import project_named, repository_of
from preheat.archive.connect import connect
from preheat.commands import text_of, understand
from preheat.errors import NotFound, PreheatError, UserError
from preheat.ingest.redact import redact
from preheat.lessons.projects import root_of
from preheat.live.events import called
from preheat.live.known import NOTHING, Known
from preheat.live.progress import words as resume_words
from preheat.live.safety import Severity, check_call, matcher, refusal
from preheat.live.scorecard import in_a_line
from preheat.live.thresholds import DEFAULTS
from preheat.model.experiment import AdviceLot, Assignment, Lot
from preheat.model.journal import Entry
from preheat.model.live import Advisory, Called, HookAnswer, HookEvent, LiveEvent, Phase
from preheat.model.session import Session, ToolCall, ToolResult
from preheat.outcomes import judge
from preheat.settings import archive_path
from preheat.state.connect import reading
from preheat.state.marks import stamp as stamp_of_marks

__all__ = ["Given", "Hooks", "LiveState", "Parser"]

_FOLDERS = 200
"""Of which it is remembered what is known there."""
_SCORED = 3_000_000
"""Bytes of a transcript that is scored at the end of a session; a longer one waits for `preheat scorecard`."""


class Given(NamedTuple):
    """A context as it is handed out."""

    id: str
    text: str
    messages: tuple[dict[str, Any], ...] = ()
    """In the place of the text, where the person wants messages and the program takes them."""
    lots: tuple[Lot, ...] = ()
    """What was left to chance; written down before anything is handed out."""


class Folder(NamedTuple):
    """What is known of where a session works."""

    root: str
    known: Known
    stamp: tuple[float, ...] = ()
    """When the archive that it was read from had last changed (the file, and the log beside it), and a stamp of the marks on
    lessons."""


class Hooks:
    """What answers hooks, on the archive in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        try:
            self.thresholds = thresholds_in(folder)
        except UserError:  # `preheat doctor` says it; the agent has nothing to do with it
            self.thresholds = DEFAULTS
        try:
            self.choices = choices_in(folder)
        except UserError:
            self.choices = NOTHING_MORE
        self._refused: Severity | None = None if self.choices.block == "never" else self.choices.block
        if self._refused is not None:
            matcher()  # its patterns take longer to make than a hook may
        self._folders: dict[str, Folder] = {}
        self._proving = Proving(folder)
        for agent in HOOKED:
            hooks_of(agent)
            dialect_of(agent)

    # Hooks.
    def read(self, agent: str, payload: bytes, at: float) -> HookEvent | None:
        """What an agent's program tells, without the secrets in it: parts of it are written down."""
        hooks = hooks_of(agent)
        return hooks.read(redact(payload)[0], at) if hooks is not None else None

    def write(self, event: HookEvent, answer: HookAnswer) -> bytes:
        """An answer in the program's own form; empty where there is nothing that it would take."""
        hooks = hooks_of(event.agent)
        return (hooks.write(event, answer) if hooks is not None else None) or b""

    # What happened, and what there is to say.
    def events(self, event: HookEvent) -> list[LiveEvent]:
        """What happened, for the fold."""
        return from_hook(event, self._at(event.cwd).root)

    def step(self, state: LiveState, event: LiveEvent, hook: HookEvent) -> tuple[LiveState, Advisory | None]:
        """The state after it, and what there is to say."""
        return step(state, event, self._at(hook.cwd).known, self.thresholds, hook.agent)

    def before(self, state: LiveState, hook: HookEvent) -> Advisory | None:
        """What there is to say of a call that is about to be made."""
        return before(state, hook, self._at(hook.cwd).known, self.thresholds)

    def called(self, agent: str, call: ToolCall, result: ToolResult, cwd: str) -> Called | None:
        """What a transcript tells of a call, for the fold."""
        (outcome,) = judge(Session(agent=agent, id="", events=(call, result)), dialect_of(agent))
        return called(call, result, outcome, root=self._at(cwd).root, folder=cwd)

    def apply(self, running: Running, entry: Entry, folded: LiveState | None = None) -> Running:
        """A session after an entry of the journal; `folded` is its state then, if that is at hand."""
        return apply_entry(running, entry, self.thresholds, folded)

    # What a session has done, and what its transcript adds.
    def resume_packet(self, running: Running) -> str:
        """What it should still know after its conversation was replaced by a summary; empty where there is nothing."""
        return resume_words(running.progress)

    def parser(self, agent: str, transcript: str) -> Parser | None:
        """What reads the lines of a transcript that grows; None for what is no file of lines, or of no agent that leaves
        such."""
        if agent not in LIVE or not os.path.isfile(transcript):
            return None
        reader = reader_of(agent)
        return reader.parser(transcript) if reader.framing(transcript) == "lines" else None

    # What is done only where the person asked for it.
    def refusal(self, event: HookEvent, unsaved: bool) -> str:
        """Why a call that is about to be made is refused; empty: it is not."""
        if self._refused is None:
            return ""
        call = ToolCall(line=1, call_id=event.call_id, tool=event.tool, kind=tool_kind(event), input=event.arguments)
        return refusal(check_call(call, unsaved=unsaved), self._refused)

    def output(self, event: HookEvent, phase: Phase) -> str | None:
        """What may stand in the place of a command's output; None where it stays as it is."""
        printed = event.result if event.printed is None else event.printed
        if not (self.choices.shorten_output and printed) or tool_kind(event) != "shell":
            return None
        if _asks_for_all(text_of(event.arguments)):
            return None
        return shortened(printed, event.exit_code, phase, self.thresholds, self._folder)

    def scored(self, event: HookEvent) -> str:
        """How a session went, in a line; empty where that cannot be told quickly. Slow."""
        reader = reader_of(event.agent)
        try:
            if reader.framing(event.transcript) == "database":  # one of many sessions: the others are not read
                found = session_in(event.transcript, reader, event.session)
            elif os.path.getsize(event.transcript) > _SCORED:
                return ""
            else:
                found = sessions_in(event.transcript, reader)
        except (PreheatError, OSError):
            return ""
        for session in found:
            if session.id == event.session:
                line = in_a_line(score_session(session, self.thresholds, self._at(event.cwd).root))
                return f"Preheat: this session scored {line}." if line else ""
        return ""

    # What was learned.
    def _at(self, cwd: str) -> Folder:
        return self._folders.get(cwd) or Folder(cwd, NOTHING)

    def prepared(self, cwd: str) -> bool:
        """Whether what is known there has been read."""
        return cwd in self._folders

    def prepare(self, cwd: str) -> None:
        """Read what is known there. Slow. Where it cannot be read, nothing is known."""
        root = root_of(cwd, repository_of) or cwd
        known, stamp = NOTHING, self._changed()
        if os.path.exists(archive_path(self._folder)):
            try:
                known = self._read_known(cwd)
            except PreheatError:
                known = NOTHING
        while len(self._folders) >= _FOLDERS:
            del self._folders[next(iter(self._folders))]
        self._folders[cwd] = Folder(root, known, stamp)

    def _changed(self) -> tuple[float, ...]:
        path = archive_path(self._folder)
        marks: tuple[float, ...] = ()
        with suppress(UserError), reading(self._folder) as state:
            marks = stamp_of_marks(state)
        return _changed_at(path), _changed_at(f"{path}-wal"), *marks

    def _read_known(self, cwd: str) -> Known:
        connection = connect(self._folder)
        try:
            try:
                project = project_named(connection, cwd) if cwd else ""
            except NotFound:
                project = ""
            return known_in(connection, project, time.time())
        finally:
            connection.close()

    def forget(self) -> None:
        """Something was learned: what was read before is out of date."""
        self._folders.clear()

    def context(self, event: HookEvent, task: str) -> Given | None:
        """What a session is given at its start. Slow."""
        if self._at(event.cwd).stamp != self._changed():  # somebody may have learned, or marked a lesson, by hand since
            self.prepare(event.cwd)
        form = self._seeds(event.agent)
        template = self._proving.template(event)
        try:
            found = provision(
                self._folder,
                task,
                agent=event.agent,
                project=event.cwd,
                resuming=True,
                template=template,
                loaded=not template,
                examples=bool(form),
            )
        except NotFound:  # nobody worked here before: what holds anywhere
            found = provision(self._folder, task, agent=event.agent, template=template, examples=bool(form))
        found, instead, lots = self._proving.deal(event, found)
        if instead is not None:
            return Given(found.id if instead else "", instead, lots=lots)
        if not found.items and not found.addendum:
            return Given("", "", lots=lots) if lots else None
        with suppress(UserError, OSError):  # a record, which no session waits for or fails by
            note_use(self._folder, found, time.time())
        if form:
            return Given(found.id, "", tuple(render(found, form).document), lots)
        return Given(found.id, render(found).text, lots=lots)

    # What is left to chance.
    def assign(self, event: HookEvent, known: Assignment | None, begun: bool) -> Assignment | None:
        """The arm of a session that starts; None where no lots are drawn. `known` is that of the line it belongs to."""
        return self._proving.assign(event, known, begun)

    def lot(self, event: HookEvent, advisory: Advisory, root: str) -> AdviceLot | None:
        """Whether something is said; None where no lot is drawn: then it is."""
        return self._proving.advice(event, advisory, root)

    def keep_lots(self, lots: Sequence[Lot]) -> None:
        """Have lots on disk for good; some of them may be there. Raises OSError."""
        self._proving.keep(lots)

    def _seeds(self, agent: str) -> str:
        """The form for a start in messages; empty where it is a text: the program takes none, or nobody asked for them."""
        hooks = hooks_of(agent)
        return hooks.seeds if hooks is not None and self.choices.start_as == "messages" else ""


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _asks_for_all(command: str) -> bool:
    """Whether somebody wants to see the whole of an output that was shortened: it must not be shortened again."""
    return "preheat output" in command and any(
        each.program == "preheat" and each.words[1:2] == ("output",) for each in understand(command).commands
    )
