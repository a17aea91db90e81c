"""Live events made from a recorded session (finished or growing), from one judged call, and from a prompt.

Knows no agent, no judge and no signal. A person who rewinds a session does not undo its events. The events of a growing session
are a prefix of its later events: no event changes once it was given.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Protocol

from msgspec import structs

from preheat.calls.files import find_touches, is_file, project_path
from preheat.calls.shell import command_form, read_shell
from preheat.calls.words import LONGEST_SUMMARY, summarise, words_in
from preheat.commands import CHECKS, Understanding, command_text, understand
from preheat.live.results import (
    count_failing,
    hash_call,
    hash_failing_tests,
    hash_failure,
    hash_result,
    is_polling,
    plain_result,
    sketch_change,
)
from preheat.model.live import (
    CallEvent,
    CompactionEvent,
    EndEvent,
    LiveEvent,
    PromptEvent,
    StartEvent,
    StartKind,
    StopEvent,
)
from preheat.model.outcome import FAILURES, Cause, Status
from preheat.model.profile import CallRecord
from preheat.model.session import (
    CONTEXT_WINDOW,
    LATE_ENDING,
    AssistantMessage,
    Compaction,
    Other,
    Relation,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
)
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.paths import make_paths_relative

MOST_WORDS, MOST_FILES = 60, 20
_LONGEST_PROMPT = 8_000
_LONGEST_COMMAND = 8_192
_PATH_IN_TEXT = re.compile(r"(?<![\w/.@-])(?:\.{0,2}/)?[\w@.+-]+(?:[/\\][\w@.+-]+)*(?![\w/\\])")
_TOOL_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CHECK_WORDS = {
    "test": "test", "tests": "test", "build": "build", "compile": "build", "lint": "lint", "typecheck": "typecheck",
    "diagnostics": "typecheck",
}  # fmt: skip
_STARTS: dict[Relation, StartKind] = {"fork": "fork", "continuation": "resume", "compaction": "compact"}
_NOT_DONE: frozenset[Status] = frozenset(["denied", "interrupted"])


class Verdict(Protocol):
    """The outcome of a call, as `Outcome` and `CallRecord` have it."""

    @property
    def status(self) -> Status: ...
    @property
    def cause(self) -> Cause | None: ...
    @property
    def signature(self) -> str: ...


class _StillRunning:
    """The verdict on a call that has not ended."""

    status: Status = "unknown"
    cause: Cause | None = None
    signature = ""


def call_event(
    call: ToolCall,
    result: ToolResult | None,
    verdict: Verdict,
    *,
    root: str = "",
    folder: str = "",
    context: tuple[int | None, int | None] = (None, None),
) -> CallEvent:
    """The event of a finished call. Paths are made relative to the project's `root` (and to `folder`, where the session works);
    `context` is the tokens before the model and the size of its window."""
    shorten = partial(make_paths_relative, root=root, folder=folder)
    command = command_text(call.input) if call.kind == "shell" else ""
    typed = shorten(command[:_LONGEST_COMMAND])
    understood = understand(command) if command else None
    touched = find_touches(call, shorten)
    has_changed = _changed_files(verdict, command)
    checks = _checks(call.tool, call.kind, understood) or _recorded_checks(result)
    text = plain_result(result.text) if result is not None else ""
    at = result.at if result is not None else None
    failed = verdict.status in FAILURES
    polling = is_polling(call.tool, understood, call.input)
    return CallEvent(
        at=call.at if at is None else at,
        turn=call.response,
        call_id=call.call_id,
        tool=call.tool,
        kind=call.kind,
        activity=read_shell(command).activity if command else call.kind,
        summary=one_line(_join_lines(typed) or shorten(summarise(call.input)), LONGEST_SUMMARY),
        form=(command_form(command) if command else "") or call.tool,
        files=tuple(dict.fromkeys(touch.path for touch in touched)),
        edited=tuple(
            dict.fromkeys(touch.path for touch in touched if has_changed and touch.how in ("changed", "made"))
        ),
        removed=tuple(dict.fromkeys(touch.path for touch in touched if has_changed and touch.how == "removed")),
        checks=checks,
        status=verdict.status,
        cause=verdict.cause,
        signature=verdict.signature,
        failing=count_failing(text, not failed) if checks else None,
        same_call=hash_call(call.tool, typed, call.input),
        same_result=hash_result(verdict.status, text),
        same_failure=hash_failure(text) if failed else 0,
        failing_tests=hash_failing_tests(text) if failed and (checks or polling) else (),
        change=sketch_change(call.input) if failed and call.kind in ("edit", "write") else (),
        polling=polling,
        context_tokens=context[0],
        context_window=context[1],
    )


def _join_lines(command: str) -> str:
    """A command of several lines on one line, joined by `;`; one with a here-document stays as it is."""
    if "\n" not in command or "<<" in command:
        return command
    lines = (line.strip() for line in command.replace("\\\n", " ").splitlines())
    return "; ".join(line.rstrip(";") for line in lines if line and not line.startswith("#"))


def _changed_files(verdict: Verdict, command: str) -> bool:
    """Whether a call changed files as its arguments say. A command that fails with a finding has changed files before that."""
    if verdict.status in _NOT_DONE:
        return False
    return verdict.status not in FAILURES or (bool(command) and verdict.cause == "finding")


def _checks(tool: str, kind: str, understood: Understanding | None) -> tuple[str, ...]:
    if understood is not None:
        return tuple(dict.fromkeys(each.purpose for each in understood.commands if each.purpose in CHECKS))
    if kind != "other":
        return ()
    return _named_checks(tool)


def _recorded_checks(result: ToolResult | None) -> tuple[str, ...]:
    """The checks that the agent's program recorded for a call: it knows the project's own check commands."""
    recorded = result.detail.get("checks") if result is not None else None
    return tuple(each for each in recorded if each in CHECKS) if isinstance(recorded, list) else ()


@lru_cache(1024)
def _named_checks(tool: str) -> tuple[str, ...]:
    words = (word.lower() for word in _TOOL_WORD.findall(tool[:200]))
    return tuple(dict.fromkeys(_CHECK_WORDS[word] for word in words if word in _CHECK_WORDS))


def prompt_event(text: str, at: float | None = None, root: str = "", folder: str = "") -> PromptEvent:
    """The event of a prompt: its telling words, and the files it names."""
    text = make_paths_relative(text[:_LONGEST_PROMPT], root, folder)
    words: dict[str, None] = {}
    for word in words_in(text):
        words[word] = None
        if len(words) == MOST_WORDS:
            break
    return PromptEvent(at=at, words=tuple(words), files=find_mentioned_files(text))


def find_mentioned_files(text: str) -> tuple[str, ...]:
    """The files that a text names, as paths of the project; `e.g.` and `v1.2` are no files."""
    found: dict[str, None] = {}
    for match in _PATH_IN_TEXT.finditer(text):
        if "." not in match[0] and "/" not in match[0]:
            continue
        path = project_path(match[0].rstrip(".").removeprefix("./").removeprefix("@"))
        if path and is_file(path) and ("/" in path or len(path.rpartition(".")[0]) > 1):
            found[path] = None
            if len(found) == MOST_FILES:
                break
    return tuple(found)


def events_of(
    session: Session, records: Sequence[CallRecord], root: str = "", *, finished: bool = True
) -> list[LiveEvent]:
    """The events of a session, in the order in which they became known.

    `records` are the verdicts; a call without one is left out. An unfinished session gives a prefix of its later events.
    """
    return [*_SessionEvents(session, records, root).events(), *(_ending_events(session) if finished else ())]


def _ending_events(session: Session) -> tuple[LiveEvent, ...]:
    at = session.ended_at
    return (StopEvent(at=at), EndEvent(at=at)) if session.events else (EndEvent(at=at),)


class _SessionEvents:
    """Reads the events of a session in one pass."""

    def __init__(self, session: Session, records: Sequence[CallRecord], root: str) -> None:
        self._session = session
        self._records = {record.seq: record for record in records if not record.bookkeeping}
        self._make_call = partial(call_event, root=root, folder=session.project)
        self._make_prompt = partial(prompt_event, root=root, folder=session.project)
        self._waiting: dict[str, list[tuple[ToolCall, CallRecord]]] = {}
        self._answered: dict[str, ToolResult] = {}
        self._running: dict[str, tuple[ToolCall, CallRecord]] = {}
        self._late = _late_endings(session)
        self._tokens: int | None = None
        self._window: int | None = None
        self._turn = ""

    def events(self) -> Iterator[LiveEvent]:
        session = self._session
        yield StartEvent(
            at=session.started_at, source=_STARTS.get(session.relation, "startup") if session.relation else "startup"
        )
        seq = -1
        worked = False
        for event in session.events:
            if isinstance(event, ToolCall):
                seq += 1
                worked = True
                record = self._records.get(seq)
                if record is not None:
                    yield from self._read_call(event, record)
            elif isinstance(event, ToolResult):
                yield from self._read_result(event)
            elif isinstance(event, UserMessage):
                if event.origin == "human" and event.text.strip():
                    if worked:
                        yield StopEvent(at=event.at)
                    worked = False
                    yield self._make_prompt(event.text, event.at)
            elif isinstance(event, AssistantMessage):
                worked = worked or bool(event.text)
                if event.usage is not None:
                    used = event.usage
                    self._tokens = used.input + used.cache_read + used.cache_write or self._tokens
            elif isinstance(event, Compaction):
                self._tokens = None
                yield CompactionEvent(at=event.at)
            elif isinstance(event, Other):
                yield from self._read_other(event)

    def _read_call(self, call: ToolCall, record: CallRecord) -> Iterator[LiveEvent]:
        answered = self._answered.get(call.call_id)
        if answered is not None:  # a call that was recorded after its result
            yield self._finish(call, answered, record)
        else:
            self._waiting.setdefault(call.call_id, []).append((call, record))

    def _read_result(self, result: ToolResult) -> Iterator[LiveEvent]:
        if result.call_id in self._answered:
            return
        self._answered[result.call_id] = result
        for call, record in self._waiting.pop(result.call_id, ()):
            if result.call_id in self._late and result.exit_code is None:
                self._running[result.call_id] = (call, record)
                yield self._finish(call, result, _StillRunning())
            else:
                yield self._finish(call, result, record)

    def _read_other(self, event: Other) -> Iterator[LiveEvent]:
        if event.name == CONTEXT_WINDOW and type(event.raw) is int:
            self._window = event.raw
        elif event.name == LATE_ENDING and isinstance(event.raw, dict):
            running = self._running.pop(str(event.raw.get("call_id")), None)
            if running is not None:  # belongs to the turn that learns of the ending
                call, record = running
                told = self._answered.get(str(event.raw.get("told_by")))
                text = told.text if told is not None else ""
                ended = ToolResult(line=event.line, at=event.at, call_id=call.call_id, text=text)
                ending = self._make_call(call, ended, record, context=(self._tokens, self._window))
                yield structs.replace(ending, turn=self._turn) if self._turn else ending

    def _finish(self, call: ToolCall, result: ToolResult, verdict: Verdict) -> CallEvent:
        self._turn = call.response
        return self._make_call(call, result, verdict, context=(self._tokens, self._window))


def _late_endings(session: Session) -> frozenset[str]:
    """The ids of calls whose ending was recorded after their result."""
    return frozenset(
        str(event.raw.get("call_id"))
        for event in session.events
        if isinstance(event, Other)
        and event.name == LATE_ENDING
        and isinstance(event.raw, dict)
        and (isinstance(event.raw.get("exit_code"), int) or event.raw.get("told_by"))
    )
