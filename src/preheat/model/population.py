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
    """A number with its 95 % interval; all None with too little data."""

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
    """The rates of some of the calls, with intervals from resampling sessions; None with too little data."""

    name: str
    sessions: int
    """With at least one judged call here."""
    errors: Rate
    mistakes: Rate
    findings: int
    environment: int
    unjudged: int
    """Calls that were refused, interrupted or unknown: in no rate."""

    @property
    def has_enough_data(self) -> bool:
        return self.sessions >= LEAST_SESSIONS and self.errors.total >= LEAST_CALLS


class PopulationGroup(msgspec.Struct, frozen=True):
    """The cells of one grouping, those with most calls first, and how many were left out."""

    cells: tuple[PopulationCell, ...]
    left_out: int = 0
    left_out_calls: int = 0


class ProjectMean(msgspec.Struct, frozen=True):
    """The mean of the projects' rates, each project with the same weight, with intervals from resampling projects."""

    name: str
    projects: int
    errors: IntervalEstimate
    mistakes: IntervalEstimate


class SlopeEstimate(msgspec.Struct, frozen=True, gc=False):
    """Change of a rate per 100 messages within sessions, by least squares with a fixed effect for each session."""

    name: str
    sessions: int
    calls: int
    change: IntervalEstimate


class MarathonAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The marathon question for one measure. Differences are long (over 100 messages) minus short (up to 50)."""

    measure: FailureMeasure
    raw: IntervalEstimate
    """(a) Over all calls."""
    middle: IntervalEstimate
    """(a) The middle bucket minus the short one."""
    within_agents: IntervalEstimate
    """(a) Long minus short inside each agent, weighted (Mantel-Haenszel): without the mix of agents."""
    selection: IntervalEstimate
    """(b) Over the first 50 messages only: the difference that existed before sessions were long."""
    selection_hundred: IntervalEstimate
    """(b) The same against all sessions that ended within 100 messages."""
    later: IntervalEstimate
    """(b) Long sessions as a whole minus their first 50 messages; `raw` is `selection` plus this."""
    slope: SlopeEstimate
    """(c) Over the first 200 messages, with session and kind of work held fixed; over all messages a few very long sessions
    would decide alone."""
    slope_any_work: SlopeEstimate
    """(c) The same with the session held fixed only."""
    slope_all: SlopeEstimate
    """(c) Over all messages, with the session and the kind of work held fixed."""
    checks: tuple[SlopeEstimate, ...]
    """(c) The slope on other subsets of the data."""
    verdict: LearningVerdict
    words: tuple[str, ...]
    """The answer in sentences, the conclusion first."""


class Marathon(msgspec.Struct, frozen=True, kw_only=True):
    """Do longer sessions fail less, and why? For all agents (`agent` is empty) or for one."""

    agent: str
    buckets: tuple[PopulationCell, ...]
    early: tuple[PopulationCell, ...]
    """The first 50 messages of the sessions in each bucket."""
    errors: MarathonAnswer
    mistakes: MarathonAnswer
    conclusion: str
    """Both answers in plain words: proficiency is about the agent's own mistakes, not about failing tests."""


class Population(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements of many sessions."""

    sessions: int
    calls: int
    """Without bookkeeping."""
    bookkeeping_calls: int
    statuses: dict[str, int]
    causes: dict[str, int]
    overall: PopulationCell
    even: tuple[ProjectMean, ...]
    """All sessions, then the buckets, with equal weights of projects."""
    tools: PopulationGroup
    activities: PopulationGroup
    agents: PopulationGroup
    models: PopulationGroup
    projects: PopulationGroup
    windows: tuple[PopulationCell, ...]
    """By place in the session, 25 messages each; the last holds the rest."""
    tenths: tuple[PopulationCell, ...]
    """By place in the session, as a share of its messages."""
    marathon: Marathon
    by_agent: tuple[Marathon, ...]
    resamples: int
    too_little: tuple[str, ...]
    """What could not be measured for lack of data, in words."""
