"""A randomised comparison: its plan, assignments, deliveries, how sessions went, and the estimated effects. Frozen values.

Knows nothing of how arms are assigned (`experiments`) nor of how an effect is estimated (`statistics`).
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import force_setattr

Arm: TypeAlias = Literal["warm", "cold", "placebo", "note"]
"""`warm`: what Preheat chose; `cold`: nothing; `placebo`: as many tokens that are true and of no use here; `note`: the same facts
as prose."""

MetricName: TypeAlias = Literal[
    "mistakes", "errors", "success", "seconds", "tokens", "cost", "corrections", "rating", "misuse",
]  # fmt: skip
"""`misuse` is what version 0.1.0 called `mistakes`: it is read in plans that were stored then, and never written."""

EffectVerdict: TypeAlias = Literal["helps", "hurts", "no difference", "too little data"]
"""`no difference`: the interval lies within the margin; an interval that holds zero and more is `too little data`."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One session in a comparison, measured by one metric: the value is `above / below`."""

    session: str
    arm: str
    above: float
    below: float = 1.0
    """What `above` is counted over; 1 for a plain mean."""
    stratum: str = ""
    """The group within which the session was assigned: agent and project."""
    cluster: str = ""
    """What makes the session similar to others (the project; in the lab the task); empty: a cluster of its own."""
    before: float | None = None
    """The same metric over sessions of the project from before the trial, which no arm can have changed."""
    at: float = 0.0


class EffectEstimate(msgspec.Struct, frozen=True, kw_only=True, rename={"remarks": "named"}):
    """The difference that an arm makes to a metric: `arm` minus `against`."""

    metric: str
    arm: str
    against: str
    units: tuple[int, int]
    """Sessions in `arm` and in `against`."""
    level: float | None = None
    """The metric in `arm`."""
    base: float | None = None
    """The metric in `against`."""
    difference: float | None = None
    """None where it cannot be estimated; `why` says so."""
    low: float | None = None
    high: float | None = None
    """The ends of the 95 % interval, which holds for one look at the planned end."""
    always_low: float | None = None
    always_high: float | None = None
    """The ends of the always-valid interval, which holds however often one looks."""
    p: float | None = None
    """The p-value of the difference."""
    adjusted: bool = False
    """Whether the difference is adjusted for what was known before the trial."""
    method: str = ""
    """The statistical method, in words."""
    why: str = ""
    """Why there is no difference or no interval."""
    error: float | None = None
    """The standard error of the difference."""
    freedom: float | None = None
    """Degrees of freedom of the interval."""
    clusters: int = 0
    """The number of clusters, where these and not sessions are the unit of the variance."""
    remarks: tuple[str, ...] = ()
    """What a reader must know: sessions left out, an arm without variance, one project only."""


# Arms and metrics.
ARMS: tuple[Arm, ...] = ("cold", "placebo", "note", "warm")
"""In the order of their ranges: a share that grows takes from its neighbour, so that most sessions keep their arm."""
METRICS: tuple[MetricName, ...] = (
    "mistakes", "errors", "success", "seconds", "tokens", "cost", "corrections", "rating",
)  # fmt: skip
MARGINS: dict[MetricName, float] = {
    "mistakes": 0.01, "errors": 0.01, "success": 0.1, "seconds": 60.0, "tokens": 10_000.0, "cost": 10_000.0,
    "corrections": 0.1, "rating": 0.1,
}  # fmt: skip
"""The smallest difference that matters, by default."""
SHARES: frozenset[MetricName] = frozenset(["mistakes", "errors", "success", "rating"])
"""Metrics that cannot differ by more than 1."""
GUARDRAIL_MARGIN = 0.1
"""The relative worsening that a guardrail allows."""
PLACEBO_TOLERANCE = 0.05
"""The relative difference allowed between the tokens of a placebo and of the warm context."""
EARLIER_METRICS: dict[str, MetricName] = {"misuse": "mistakes"}
"""Metrics by the names that version 0.1.0 had for them."""
HOLDOUT = "holdout"
"""The name of the holdout: the comparison that always runs, warm against sessions that are held out."""
STORED_HOLDOUT = "standing"
"""The holdout's name in assignments, and what version 0.1.0 called it. The arm of a session depends on it: it never changes."""

# Plans, assignments, ratings, the ledger.
AssignedArm: TypeAlias = Literal["warm", "cold", "placebo", "note", "unassigned"]
"""`unassigned`: the session's start was missed; it is treated as warm and counts nowhere."""


class ExperimentPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan of a comparison, made before its first session. Never changed: its digest is in every assignment."""

    name: str
    arms: tuple[Arm, ...] = ("warm", "cold")
    shares: tuple[float, ...] = (0.5, 0.5)
    """Shares of the arms, in their order; they add up to 1."""
    metric: MetricName = "mistakes"
    """The metric that decides."""
    guardrails: tuple[MetricName, ...] = ()
    """Metrics that must not get worse by more than a tenth."""
    margin: float = 0.01
    """Smaller differences of the metric do not matter."""
    stop: str = "anytime"
    """When it ends: `anytime` (a person ends it), or `n=200` (after so many sessions)."""
    agent: str = ""
    """Only sessions of this agent take part; empty: of all agents."""
    project: str = ""
    """Only sessions in this folder take part; empty: in all folders."""
    template: str = ""
    """The template that warm sessions get, as `name@digest`; empty: the lessons of their project."""
    at: float = 0.0
    """When the plan was made, in seconds since the epoch."""

    def __post_init__(self) -> None:
        if self.metric in EARLIER_METRICS:
            force_setattr(self, "metric", EARLIER_METRICS[self.metric])
        if not EARLIER_METRICS.keys().isdisjoint(self.guardrails):
            force_setattr(self, "guardrails", tuple(EARLIER_METRICS.get(each, each) for each in self.guardrails))

    @property
    def is_holdout(self) -> bool:
        """Whether it is the holdout, which has no start. An experiment of version 0.1.0 may have the same name."""
        return self.name == HOLDOUT and not self.at

    @property
    def sessions(self) -> int | None:
        """The planned number of sessions; None: a person ends it."""
        return int(self.stop[2:]) if self.stop.startswith("n=") else None


class Assignment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="lot", tag="arm"):
    """Which arm a session is in. Stored before the session is given anything."""

    session: str
    """The key of the session: agent and id."""
    root: str
    """The key of the first session in the line of continuations: the arm was assigned to that one."""
    experiment: str
    """Name and digest of the plan."""
    arm: AssignedArm
    shares: dict[str, float] = {}
    """Shares by arm at the time of the assignment."""
    agent: str = ""
    project: str = ""
    """The folder of the project. Arms are balanced within agent and project."""
    at: float
    why: str = ""
    """Why the session is unassigned."""


class Delivery(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="lot",
    tag="given",
    rename={"withheld": "spared"},
):
    """What a session was given at its start, and which lessons were withheld at random."""

    session: str
    """The key of the session: agent and id."""
    at: float
    context: str = ""
    """The id of the context that was given; empty: nothing was given."""
    tokens: int = 0
    offered: int = 0
    """How many lessons could be given, whatever the arm."""
    template: str = ""
    """The template of these lessons, as `name@digest`, whatever the arm."""
    shown: tuple[str, ...] = ()
    """Ids of the lessons that could have been withheld at random and were given."""
    withheld: tuple[str, ...] = ()
    """Ids of the lessons that were withheld at random."""
    probability: float = 1.0
    """The probability of being given, for each lesson that could have been withheld."""


class AdviceAssignment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="lot", tag="advice"):
    """A moment at which there was advice to give, and whether it was given."""

    session: str
    """The key of the session: agent and id."""
    at: float
    turn: int
    """Number of the session's turn at that moment."""
    signal: str
    cause: str
    """A hash of what the advice was about."""
    shown: bool
    """Whether the advice was given."""
    probability: float
    """The probability of being given."""


AssignmentRecord: TypeAlias = Assignment | Delivery | AdviceAssignment
"""What is stored about the randomisation of a session: its arm, what it was given, its advice."""


class Rating(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person's rating of a session."""

    session: str
    """The key of the session: agent and id."""
    good: bool
    at: float
    note: str = ""


LedgerKind: TypeAlias = Literal["experiment", "withdrawn", "brought back"]
"""What a line of the ledger records: an experiment that ended, or a lesson that was withdrawn or brought back."""


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the ledger: an experiment that ended, or a lesson that was withdrawn or brought back. Never changed."""

    kind: LedgerKind
    at: float
    name: str
    """The name of the experiment, or the id of the lesson."""
    sentence: str
    """The result in one plain sentence."""
    verdict: str = ""
    plan: ExperimentPlan | None = None
    digest: str = ""
    """The digest of the plan."""
    estimates: tuple[EffectEstimate, ...] = ()
    problems: tuple[str, ...] = ()
    sessions: dict[str, int] = {}
    """How many sessions there were by arm; for a lesson: `shown` and `withheld`."""
    text: str = ""
    """The sentence of the lesson; empty for an experiment."""
    before: str = ""
    """The digest of the line before in the ledger, so that a changed or missing line is noticed."""


class SessionResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a session went: the values that the metrics of a comparison need."""

    session: str
    """The key of the session: agent and id."""
    agent: str = ""
    project: str = ""
    """The folder of the session's project."""
    parent: str = ""
    """The key of the session that this one came out of; empty: none."""
    relation: str = ""
    """How the session came out of its parent, as in `Session.relation`; empty: it has none."""
    started_at: float | None = None
    ended_at: float | None = None
    judged: bool = True
    """Whether its calls have been judged."""
    calls: int = 0
    """Judged calls."""
    mistakes: int = 0
    """Judged calls that failed by the agent's own mistake."""
    errors: int = 0
    """Judged calls that failed, whatever the cause."""
    passed: bool | None = None
    """Whether the session's last check passed; None where it had none."""
    tokens: int = 0
    cost: float = 0.0
    """Cost of the session in tokens of fresh input: output costs about five times as much, cached input a tenth."""
    corrections: int = 0
    """Sentences in which a person corrected the agent with a rule."""
    rating: bool | None = None
    """Whether a person rated the session good; None: not rated."""


# Single lessons and advisories, shown or withheld at random, and their effect.
ExposureVerdict: TypeAlias = Literal["helps", "hurts", "no difference shown", "not measured"]
"""`no difference shown`: the interval holds zero, which is not the same as no effect."""


class Exposure(msgspec.Struct, frozen=True):
    """A lesson (by id) or advisory (by name) that was shown or withheld at random in one session."""

    item: str
    """The id of the lesson, or the name of the advisory."""
    session: str
    """The key of the session."""
    shown: bool
    probability: float
    """The probability of being shown, at that time; 0 and 1 mean that it was not random."""
    at: float | None = None


class MeasuredSession(msgspec.Struct, frozen=True):
    """One session with the counts that the effect of a lesson is measured by."""

    session: str
    """The key of the session: agent and id."""
    calls: int
    """Judged calls."""
    mistakes: int
    """Judged calls that failed by the agent's own mistake."""
    succeeded: bool | None = None
    """Whether the session's last check passed; None where it had none."""


class ExposureEffect(msgspec.Struct, frozen=True):
    """The effect of showing a lesson on the rate of mistakes per call. Below zero is good."""

    item: str
    """The id of the lesson."""
    shown: int
    """Sessions in which the lesson was shown."""
    withheld: int
    """Sessions in which the lesson was withheld."""
    effect: float | None
    """Mistake rate where it was shown minus mistake rate where it was withheld; None where it is not measured."""
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the effect."""
    verdict: ExposureVerdict
