"""All that answering hooks needs of the stages, loaded once and then at hand: how agents talk, what is known, what to give.

Knows nothing of the daemon. What takes long (reading the archive) is in `prepare` and `context`, which other threads may
call; all the rest is quick and changes nothing.
"""

import os
import time
from typing import NamedTuple

from preheat.agents import HOOKED, dialect_of, hooks_of, reader_of
from preheat.agents.sources import read as sessions_in
from preheat.archive.connect import connect
from preheat.commands import text_of, understand
from preheat.errors import NotFound, PreheatError, UserError
from preheat.ingest.redact import redact
from preheat.lessons.projects import root_of
from preheat.live.events import called
from preheat.live.known import NOTHING, Known
from preheat.live.safety import Severity, check_call, matcher, refusal
from preheat.live.scorecard import in_a_line
from preheat.live.state import LiveState
from preheat.live.thresholds import DEFAULTS
from preheat.model.live import Advisory, Called, HookAnswer, HookEvent, LiveEvent, Phase
from preheat.model.session import Session, ToolCall, ToolResult
from preheat.outcomes import judge
from preheat.pipeline.learning import repository_of
from preheat.pipeline.outputs import shortened
from preheat.pipeline.scoring import score_session
from preheat.pipeline.tuning import NOTHING_MORE, choices_in, thresholds_in
from preheat.pipeline.warming import project_named, provision, render
from preheat.pipeline.watching import before, from_hook, known_in, step, tool_kind
from preheat.settings import archive_path

_FOLDERS = 200
"""Of which it is remembered what is known there."""
_SCORED = 3_000_000
"""Bytes of a transcript that is scored at the end of a session; a longer one waits for `preheat scorecard`."""


class Given(NamedTuple):
    """A context as it is handed out."""

    id: str
    text: str


class Folder(NamedTuple):
    """What is known of where a session works."""

    root: str
    known: Known


class Hooking:
    """The stages for hooks, on the archive in a folder."""

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

    # What is done only where the person asked for it.
    def refusal(self, event: HookEvent, unsaved: bool) -> str:
        """Why a call that is about to be made is refused; empty: it is not."""
        if self._refused is None:
            return ""
        call = ToolCall(line=1, call_id=event.call_id, tool=event.tool, kind=tool_kind(event), input=event.arguments)
        return refusal(check_call(call, unsaved=unsaved), self._refused)

    def output(self, event: HookEvent, phase: Phase) -> str | None:
        """What may stand in the place of a command's output; None where it stays as it is."""
        if not (self.choices.shorten_output and event.result) or tool_kind(event) != "shell":
            return None
        if _asks_for_all(text_of(event.arguments)):
            return None
        return shortened(event.result, event.exit_code, phase, self.thresholds, self._folder)

    def scored(self, event: HookEvent) -> str:
        """How a session went, in a line; empty where that cannot be told quickly. Slow."""
        try:
            if os.path.getsize(event.transcript) > _SCORED:
                return ""
            found = sessions_in(event.transcript, reader_of(event.agent))
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
        known = NOTHING
        if os.path.exists(archive_path(self._folder)):
            try:
                known = self._read_known(cwd)
            except PreheatError:
                known = NOTHING
        while len(self._folders) >= _FOLDERS:
            del self._folders[next(iter(self._folders))]
        self._folders[cwd] = Folder(root, known)

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
        if not self.prepared(event.cwd):
            self.prepare(event.cwd)
        try:
            found = provision(self._folder, task, agent=event.agent, project=event.cwd, resuming=True)
        except NotFound:  # nobody worked here before: what holds anywhere
            found = provision(self._folder, task, agent=event.agent)
        return Given(found.id, render(found).text) if found.items else None


def _asks_for_all(command: str) -> bool:
    """Whether somebody wants to see the whole of an output that was shortened: it must not be shortened again."""
    return "preheat output" in command and any(
        each.program == "preheat" and each.words[1:2] == ("output",) for each in understand(command).commands
    )
