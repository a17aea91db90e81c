"""What happens in a running session, what is measured of it, and what may be said: the values that pass between hook, fold,
signals and advice.

Frozen values; how a state comes about is in `live`. The same events come out of hooks and out of a finished transcript.
"""

import re
from typing import Any, Literal, TypeAlias

import msgspec

from preheat.model.outcome import Cause, Status
from preheat.model.session import PREHEAT_MARK, ToolKind

Phase: TypeAlias = Literal["warmup", "productive", "exploring", "struggling", "late"]
PHASES: tuple[Phase, ...] = ("warmup", "productive", "exploring", "struggling", "late")

SignalName: TypeAlias = Literal["focus", "loop", "debt", "drift", "pressure", "mistake", "trust", "phase"]

Start: TypeAlias = Literal["startup", "resume", "clear", "compact", "fork"]


# Events, as the fold takes them.
class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    at: float | None = None


class Began(_Event, frozen=True, kw_only=True, tag="began", gc=False):
    source: Start = "startup"


class Asked(_Event, frozen=True, kw_only=True, tag="asked", gc=False):
    """A person's prompt: a new goal, or more of the old one."""

    words: tuple[str, ...] = ()
    """The telling words of it, in lower case (code words split), at most 60."""
    files: tuple[str, ...] = ()
    """Paths it mentions, relative to the project."""


class Called(_Event, frozen=True, kw_only=True, tag="called", gc=False):
    """A finished tool call, judged."""

    turn: str = ""
    """The response that made it; calls of one response are one turn. Empty: a turn of its own."""
    call_id: str = ""
    tool: str
    kind: ToolKind
    activity: str
    """As `CallRecord.activity`: the kind, or for a shell command its purpose (`shell:test`)."""
    summary: str = ""
    """What it was given, on one line, relative, capped."""
    form: str = ""
    """Of a shell command (`calls.form.command_form`); else the tool."""
    files: tuple[str, ...] = ()
    """Files it touched, relative to the project."""
    edited: tuple[str, ...] = ()
    """Of those, the ones it changed."""
    removed: tuple[str, ...] = ()
    """Of those, the ones it took away; a folder stands for all that was below it."""
    checks: tuple[str, ...] = ()
    """What it checked: `test`, `build`, `lint`, `typecheck`."""
    status: Status = "unknown"
    cause: Cause | None = None
    signature: str = ""
    failing: int | None = None
    """How many tests or findings the output counts as failing, where it says so."""
    same_call: int = 0
    """A hash of tool and normalised arguments: equal for the same call."""
    same_result: int = 0
    """A hash of the normalised result: equal for the same outcome."""
    same_failure: int = 0
    """Of a failure: a hash of the lines that tell of it, without numbers; equal though the code has moved. 0: not known."""
    polling: bool = False
    """It waits or looks again by design (a poll, a debugger's step, `sleep`)."""
    context_tokens: int | None = None
    """Tokens before the model when it made the call, where that is known."""
    context_window: int | None = None
    """How many the model's window holds, where that is known."""


class Compacted(_Event, frozen=True, kw_only=True, tag="compacted", gc=False):
    """The conversation was replaced by a summary."""


class Stopped(_Event, frozen=True, kw_only=True, tag="stopped", gc=False):
    """The agent thinks that it is done with the prompt."""


class Ended(_Event, frozen=True, kw_only=True, tag="ended", gc=False):
    """The session is over."""


LiveEvent: TypeAlias = Began | Asked | Called | Compacted | Stopped | Ended


# What is measured and said.
class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One signal after an event."""

    signal: SignalName
    value: float
    fired: bool = False
    """It is over its threshold: there is something to say."""
    cause: str = ""
    """What it is about, the same while it lasts (the call that loops, the files in debt): said once for each."""
    facts: dict[str, str] = {}
    """The numbers of the formula by name, in the order in which `why` prints them."""
    text: str = ""
    """If fired: cause, evidence and next step in at most 120 tokens, as facts."""


class Advisory(msgspec.Struct, frozen=True, kw_only=True):
    """The one text that an event may cause."""

    signal: SignalName
    text: str
    cause: str
    turn: int
    lesson: str = ""
    """The id of the lesson it hands out."""


OPEN = f"{PREHEAT_MARK}advisory>"
CLOSE = f"</{PREHEAT_MARK[1:]}advisory>"
"""What an advisory stands between."""
_MARKS = re.compile(rf"</?{PREHEAT_MARK.removeprefix('<')}[^>]*>")


def without_marks(text: str) -> str:
    """What was said, as a person reads it."""
    return _MARKS.sub("", text)


# Hooks, in no agent's form.
HookName: TypeAlias = Literal[
    "session_start", "prompt", "before_tool", "after_tool", "tool_failed", "before_compaction", "after_compaction", "stop",
    "subagent_start", "subagent_stop", "session_end", "other",
]  # fmt: skip


class HookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent's program tells through a hook."""

    agent: str
    session: str
    """The host's own id of the session."""
    name: HookName
    told_as: str = ""
    """The event's name as the host calls it: an answer repeats it."""
    at: float | None = None
    cwd: str = ""
    transcript: str = ""
    source: Start | None = None
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
    """Not empty inside a subagent, which is left alone."""
    stop_again: bool = False
    """The host says that a stop was already held up once."""
    parent: str = ""
    """The id of the session that this one goes on from or was forked from, where the host says so."""
    turn: str = ""
    """The response that made the call, where the host says so; as `Called.turn`."""
    printed: str | None = None
    """What a command itself printed, where the result wraps it; what stands in the place of an output is made of it."""
    detail: dict[str, Any] = {}
    """What else the host recorded of a result; as `ToolResult.detail`."""
    attended: bool = True
    """A person sits there who could read a line."""


class HookAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What is told to the agent; empty: nothing."""

    context: str = ""
    """Put before the model as additional context."""
    output: str | None = None
    """Stands in the place of the tool's output, where the host allows it and the person asked for it."""
    block: str = ""
    """Only where the person asked for it: the reason for which a call is refused or a stop held up."""
    person: str = ""
    """A line for the person, not for the model."""
    messages: tuple[dict[str, Any], ...] = ()
    """The context as messages, where the host takes them and the person asked for it; then `context` is empty."""
