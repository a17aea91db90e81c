"""Measurements of many sessions, and whether agents get better within a session.

Frozen values; how they are measured is in `profiles`. A number with too little data is None, never a NaN. Shares are between 0
and 1, differences and slopes in the same unit: 0.01 is one percentage point.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.profile import Rate

FailureMeasure: TypeAlias = Literal["errors", "mistakes"]
"""What is counted: every failure, or only those that were the agent's own mistake."""

FAILURE_MEASURES: tuple[FailureMeasure, ...] = ("errors", "mistakes")

Direction: TypeAlias = Literal["lower", "higher", "no_difference", "too_little_data"]
"""The sign of a difference or a slope, by its 95 % interval."""

LearningVerdict: TypeAlias = Literal[
    "learning", "learning_and_selection", "selection", "worse", "other_work", "neither", "too_little_data"
]
"""What explains how the error rate changes with the length of a session:

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
"""A slope over fewer failures than this is not reported."""


def format_points(value: float) -> str:
    """A difference in percentage points with its sign: `−0.4`; never `-0.0`."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


MOST_CELLS = 12
"""Cells of a grouping that are shown by default."""


class IntervalEstimate(msgspec.Struct, frozen=True, gc=False):
    """A difference with its 95 % interval; all None with too little data."""

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
        return f"{format_points(self.value)} ({format_points(self.low)} to {format_points(self.high)})"


class PopulationCell(msgspec.Struct, frozen=True, kw_only=True):
    """The failure rates of some of the calls, with intervals from resampling sessions; no interval with too little
    data."""

    name: str
    sessions: int
    """Sessions with at least one judged call in the cell."""
    errors: Rate
    mistakes: Rate
    findings: int
    """Failed calls that report a finding."""
    environment: int
    """Calls that failed because of the environment."""
    unjudged: int
    """Calls that were refused, interrupted or unknown: in no rate."""

    @property
    def has_enough_data(self) -> bool:
        return self.sessions >= LEAST_SESSIONS and self.errors.total >= LEAST_CALLS


class PopulationGroup(msgspec.Struct, frozen=True):
    """The calls grouped in one way (by tool, by agent…): a cell for each group."""

    cells: tuple[PopulationCell, ...]
    """The cells with most calls, the largest first."""
    left_out: int = 0
    """Cells that are not listed."""
    left_out_calls: int = 0
    """Calls in the cells that are not listed."""


class ProjectMean(msgspec.Struct, frozen=True):
    """The mean of the projects' rates, each project with the same weight, with intervals from resampling projects."""

    name: str
    projects: int
    errors: IntervalEstimate
    mistakes: IntervalEstimate


class SlopeEstimate(msgspec.Struct, frozen=True, gc=False):
    """The change of a failure rate per 100 messages within sessions, by least squares with a fixed effect for each
    session."""

    name: str
    sessions: int
    calls: int
    change: IntervalEstimate


class MarathonAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether longer sessions fail less, by one measure. Differences are long sessions (over 100 messages) minus
    short ones (up to 50)."""

    measure: FailureMeasure
    raw: IntervalEstimate
    """The difference over all calls."""
    middle: IntervalEstimate
    """Sessions of 51 to 100 messages minus short ones, over all calls."""
    within_agents: IntervalEstimate
    """Long minus short inside each agent, weighted (Mantel-Haenszel), so that the mix of agents plays no part."""
    selection: IntervalEstimate
    """Long minus short over the first 50 messages only: the difference that existed before sessions were long."""
    selection_hundred: IntervalEstimate
    """Over the first 50 messages only: long sessions minus all that ended within 100 messages."""
    later: IntervalEstimate
    """Long sessions as a whole minus their first 50 messages; `raw` is `selection` plus this."""
    slope: SlopeEstimate
    """The slope within sessions over the first 200 messages, with session and kind of work held fixed; over all
    messages a few very long sessions would decide alone."""
    slope_any_work: SlopeEstimate
    """The slope over the first 200 messages with only the session held fixed."""
    slope_all: SlopeEstimate
    """The slope over all messages, with session and kind of work held fixed."""
    checks: tuple[SlopeEstimate, ...]
    """The slope on other subsets of the data."""
    verdict: LearningVerdict
    words: tuple[str, ...]
    """The answer in sentences, the conclusion first."""


class Marathon(msgspec.Struct, frozen=True, kw_only=True):
    """Whether longer sessions fail less, and why."""

    agent: str
    """The agent whose sessions are measured; empty: all agents."""
    buckets: tuple[PopulationCell, ...]
    """The rates by length of the session: short, middle, long."""
    early: tuple[PopulationCell, ...]
    """The rates in the first 50 messages, by length of the session."""
    errors: MarathonAnswer
    """The answer for every failure."""
    mistakes: MarathonAnswer
    """The answer for the agents' own mistakes."""
    conclusion: str
    """Both answers in plain words: proficiency is about the agent's own mistakes, not about failing tests."""


class Population(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements of many sessions."""

    sessions: int
    calls: int
    """Calls without bookkeeping."""
    bookkeeping_calls: int
    statuses: dict[str, int]
    """Calls by status."""
    causes: dict[str, int]
    """Failed calls by cause."""
    overall: PopulationCell
    """The rates over all calls."""
    even: tuple[ProjectMean, ...]
    """The rates with equal weights of projects: over all sessions, then by length of the session."""
    tools: PopulationGroup
    activities: PopulationGroup
    agents: PopulationGroup
    models: PopulationGroup
    projects: PopulationGroup
    windows: tuple[PopulationCell, ...]
    """The rates by place in the session, in windows of 25 messages; the last window holds the rest."""
    tenths: tuple[PopulationCell, ...]
    """The rates by place in the session, in tenths of its messages."""
    marathon: Marathon
    """Whether longer sessions fail less, over all agents."""
    by_agent: tuple[Marathon, ...]
    """Whether longer sessions fail less, for each agent."""
    resamples: int
    """How often sessions were resampled for each interval."""
    too_little: tuple[str, ...]
    """What could not be measured for lack of data, in words."""
