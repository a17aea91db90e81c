"""Measurements of many sessions, and the answer to whether agents get better within one.

Frozen values; how they are measured is in `profiles`. A number that has too little to go on is None, never a NaN. Shares
are between 0 and 1, differences and slopes in the same unit: 0.01 is one percentage point.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.profile import Rate

Measure: TypeAlias = Literal["errors", "mistakes"]
"""What is counted: every failure, or only those that were the agent's own mistake."""

MEASURES: tuple[Measure, ...] = ("errors", "mistakes")

Direction: TypeAlias = Literal["lower", "higher", "no_difference", "too_little_data"]
"""Where a difference or a slope points, by its 95 % interval."""

Verdict: TypeAlias = Literal[
    "learning", "learning_and_selection", "selection", "worse", "other_work", "neither", "too_little_data"
]
"""What explains how the error rate goes with length:

- `learning`: within a session, at equal work, later calls fail less (of all failures: or tests begin to pass)
- `learning_and_selection`: that, and sessions that become long differ from their first messages on
- `selection`: sessions that become long differ from their first messages on, and nothing changes within a session
- `worse`: within a session, at equal work, later calls fail more
- `other_work`: rates differ by length, but neither from the start nor within a session at equal work: later work is other work
- `neither`: no difference that this data can show
"""

LEAST_SESSIONS = 5
LEAST_CALLS = 30
"""A cell with fewer sessions or judged calls gives no interval: too little data."""
LEAST_EVENTS = 5
"""A slope over fewer failures than this says nothing."""


def in_points(value: float) -> str:
    """A difference in percentage points with its sign: `−0.4`; never a negative nothing."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


TOP = 12
"""Cells of a grouping that are shown unless all are wanted."""


class Estimate(msgspec.Struct, frozen=True, gc=False):
    """A number with its 95 % interval; all None when there is too little data."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def direction(self) -> Direction:
        if self.low is None or self.high is None:
            return "too_little_data"
        return "lower" if self.high < 0 else "higher" if self.low > 0 else "no_difference"

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "too little data"
        return f"{in_points(self.value)} ({in_points(self.low)} to {in_points(self.high)})"


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the calls. The intervals of its rates are for sessions drawn anew, and None when there is too little data."""

    name: str
    sessions: int
    """With at least one judged call here."""
    errors: Rate
    mistakes: Rate
    findings: int
    environment: int
    unjudged: int
    """Calls that were refused, cut off or cannot be told: in no rate."""

    @property
    def enough(self) -> bool:
        return self.sessions >= LEAST_SESSIONS and self.errors.total >= LEAST_CALLS


class Group(msgspec.Struct, frozen=True):
    """The cells of one grouping, the most calls first, and what was left out."""

    cells: tuple[Cell, ...]
    left_out: int = 0
    left_out_calls: int = 0


class EvenBucket(msgspec.Struct, frozen=True):
    """The mean of the projects' own rates, every project weighing the same, with projects drawn anew."""

    name: str
    projects: int
    errors: Estimate
    mistakes: Estimate


class Slope(msgspec.Struct, frozen=True, gc=False):
    """Change of a rate per 100 messages within sessions, by least squares with every session's own level taken out."""

    name: str
    sessions: int
    calls: int
    change: Estimate


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The marathon question for one measure. Differences are long (over 100 messages) minus short (up to 50)."""

    measure: Measure
    raw: Estimate
    """(a) Over all calls."""
    middle: Estimate
    """(a) The middle bucket minus the short one: the hump, if there is one."""
    within_agents: Estimate
    """(a) Long minus short inside each agent, weighted (Mantel-Haenszel): without the mix of agents."""
    selection: Estimate
    """(b) Over the first 50 messages only: what long sessions had before they were long."""
    selection_hundred: Estimate
    """(b) The same against all sessions that ended within 100 messages."""
    later: Estimate
    """(b) Long sessions after all, minus the same sessions in their first 50 messages; `raw` is `selection` plus this."""
    slope: Slope
    """(c) Over the first 200 messages, with the session and the kind of work held fixed. That is where the question is
    asked; over all messages a few very long sessions would decide alone."""
    slope_any_work: Slope
    """(c) The same with the session held fixed only."""
    slope_all: Slope
    """(c) Over all messages, with the session and the kind of work held fixed."""
    checks: tuple[Slope, ...]
    """(c) Again on other cuts of the data."""
    verdict: Verdict
    words: tuple[str, ...]
    """The answer in sentences, the conclusion first."""


class Marathon(msgspec.Struct, frozen=True, kw_only=True):
    """Do longer sessions fail less, and why? For all agents (`agent` is empty) or for one."""

    agent: str
    buckets: tuple[Cell, ...]
    early: tuple[Cell, ...]
    """The first 50 messages of the sessions in each bucket."""
    errors: Answer
    mistakes: Answer
    conclusion: str
    """Both together in plain words: proficiency is about the agent's own mistakes, not about failing tests."""


class Population(msgspec.Struct, frozen=True, kw_only=True):
    """Many sessions, measured."""

    sessions: int
    calls: int
    """Without bookkeeping."""
    bookkeeping_calls: int
    statuses: dict[str, int]
    causes: dict[str, int]
    overall: Cell
    even: tuple[EvenBucket, ...]
    """Everything, then the buckets, with every project weighing the same."""
    tools: Group
    activities: Group
    agents: Group
    models: Group
    projects: Group
    windows: tuple[Cell, ...]
    """By place in the session, 25 messages each; the last holds the rest."""
    tenths: tuple[Cell, ...]
    """By place in the session, as a share of its messages."""
    marathon: Marathon
    by_agent: tuple[Marathon, ...]
    resamples: int
    too_little: tuple[str, ...]
    """What could not be said for want of data, in words."""
