"""Answers to hooks: reads hook events, finds advice, contexts and assignments, and writes answers, with everything preloaded.

Knows nothing of the daemon. Slow work (reading the archive) is in `prepare_folder`, `choose_context` and
`describe_score`, which other threads may call; everything else is quick.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from preheat.agents import LIVE, WITH_HOOKS, dialect_of, hooks_of, reader_of
from preheat.agents.reader import Parser
from preheat.agents.sources import read as read_sessions
from preheat.agents.sources import read_part as read_session
from preheat.answers import NO_HISTORY, History, SessionFacts
from preheat.app.context import load_folder_facts, provision, record_use, render
from preheat.app.experiments.assignment import Assigner
from preheat.app.facts import NO_FACTS as NO_FOLDER_FACTS
from preheat.app.facts import FolderFacts
from preheat.app.lazy import LazyModule
from preheat.app.live.advice import (
    advise_before_call,
    advise_with_fact,
    advise_with_fact_after_failure,
    live_events,
    load_known_mistakes,
    step,
    still_holds,
    tool_kind,
)
from preheat.app.live.answers import advise_after_failure, load_history, warn_before_call, word_hold
from preheat.app.live.holds import Holds
from preheat.app.live.outputs import shorten_output
from preheat.app.live.project_files import NO_NAMES, NameIndex, list_names
from preheat.app.live.running import FACT, LiveState, RunningSession, apply_entry, undelivered_after
from preheat.app.live.settings import NO_ACTIONS, load_actions, load_thresholds
from preheat.app.projects import find_project_at, project_root
from preheat.archive.address import find_server
from preheat.archive.connect import connect, connect_for_hooks, find_archive_fault, keep_connections
from preheat.archive.lessons import load_received_only
from preheat.commands import command_text, understand
from preheat.daemon_client import TEST_MARK
from preheat.errors import NotFound, PreheatError, UserError
from preheat.ingest.redact import redact
from preheat.live.advice import record_advice
from preheat.live.events import call_event
from preheat.live.mistake import (
    NO_KNOWN_MISTAKES,
    KnownMistakes,
    drop_origin,
    has_hint,
    index_lessons,
)
from preheat.live.progress import describe_progress
from preheat.live.safety import Severity, check_call, matcher, refusal
from preheat.live.scorecard import summarise_scorecard
from preheat.live.signal import DEFAULTS
from preheat.live.state import fold
from preheat.model.experiment import AdviceAssignment, Assignment, AssignmentRecord
from preheat.model.live import (
    Advisory,
    CallEvent,
    HookAnswer,
    HookEvent,
    HookName,
    JournalEntry,
    LiveEvent,
    Phase,
    is_answer,
)
from preheat.model.orientation import TouchedFiles
from preheat.model.session import PREHEAT_MARK, Session, ToolCall, ToolResult
from preheat.provisioning.tokens import estimate_tokens
from preheat.receipts import describe_session
from preheat.settings import archive_path
from preheat.shared_file import find_clone, find_file
from preheat.state.connect import reading
from preheat.state.marks import marks_stamp
from preheat.state.received_lessons import received_stamp
from preheat.state.written_lessons import written_stamp

if TYPE_CHECKING:
    from preheat import outcomes
    from preheat.app import orientation as _orientation
    from preheat.app.analysis import scorecard as _scorecard
else:  # a session that starts has no calls and no score, and may be waiting for us
    outcomes = LazyModule("preheat.outcomes")
    _orientation = LazyModule("preheat.app.orientation")  # numbers and grammars, which only a slow thread loads
    _scorecard = LazyModule("preheat.app.analysis.scorecard")

__all__ = ["CleanPayload", "HandedContext", "Hooks", "LiveState", "NamedFiles", "Parser"]

NO_FACTS = SessionFacts()
START_TOKENS = 300
"""Tokens of what holds for every task, at the start of a session."""
PROMPT_TOKENS = 600
"""Tokens of the files and facts that are named with a prompt."""
FACTS_OPEN, FACTS_CLOSE = f"{PREHEAT_MARK}facts>", f"</{PREHEAT_MARK[1:]}facts>"
_MOST_ORIENTERS = 8
"""The number of folders whose episodes and index are kept in memory."""
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
    told: tuple[str, ...] = ()
    """The ids of its lessons."""


class CleanPayload(bytes):
    """A payload without secrets: it may be stored."""


class NamedFiles(NamedTuple):
    """The files and facts that are named with a prompt."""

    text: str
    paths: tuple[str, ...]
    """The files, and the ids of the facts' lessons after `FACT`."""
    assignment: AdviceAssignment | None
    """Whether they are named at all, by assignment; None if nothing is assigned: then they are."""

    @property
    def shown(self) -> str:
        """The text that the agent gets; empty if it is withheld."""
        return self.text if self.assignment is None or self.assignment.shown else ""


class FolderKnowledge(NamedTuple):
    """What is known of the folder that a session works in."""

    root: str
    known: KnownMistakes
    history: History = NO_HISTORY
    names: NameIndex = NO_NAMES
    facts: FolderFacts = NO_FOLDER_FACTS
    stamp: tuple[float, ...] = ()
    """When the archive's file and log had last changed, and a stamp of the marks on lessons."""
    tree: str = ""
    """The working tree whose file of lessons others wrote; empty if none was there."""
    digest: str = ""
    """Of that file, when this was loaded."""

    def is_file_as_loaded(self) -> bool:
        """Whether the file of lessons is as it was: what was not trusted in these very bytes is not handed out."""
        return not self.tree or find_file(self.tree).digest == self.digest

    def without_received(self) -> "FolderKnowledge":
        """The same without lessons of the file."""
        lessons = tuple(each for each in self.facts.lessons if each.origin != "repository")
        return self._replace(
            known=drop_origin(self.known, "repository"), facts=self.facts._replace(lessons=lessons), tree=""
        )


class Hooks:
    """Answers hooks from the archive in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        keep_connections(folder)
        try:
            self.thresholds = load_thresholds(folder)
        except UserError:  # reported by `preheat admin doctor`, not to the agent
            self.thresholds = DEFAULTS
        try:
            self.choices = load_actions(folder)
        except UserError:
            self.choices = NO_ACTIONS
        self._refused_severity: Severity | None = None if self.choices.block == "never" else self.choices.block
        if self._refused_severity is not None:
            matcher()  # compiling its patterns takes longer than a hook may
        self._folders: dict[str, FolderKnowledge] = {}
        self._orienters: dict[str, _orientation.Orienter | None] = {}
        self._assigner = Assigner(folder)
        self._loaded: set[str] = set()
        self.holds = Holds(folder)

    # Hooks.
    def load_agent(self, agent: str = "") -> None:
        """Load what an event of an agent needs, else of the next one that is not loaded: it takes longer than an event may."""
        agent = agent or next((each for each in WITH_HOOKS if each not in self._loaded), "")
        if agent in WITH_HOOKS and agent not in self._loaded:
            hooks_of(agent)
            dialect_of(agent)
            self._loaded.add(agent)

    def load_judge(self) -> None:
        """Load what judges calls, before the first one: it takes longer than an event may."""
        _ = outcomes.judge

    def read(self, agent: str, payload: bytes, at: float) -> HookEvent | None:
        """A hook event from an agent's payload, with secrets redacted: parts of it are stored."""
        hooks = hooks_of(agent)
        return hooks.read(self.clean(payload), at) if hooks is not None else None

    def clean(self, payload: bytes) -> "CleanPayload":
        """A payload without secrets; the same object if it is one already: finding them takes a tenth of an event's time."""
        return payload if isinstance(payload, CleanPayload) else CleanPayload(redact(payload)[0])

    def write(self, event: HookEvent, answer: HookAnswer) -> bytes:
        """An answer in the agent's own format; empty if there is nothing to answer."""
        hooks = hooks_of(event.agent)
        return (hooks.write(event, answer) if hooks is not None else None) or b""

    def can_carry(self, event: HookEvent) -> bool:
        """Whether a text that answers an event comes before the model, by what the agent declares."""
        hooks = hooks_of(event.agent)
        return hooks is not None and hooks.moments.carry(event.name)

    def can_tell_person(self, event: HookEvent) -> bool:
        """Whether the agent's program shows a line to the person at the end of a turn."""
        hooks = hooks_of(event.agent)
        return hooks is not None and hooks.moments.person

    def describe_receipt(self, event: HookEvent, running: RunningSession) -> str:
        """What a session was told and what came of it, for the person; empty if there is nothing new, or nobody would see it."""
        receipt = running.receipt
        if not self.choices.receipt_line or receipt.said <= receipt.reported or not self.can_tell_person(event):
            return ""
        return describe_session(receipt)

    def count_tokens(self, answer: HookAnswer) -> int:
        """Tokens that an answer puts into the model's context, estimated."""
        texts = [answer.context, answer.block, *(msgspec.json.encode(each).decode() for each in answer.messages)]
        return sum(estimate_tokens(text) for text in texts if text)

    def keeps_context(self, agent: str) -> bool:
        """Whether a resumed session sends the model again what it was given at its start."""
        hooks = hooks_of(agent)
        return hooks is not None and hooks.moments.resume == "kept"

    def loses_context(self, event: HookEvent) -> bool:
        """Whether an event says that the context is about to be lost, and no start follows that would take it again."""
        hooks = hooks_of(event.agent)
        return hooks is not None and event.name == "before_compaction" and hooks.moments.compaction == "next"

    def answer_test(self, agent: str) -> bytes:
        """The answer to a test event, in the agent's own form: whether the archive opens. Slow."""
        hooks = hooks_of(agent)
        if hooks is None:
            return b""
        text = f"{TEST_MARK}: {find_archive_fault(self._folder) or 'fine'}"
        start = HookEvent(agent=agent, session=TEST_MARK, name="session_start", host_event=TEST_MARK, source="startup")
        return hooks.write(start, HookAnswer(context=text.replace('"', "'"))) or b""

    # Live events and advice.
    def live_events(self, event: HookEvent) -> list[LiveEvent]:
        """The live events of a hook event."""
        return live_events(event, self._folder_at(event.cwd).root)

    def step(
        self, state: LiveState, event: LiveEvent, hook: HookEvent, running: RunningSession | None = None
    ) -> tuple[LiveState, Advisory | None]:
        """The state after a live event, and the advisory that it causes: what a lesson says of a failure, else the answer from
        the working tree, else a fact that helps after it, else what a signal says. `running`: the session before the event."""
        at = self._folder_at(hook.cwd)
        facts = running.facts if running is not None else NO_FACTS
        folded, advisory = step(state, event, at.known, self.thresholds, hook.agent)
        answer = advise_after_failure(
            state, event, hook, at.root, at.names, at.history, facts, thresholds=self.thresholds
        )
        if answer is None and advisory is None:
            told, edited = (running.told_lessons, running.edited) if running is not None else (frozenset(), ())
            answer = advise_with_fact_after_failure(folded, event, hook.agent, at.facts, self.thresholds, told, edited)
            if answer is None and tool_kind(hook) in ("edit", "write") and not self._carries(hook.agent, "before_tool"):
                answer = self._advise_with_fact(folded, hook, running or _no_session(hook))
        command = command_text(hook.arguments) if tool_kind(hook) == "shell" else ""
        if answer is None or has_hint(folded.mistake, at.known, hook.agent, command):
            return folded, advisory
        folded = fold(state, event, self.thresholds)
        return record_advice(folded, msgspec.structs.replace(answer, turn=folded.turn)), answer

    def advise_before_call(
        self, state: LiveState, hook: HookEvent, running: RunningSession | None = None
    ) -> Advisory | None:
        """The advisory on a call that is about to be made: what a lesson says of it, else why it fails here, else the fact
        that it needs and the session was not told of."""
        at = self._folder_at(hook.cwd)
        session = running or _no_session(hook)
        return (
            advise_before_call(state, hook, at.known, self.thresholds)
            or warn_before_call(state, hook, at.root, at.names, at.history, session.facts, thresholds=self.thresholds)
            or self._advise_with_fact(state, hook, session)
        )

    def _advise_with_fact(self, state: LiveState, hook: HookEvent, session: RunningSession) -> Advisory | None:
        """The fact that a call needs and its session was not told of: before it, or after a change where a program takes no text
        before a call."""
        at = self._folder_at(hook.cwd)
        ran = [check.command for check in session.progress.checks]
        return advise_with_fact(
            state,
            hook,
            at.facts,
            at.root,
            self.thresholds,
            session.told_lessons,
            session.edited,
            ran,
            session.facts,
        )

    def may_hold(self, hook: HookEvent, advisory: Advisory) -> bool:
        """Whether a call that a warning is about is held: the person asked for it, the program can refuse a call, and calls held
        for the same kind of reason did not turn out to work."""
        return (
            self.choices.hold
            and is_answer(advisory)
            and not self.holds.is_withdrawn(self._folder_at(hook.cwd).root, advisory)
            and self.write(hook, HookAnswer(block="?")) != b""
        )

    def word_hold(self, advisory: Advisory) -> Advisory:
        """A warning as the text that refuses its call."""
        return word_hold(advisory, self.thresholds)

    def count_hold(self, hook: HookEvent, advisory: Advisory, key: str) -> None:
        """Count a call that is held; `key` identifies it when it comes again."""
        self.holds.count_held(self._folder_at(hook.cwd).root, advisory, key)

    def overdue_advice(
        self, running: RunningSession, events: Sequence[LiveEvent], state: LiveState, hook: HookEvent
    ) -> Advisory | None:
        """The advisory that could not be given earlier, if it is still true after some events and in the state after them."""
        waiting, known = undelivered_after(running, events), self._folder_at(hook.cwd).known
        if waiting is None or not still_holds(state, waiting, known, self.thresholds, hook.agent):
            return None
        return msgspec.structs.replace(waiting, turn=state.turn)

    def record_advice(self, state: LiveState, advisory: Advisory) -> LiveState:
        """The state after an advisory was given."""
        return record_advice(state, advisory)

    def judge_call(self, agent: str, call: ToolCall, result: ToolResult, cwd: str) -> CallEvent | None:
        """A call from a transcript as a live event."""
        (outcome,) = outcomes.judge(Session(agent=agent, id="", events=(call, result)), dialect_of(agent))
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
                scores = summarise_scorecard(
                    _scorecard.score_session(session, self.thresholds, self._folder_at(event.cwd).root)
                )
                return f"Preheat: this session scored {scores}." if scores else ""
        return ""

    # Known mistakes and contexts.
    def _folder_at(self, cwd: str) -> FolderKnowledge:
        found = self._folders.get(cwd) or FolderKnowledge(cwd, NO_KNOWN_MISTAKES)
        if not found.is_file_as_loaded():
            found = self._folders[cwd] = found.without_received()
        return found

    def is_prepared(self, cwd: str) -> bool:
        """Whether the known mistakes of a folder have been loaded."""
        return cwd in self._folders

    def prepare_folder(self, cwd: str) -> None:
        """Load the known mistakes of a folder; none if the archive cannot be read. Slow."""
        root = project_root(cwd) or cwd
        known, history, facts, stamp = NO_KNOWN_MISTAKES, NO_HISTORY, NO_FOLDER_FACTS, self._stamp()
        clone = find_clone(cwd)
        digest = find_file(clone.root).digest if clone is not None else ""
        try:
            known, history = self._load_known(cwd)
        except PreheatError:
            known, history = NO_KNOWN_MISTAKES, NO_HISTORY
        if cwd:
            with suppress(PreheatError, OSError):
                facts = load_folder_facts(self._folder, cwd, WITH_HOOKS)
        while len(self._folders) >= _MOST_FOLDERS:
            del self._folders[next(iter(self._folders))]
        tree = clone.root if clone is not None and digest else ""
        self._folders[cwd] = FolderKnowledge(root, known, history, list_names(root), facts, stamp, tree, digest)

    def can_name_files(self, cwd: str) -> bool:
        """Whether it was tried to load what names the files of a prompt in a folder; always true if that is turned off."""
        return cwd in self._orienters or not self.choices.orientation

    def prepare_naming(self, cwd: str) -> None:
        """Load what names the files of a prompt in a folder. Slow, and no start of a session waits for it."""
        orienter = None
        with suppress(PreheatError, OSError, sqlite3.Error):
            orienter = _orientation.load_orienter(self._folder, cwd) if cwd and os.path.isdir(cwd) else None
        with suppress(PreheatError, OSError, sqlite3.Error):
            self._load_server_history(cwd)
        while len(self._orienters) >= _MOST_ORIENTERS:
            del self._orienters[next(iter(self._orienters))]
        self._orienters[cwd] = orienter

    def name_files(self, event: HookEvent, running: RunningSession, told: Sequence[str] = ()) -> NamedFiles | None:
        """The files that a prompt needs, of those that its session neither opened nor was told of, and the facts that it asks for
        and the session was not told; None if there are neither. `told`: lessons that it is told with this very prompt."""
        is_cold = running.assigned is not None and running.assigned.arm not in ("warm", "unassigned")
        if is_cold or not event.prompt.strip():
            return None
        text, paths, near = self._orient(event, running)
        room = PROMPT_TOKENS - (estimate_tokens(text) if text else 0)
        known = running.told_lessons.union(told, running.state.mistake.given_lessons)
        ran = [check.command for check in running.progress.checks]
        facts, ids = self._folder_at(event.cwd).facts.choose_for_prompt(
            event.agent, event.prompt, near, known, room, ran
        )
        if facts:
            text = f"{FACTS_OPEN}\n{facts}\n{FACTS_CLOSE}\n{text}".rstrip("\n")
            paths = (*paths, *(f"{FACT}{each}" for each in ids))
        if not text:
            return None
        root = running.assigned.root if running.assigned is not None else ""
        return NamedFiles(text, paths, self._assigner.assign_orientation(event, paths, running.state.turn, root))

    def _orient(self, event: HookEvent, running: RunningSession) -> tuple[str, tuple[str, ...], list[str]]:
        """What is said of the files of a prompt, which these are, and all that are likely, said or not."""
        orienter = self._orienters.get(event.cwd)
        if orienter is None:
            return "", (), []
        named = frozenset(each for each in running.oriented if not each.startswith(FACT))
        found = orienter.orient(event.prompt, TouchedFiles(frozenset(running.opened), frozenset(running.edited), named))
        paths, text = tuple(each.path for each in found.files), _orientation.describe(found)
        return text, paths if text else (), [*paths, *sorted(named)]

    def _has_new_file(self, at: FolderKnowledge, cwd: str) -> bool:
        """Whether the working tree has another file of lessons than when its folder was loaded."""
        clone = find_clone(cwd)
        return (find_file(clone.root).digest if clone is not None else "") != (at.digest if at.tree else "")

    def _stamp(self) -> tuple[float, ...]:
        path = archive_path(self._folder)
        marks: tuple[float, ...] = ()
        with suppress(UserError), reading(self._folder) as state:
            marks = (*marks_stamp(state), *written_stamp(state), *received_stamp(state))
        return _changed_at(path), _changed_at(f"{path}-wal"), *marks

    def _load_known(self, cwd: str) -> tuple[KnownMistakes, History]:
        if not os.path.exists(archive_path(self._folder)):  # a new colleague's first session
            return index_lessons(load_received_only(self._folder, cwd) if cwd else [], time.time()), NO_HISTORY
        with closing(connect_for_hooks(self._folder)) as connection:
            found = find_project_at(connection, cwd) if cwd else None
            known = load_known_mistakes(connection, found.name if found is not None else "", time.time(), cwd)
            if found is None:
                return known, NO_HISTORY
            if find_server(self._folder) is not None:  # `prepare_naming` asks it, for which nobody waits
                return known, self._folder_at(cwd).history
            return known, load_history(connection, found.key)

    def _load_server_history(self, cwd: str) -> None:
        """Load the history of a folder's commands from the server that keeps the archive, if one does. Slow."""
        if find_server(self._folder) is None or cwd not in self._folders:
            return
        with closing(connect(self._folder)) as connection:
            found = find_project_at(connection, cwd)
            history = load_history(connection, found.key) if found is not None else NO_HISTORY
        if cwd in self._folders:
            self._folders[cwd] = self._folders[cwd]._replace(history=history)

    def clear_folders(self) -> None:
        """Drop everything that was loaded, because new lessons were learned."""
        self._folders.clear()
        self._orienters.clear()

    def choose_context(
        self, event: HookEvent, task: str, is_given_up: Callable[[], bool] = lambda: False
    ) -> HandedContext | None:
        """The context of a session at its start. Slow: nothing is recorded as handed out if nobody waits for it any more."""
        at = self._folder_at(event.cwd)
        if (
            at.stamp != self._stamp() or self._has_new_file(at, event.cwd) or not at.facts.is_current()
        ):  # lessons or files may have changed since
            self.prepare_folder(event.cwd)
        form = self._message_format(event.agent)
        template = self._assigner.template_for(event)
        facts = self._folder_at(event.cwd).facts
        takes_prompts = self._carries(event.agent, "prompt")
        choose = partial(
            provision,
            self._folder,
            task,
            agent=event.agent,
            template=template,
            examples=bool(form),
            facts=facts if facts.root else None,
            lesson_budget=START_TOKENS if takes_prompts else PROMPT_TOKENS,
            at_start=takes_prompts,
        )
        try:
            chosen = choose(project=event.cwd, resuming=True, loaded=not template)
        except NotFound:  # no session ran here before: general lessons, and what the files say
            chosen = choose(cwd=event.cwd)
        chosen, replacement, records = self._assigner.treat(event, chosen)
        if replacement is not None:
            return HandedContext(chosen.id if replacement else "", replacement, records=records)
        if not chosen.items and not chosen.addendum:
            return HandedContext("", "", records=records) if records else None
        with suppress(UserError, OSError):  # a session must not fail because of this record
            if not is_given_up():
                record_use(self._folder, chosen, time.time())
        told = tuple(item.lesson for item in chosen.items)
        if form:
            return HandedContext(chosen.id, "", tuple(render(chosen, form).document), records, told)
        return HandedContext(chosen.id, render(chosen).text, records=records, told=told)

    def _carries(self, agent: str, moment: HookName) -> bool:
        """Whether a text that is given to an agent's program at a moment comes before the model."""
        hooks = hooks_of(agent)
        return hooks is not None and hooks.moments.carry(moment)

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


def _no_session(hook: HookEvent) -> RunningSession:
    """A session of which nothing is known but this event."""
    return RunningSession(agent=hook.agent, session=hook.session)


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _asks_for_all(command: str) -> bool:
    """Whether a command prints the full text of a shortened output, which must not be shortened again."""
    return "preheat" in command and any(
        each.program == "preheat" and (each.words[1:3] == ("admin", "output") or each.words[1:2] == ("output",))
        for each in understand(command).commands
    )
