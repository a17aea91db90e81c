"""Measurements: of one call in its session, of one session, of many.

Frozen values; how they are measured is in `profiles`. A rate with too little data is None, never a NaN.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.outcome import Cause, Rung, Status
from preheat.model.session import Relation, ToolKind

ToolType: TypeAlias = Literal["terminal", "code", "file", "research", "meta", "general"]
"""Families of tools, as the first implementation named them."""

WritingStyle: TypeAlias = Literal["command_driven", "conversational", "terse", "detailed", "balanced", "unknown"]


class CallRecord(msgspec.Struct, frozen=True, gc=False):
    """One judged call and its place in the session; one row of the archive.

    Fields are positional: a record is made for every call, and keywords would cost six times as much.
    """

    seq: int
    """0-based place among the session's calls, in recorded order (as `calls.seq` of the archive)."""
    tool: str
    kind: ToolKind
    activity: str
    """What the call was for: the kind, or for a shell command its purpose (`shell:test`)."""
    message: int
    """1-based place among the session's messages, counted as the archive counts them."""
    era: int
    """How many compactions came before the call."""
    bookkeeping: bool
    """The agent's notes to itself (plans, memory, questions): not counted in any rate."""
    status: Status
    rung: Rung
    """The evidence for the verdict."""
    exit_code: int | None
    signature: str
    """The masked message of a failure; empty for a success."""
    cause: Cause | None
    confidence: float
    """How often verdicts on this evidence are right, 0 to 1."""
    repeated: bool
    """The same tool with the same arguments was called earlier in the session."""
    reread: bool
    """A read of what was read before and not written since."""
    seconds: float | None
    """Time from the call to its result; None where it is not known."""
    lost_seconds: float
    """Time that a failure cost: from the model's previous input to this call's result, capped at ten minutes, each second counted
    once; 0 for successes and findings."""
    lost_tokens: int
    """Tokens that a failure cost: its share of its response, and its result; 0 for successes and findings."""
    recovered_in: int | None
    """For a failure: how many calls later the same intent succeeded, if within five; `seq` + this is the call that did."""


class Rate(msgspec.Struct, frozen=True, gc=False):
    """A share: `count` of `total`, with its 95 % interval. Value and interval are None when `total` is 0."""

    count: int
    total: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


class ToolUse(msgspec.Struct, frozen=True):
    """How often one tool was called, and how often that failed."""

    calls: int
    errors: Rate
    """All failures."""
    mistakes: Rate
    """Failures by the agent's own mistake."""


class UserStyle(msgspec.Struct, frozen=True):
    """How the person writes, by the rules of the first implementation."""

    messages: int
    average_length: float
    """Characters per message."""
    questions: float
    """Share of messages that ask something."""
    commands: float
    """Share of messages that begin with a slash."""
    style: WritingStyle


class SessionProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements of one session."""

    agent: str
    session: str
    model: str
    project: str
    messages: int
    prompts: int
    calls: int
    """Calls without bookkeeping."""
    bookkeeping_calls: int
    statuses: dict[str, int]
    """Calls by status; they add up to `calls`."""
    causes: dict[str, int]
    """Failed calls by cause; they add up to `errors.count`. `unknown` where the judge gave none."""
    rungs: dict[str, int]
    """Verdicts by their evidence; they add up to `calls`."""
    errors: Rate
    """Failed calls among the judged ones."""
    mistakes: Rate
    """Judged calls that failed by the agent's own mistake."""
    tools: dict[str, ToolUse]
    early: Rate
    """Errors in the first fifth of the calls."""
    late: Rate
    """Errors in the last fifth of the calls."""
    proficiency_gain: float | None
    """Late minus early error rate: negative is better."""
    slope: float | None
    """Change of the error rate per 100 calls, by least squares over this session alone."""
    slope_low: float | None
    slope_high: float | None
    """The ends of the 95 % interval of the slope."""
    recovery: Rate
    """Failures followed by a success of the same intent within five calls."""
    recovery_calls: float | None
    """How many calls a recovery took, on average."""
    repeats: Rate
    """Calls with the same tool and arguments as an earlier one in the session."""
    repeated_failures: Rate
    """Failures with a signature that had failed before in the session, of all failures."""
    rereads: Rate
    """Reads of what was read before and not written since."""
    lost_seconds: float
    """Time that failures cost."""
    lost_tokens: int
    """Tokens that failures cost."""
    seconds: float | None
    """Time from the first event to the last."""
    tokens: int
    """All tokens of the session, cached ones included."""
    context_peak: int | None
    """Tokens in the context when it was largest."""
    context_window: int | None
    """The size of the model's window, where the agent recorded it."""
    compactions: int
    user: UserStyle
    dominant_tool_type: ToolType
    context_markers: tuple[str, ...]
    """Paths, addresses and code blocks people and assistant referred to, most frequent first, at most 20."""
    proficiency: float
    """The score of the first implementation, 0 to 1: 0.7 x success rate + 0.3 x min(1, messages / 100); 0 under ten messages."""


class SessionFact(NamedTuple):
    """The fields of a judged session that a population needs."""

    session: int
    """The archive's number of the session, as in `CallFact.session`."""
    key: str
    agent: str
    model: str
    project: str
    messages: int
    parent: str | None
    """The id of the session that this one came out of, of the same agent."""
    relation: Relation | None
    started_at: float | None


class CallFact(NamedTuple):
    """The fields of a judged call (see `CallRecord`) that a population needs."""

    session: int
    """The archive's number of the session, as in `SessionFact.session`."""
    seq: int
    message: int
    era: int
    tool: str
    kind: ToolKind
    activity: str
    bookkeeping: bool
    status: Status
    cause: Cause | None
    signature_id: int | None
    """The archive's number for the signature: equal for the same mistake."""
    repeated: bool
    reread: bool
    lost_seconds: float
    lost_tokens: int
    recovered_in: int | None


class FailureFact(NamedTuple):
    """A call that failed or partly failed, and the call that repaired it where there was one."""

    key: str
    """The key of the session."""
    seq: int
    """Number (from 0) of the call among the session's calls."""
    agent: str
    project: str
    at: float | None
    tool: str
    kind: ToolKind
    activity: str
    bookkeeping: bool
    status: Status
    cause: Cause | None
    signature: str
    summary: str
    """The call's main argument."""
    lost_seconds: float
    lost_tokens: int
    recovered_in: int | None
    repair_tool: str | None
    """The tool of the call that repaired it; None where nothing did."""
    repair_summary: str | None
    """The main argument of the call that repaired it; None where nothing did."""
