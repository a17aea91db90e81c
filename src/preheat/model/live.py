"""A running session: its events, signals and advisories, hook events and answers, and entries of the daemon's journal.

Frozen values; how a state comes about is in `live`. Hooks and finished transcripts give the same events.
"""

import re
from typing import Any, Literal, TypeAlias

import msgspec

from preheat.model.experiment import AssignmentRecord
from preheat.model.outcome import Cause, Status
from preheat.model.session import PREHEAT_MARK, ToolKind

Phase: TypeAlias = Literal["warmup", "productive", "exploring", "struggling", "late"]
PHASES: tuple[Phase, ...] = ("warmup", "productive", "exploring", "struggling", "late")
"""The phases that a running session can be in."""

SignalName: TypeAlias = Literal["focus", "loop", "debt", "drift", "pressure", "mistake", "trust", "phase"]

StartKind: TypeAlias = Literal["startup", "resume", "clear", "compact", "fork"]
"""How a session began; `clear`: the person emptied the conversation, `compact`: it continues after a compaction."""


# Events, which the fold in `live` makes a state of.
class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    at: float | None = None
    """When it happened, in seconds since the epoch."""


class StartEvent(_Event, frozen=True, kw_only=True, tag="began", gc=False):
    """The session was started, resumed, cleared or continued after a compaction."""

    source: StartKind = "startup"


class PromptEvent(_Event, frozen=True, kw_only=True, tag="asked", gc=False):
    """A person's prompt."""

    words: tuple[str, ...] = ()
    """The prompt's significant words, in lower case (identifiers split), at most 60."""
    files: tuple[str, ...] = ()
    """Paths that the prompt mentions, relative to the project."""


class CallEvent(_Event, frozen=True, kw_only=True, tag="called", gc=False):
    """A finished tool call, judged."""

    turn: str = ""
    """The id of the response that made the call; calls of one response are one turn. Empty: a turn of its own."""
    call_id: str = ""
    tool: str
    kind: ToolKind
    activity: str
    """What the call was for, as in `CallRecord.activity`: the kind, or for a shell command its purpose
    (`shell:test`)."""
    summary: str = ""
    """The call's main argument, on one line, with relative paths, capped."""
    form: str = ""
    """The form of a shell command (`calls.shell.command_form`); for other calls the tool."""
    files: tuple[str, ...] = ()
    """Files that the call touched, relative to the project."""
    edited: tuple[str, ...] = ()
    """Files among `files` that the call changed."""
    removed: tuple[str, ...] = ()
    """Files among `files` that the call removed; a folder stands for everything in it."""
    checks: tuple[str, ...] = ()
    """What the call checked: `test`, `build`, `lint`, `typecheck`."""
    status: Status = "unknown"
    cause: Cause | None = None
    signature: str = ""
    """The masked message of a failure; empty for a success."""
    failing: int | None = None
    """How many tests or findings the output counts as failing, where it says so."""
    same_call: int = 0
    """A hash of tool and normalised arguments: equal for the same call."""
    same_result: int = 0
    """A hash of the normalised result: equal for the same outcome."""
    same_failure: int = 0
    """A hash of a failure's message without numbers: equal even if the code has moved. 0: not known."""
    failing_tests: tuple[int, ...] = ()
    """Hashes of the names of failing tests, where the output of a check names them."""
    change: tuple[int, ...] = ()
    """Of an edit that failed: a sketch of what it would have changed (`live.results.sketch_change`)."""
    polling: bool = False
    """The call repeats by design (a poll, a debugger's step, `sleep`)."""
    context_tokens: int | None = None
    """Tokens in the model's context when it made the call, where known."""
    context_window: int | None = None
    """The size of the model's context window, where known."""


class CompactionEvent(_Event, frozen=True, kw_only=True, tag="compacted", gc=False):
    """The conversation was replaced by a summary."""


class StopEvent(_Event, frozen=True, kw_only=True, tag="stopped", gc=False):
    """The agent thinks that it is done with the prompt."""


class EndEvent(_Event, frozen=True, kw_only=True, tag="ended", gc=False):
    """The session is over."""


LiveEvent: TypeAlias = StartEvent | PromptEvent | CallEvent | CompactionEvent | StopEvent | EndEvent


# Signals and advisories.
class SignalReading(msgspec.Struct, frozen=True, kw_only=True):
    """The value of one signal after an event."""

    signal: SignalName
    value: float
    fired: bool = False
    """Whether the value is over its threshold."""
    cause: str = ""
    """What the signal is about (the call that loops, the files in debt), the same while it lasts: advice is given
    once for each."""
    facts: dict[str, str] = {}
    """The numbers of the signal's formula by name, in the order in which `preheat sessions explain` prints them."""
    text: str = ""
    """The advice, if the signal fired: cause, evidence and next step in at most 120 tokens, as facts."""


class Advisory(msgspec.Struct, frozen=True, kw_only=True):
    """The one short text that an event may cause."""

    signal: SignalName
    """The signal that caused it."""
    text: str
    cause: str
    """What it is about, as in `SignalReading.cause`."""
    turn: int
    """Number of the session's turn in which it was made."""
    lesson: str = ""
    """The id of the lesson that it hands out; empty: none."""
    names: tuple[str, ...] = ()
    """What an answer names to use instead, as later calls would say it: paths relative to the project, scripts, commands."""


ANSWER, WARNING = "answer:", "warning:"
"""How the cause of an advisory begins that answers a failure from the working tree, or warns before a call."""


def is_answer(advisory: Advisory) -> bool:
    """Whether an advisory is an answer on the spot or a warning before a call, not the advice of a signal or a lesson."""
    return advisory.cause.startswith((ANSWER, WARNING))


def answer_subject(cause: str) -> str:
    """What such an advisory is about, whether it was said before the call or after: it is said once in a session."""
    return cause.partition(" ")[2]


ADVISORY_OPEN = f"{PREHEAT_MARK}advisory>"
ADVISORY_CLOSE = f"</{PREHEAT_MARK[1:]}advisory>"
"""The tags around an advisory."""
_MARKS = re.compile(rf"</?{PREHEAT_MARK.removeprefix('<')}[^>]*>")


def strip_marks(text: str) -> str:
    """The text without Preheat's tags."""
    return _MARKS.sub("", text)


# Hooks.
HookName: TypeAlias = Literal[
    "session_start", "prompt", "before_tool", "after_tool", "tool_failed", "before_compaction", "after_compaction", "stop",
    "subagent_start", "subagent_stop", "session_end", "other",
]  # fmt: skip


class HookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A hook event of an agent's program, in no agent's form."""

    agent: str
    session: str
    """The host's own id of the session."""
    name: HookName
    host_event: str = ""
    """The host's own name of the event: an answer repeats it."""
    at: float | None = None
    cwd: str = ""
    """The folder in which the agent works."""
    transcript: str = ""
    """The path of the session's transcript."""
    source: StartKind | None = None
    """How the session started; None for other events."""
    prompt: str = ""
    model: str = ""
    call_id: str = ""
    tool: str = ""
    arguments: dict[str, Any] = {}
    result: str | None = None
    is_error: bool | None = None
    exit_code: int | None = None
    seconds: float | None = None
    interrupted: bool = False
    subagent: str = ""
    """The id of the subagent; empty in the main session. Subagents get no advice."""
    stop_again: bool = False
    """The host says that a stop was already held up once."""
    parent: str = ""
    """The id of the session that this one continues or was forked from, where the host says so."""
    turn: str = ""
    """The id of the response that made the call, where the host says so; as `CallEvent.turn`."""
    printed: str | None = None
    """The output of a command, where the result wraps it: a shortened output is made of it."""
    detail: dict[str, Any] = {}
    """What else the host recorded of a result, as in `ToolResult.detail`."""
    attended: bool = True
    """Whether a person is there who could read a line."""


class HookAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a hook event; an empty one says nothing."""

    context: str = ""
    """Additional context for the model."""
    output: str | None = None
    """A text that replaces the tool's output, where the host allows it and the person turned that on."""
    block: str = ""
    """Why a call is refused or a stop is held up; only where the person turned that on."""
    person: str = ""
    """A line for the person, not for the model."""
    messages: tuple[dict[str, Any], ...] = ()
    """The context as messages, where the host takes them and the person turned that on; then `context` is empty."""


# The daemon's journal.
class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"assignments": "lots"}):
    """The events of one hook call (or of a look at the transcript), and the answer."""

    seq: int = 0
    """The number of the entry in the journal; set when it is appended."""
    at: float
    agent: str
    session: str
    """The agent's id of the session."""
    hook: str = ""
    """The name of the hook; `transcript` for events that were read from the transcript."""
    key: str = ""
    """Equal if the same hook event arrived twice."""
    call_id: str = ""
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    events: tuple[LiveEvent, ...] = ()
    advisory: Advisory | None = None
    """The advisory that was given."""
    withheld: Advisory | None = None
    """The advisory that was withheld at random."""
    undelivered: Advisory | None = None
    """An advisory that there was and that could not be given at this moment: it waits for the next one that can."""
    assignments: tuple[AssignmentRecord, ...] = ()
    """Assignments that were made: of an arm, of lessons, of advice."""
    context: str = ""
    """The id of the context that was given."""
    told: tuple[str, ...] = ()
    """The ids of the lessons in that context."""
    context_due: bool | None = None
    """True: the answer to the start of the session did not reach the agent. False: that was made good, or given up."""
    held: bool = False
    """A stop was held up, because the person asked for that."""
    refused: str = ""
    """Why a call was refused, because the person asked for that."""
    held_call: str = ""
    """A hash of a call that was held once because it is known to fail; the person asked for that."""
    own: bool = False
    """Whether it is a session that Preheat itself started."""
    orientation: tuple[str, ...] = ()
    """Files that were named with a prompt, or would have been, had that not been withheld at random."""
    planned_call: str = ""
    """The call that an advisory before it is about: its id, or `tool NAME` where the program gives none."""
    passed_call: str = ""
    """A hash of a call that was held once, came again and was let pass."""
    is_reported: bool = False
    """Whether the person was shown what the session was told so far."""
    tokens: int = 0
    """Tokens that the answer put into the model's context, estimated."""
    events_taken: int = 0
    """Events of the session that were answered since the last entry."""
    microseconds: int = 0
    """The daemon's time on them."""
    slowest: int = 0
    """The longest of these times, in microseconds."""
