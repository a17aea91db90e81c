"""Sessions as lists show them, filters, search hits, and totals by agent.

Frozen values. Knows nothing of how the archive is queried.
"""

import msgspec


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session as the lists show it."""

    key: str
    agent: str
    session: str
    version: str
    model: str
    project: str
    branch: str
    parent: str | None
    relation: str | None
    started_at: float | None
    ended_at: float | None
    starter: str
    title: str
    opening: str
    events: int
    prompts: int
    messages: int
    calls: int
    errors: int
    compactions: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions to choose: every condition that is set must hold. Texts match anywhere, ignoring case."""

    agent: str | None = None
    project: str | None = None
    model: str | None = None
    since: float | None = None
    until: float | None = None
    min_messages: int | None = None
    max_messages: int | None = None
    subagents: bool = True


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that a search found, with its session."""

    session: SessionSummary
    line: int
    kind: str
    text: str


class ForgetPlan(msgspec.Struct, frozen=True):
    """What `forget` will delete."""

    sessions: list[SessionSummary]
    files: list[str]
    """The agents' own files, which stay."""
    copies: list[SessionSummary]
    """Continuations and forks of these sessions, which may repeat parts of them and stay."""


class AgentTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What the archive holds of one agent."""

    agent: str
    sources: int
    sessions: int
    calls: int
    messages: int
    problems: int
    redactions: int
    source_bytes: int
    first: float | None
    last: float | None
