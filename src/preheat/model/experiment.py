"""A randomised comparison: what was planned, who got what, how it went, and what that says.

Frozen values. Who draws the lots is in `experiments`, how an effect is estimated in `statistics`.
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

Verdict: TypeAlias = Literal["helps", "hurts", "no difference", "too little data"]
"""`no difference`: none larger than the margin; an interval that holds zero and more than the margin is too little data."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One session in a comparison, measured by one metric: `above / below`. For a plain mean `below` is 1."""

    session: str
    arm: str
    above: float
    below: float = 1.0
    stratum: str = ""
    """What it was drawn within: agent and project."""
    cluster: str = ""
    """What it is alike with others by (the project; in the lab the task); empty: only itself."""
    before: float | None = None
    """The same metric over earlier sessions of its project, from before the trial: nothing that an arm could have changed."""
    at: float = 0.0


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The difference that an arm makes to a metric: `arm` minus `against`."""

    metric: str
    arm: str
    against: str
    units: tuple[int, int]
    """Sessions in the arm, and in the one it is held against."""
    level: float | None = None
    """The metric in the arm."""
    base: float | None = None
    """The metric in the one it is held against."""
    difference: float | None = None
    """None where it cannot be told; `why` says so."""
    low: float | None = None
    high: float | None = None
    """The ends of the 95 % interval, if nobody looked before the planned end."""
    always_low: float | None = None
    always_high: float | None = None
    """The ends of the interval that holds however often one looks."""
    p: float | None = None
    adjusted: bool = False
    """With what was known before the trial taken out."""
    method: str = ""
    why: str = ""
    """Why there is no difference, or no interval, to tell."""
    error: float | None = None
    """The standard error of the difference."""
    freedom: float | None = None
    """Degrees of freedom of the interval."""
    clusters: int = 0
    """Where clusters, not sessions, are the unit of the spread: how many there are."""
    named: tuple[str, ...] = ()
    """What a reader must know of it: sessions left out, an arm without spread, one project only."""


# The field trial: what was planned, what was drawn, what a person said, and what came of it.
ARMS: tuple[Arm, ...] = ("cold", "placebo", "note", "warm")
"""In the order in which lots are cut: a share that grows takes from its neighbour, and most sessions keep their arm."""
METRICS: tuple[MetricName, ...] = (
    "mistakes", "errors", "success", "seconds", "tokens", "cost", "corrections", "rating",
)  # fmt: skip
MARGINS: dict[MetricName, float] = {
    "mistakes": 0.01, "errors": 0.01, "success": 0.1, "seconds": 60.0, "tokens": 10_000.0, "cost": 10_000.0,
    "corrections": 0.1, "rating": 0.1,
}  # fmt: skip
"""What a difference must be to matter, unless a person says otherwise."""
SHARES: frozenset[MetricName] = frozenset(["mistakes", "errors", "success", "rating"])
"""Metrics that cannot differ by more than 1."""
WORSE = 0.1
"""By what share of its level a guardrail may get worse."""
MATCHED = 0.05
"""How far the tokens of a placebo may be from those of what it stands for."""
EARLIER_METRICS: dict[str, MetricName] = {"misuse": "mistakes"}
"""Metrics by the names that version 0.1.0 had for them."""
STANDING = "standing"
"""The name of the comparison that goes on by itself: warm against the sessions that are held out."""

Dealt: TypeAlias = Literal["warm", "cold", "placebo", "note", "unassigned"]
"""`unassigned`: its start was missed, so no lot was drawn; it is given what a warm one is, and counts nowhere."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A comparison as it was planned, before its first session. Never changed: its digest is in every assignment."""

    name: str
    arms: tuple[Arm, ...] = ("warm", "cold")
    shares: tuple[float, ...] = (0.5, 0.5)
    """Of the arms, in their order; together 1."""
    metric: MetricName = "mistakes"
    guardrails: tuple[MetricName, ...] = ()
    """Metrics that must not get worse by more than a tenth."""
    margin: float = 0.01
    """A smaller difference of the metric than this is none."""
    stop: str = "anytime"
    """`anytime`, or `n=200`: after so many sessions."""
    agent: str = ""
    """Only its sessions; empty: all. Likewise the folder of a project."""
    project: str = ""
    template: str = ""
    """What warm sessions are given, as `name@digest`; empty: what was learned in their project."""
    at: float = 0.0

    def __post_init__(self) -> None:
        if self.metric in EARLIER_METRICS:
            force_setattr(self, "metric", EARLIER_METRICS[self.metric])
        if not EARLIER_METRICS.keys().isdisjoint(self.guardrails):
            force_setattr(self, "guardrails", tuple(EARLIER_METRICS.get(each, each) for each in self.guardrails))

    @property
    def standing(self) -> bool:
        return self.name == STANDING

    @property
    def sessions(self) -> int | None:
        """After how many sessions it ends; None: when a person ends it."""
        return int(self.stop[2:]) if self.stop.startswith("n=") else None


class Assignment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="lot", tag="arm"):
    """Which arm a session got. Written down before it is given anything."""

    session: str
    """Its key: agent and id."""
    root: str
    """The session that its line began with: the lot was drawn for that one."""
    experiment: str
    """The name of the plan, and the digest of it."""
    arm: Dealt
    shares: dict[str, float] = {}
    """By arm, as they were when the lot was drawn."""
    agent: str = ""
    project: str = ""
    """The folder of the project: with the agent the stratum."""
    at: float
    why: str = ""
    """If unassigned: why."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="lot", tag="given"):
    """What a session was given at a start, and which items it was spared by lot."""

    session: str
    at: float
    context: str = ""
    """The id of the context; empty: nothing."""
    tokens: int = 0
    offered: int = 0
    """How many items there were to give, whatever the arm."""
    template: str = ""
    """The template that they were from, as `name@digest`, whatever the arm."""
    shown: tuple[str, ...] = ()
    """Items that a lot was drawn for and that were given; likewise spared."""
    spared: tuple[str, ...] = ()
    probability: float = 1.0
    """Of being given, for each of those."""


class AdviceLot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="lot", tag="advice"):
    """A moment at which there was something to say, and whether it was said."""

    session: str
    at: float
    turn: int
    signal: str
    cause: str
    """A hash of it."""
    shown: bool
    probability: float
    """Of being said."""


Lot: TypeAlias = Assignment | Delivery | AdviceLot


class Rating(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person thought of a session."""

    session: str
    good: bool
    at: float
    note: str = ""


LedgerKind: TypeAlias = Literal["experiment", "withdrawn", "brought back"]


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the ledger: an experiment that ended, or an item that was withdrawn or brought back. Never changed."""

    kind: LedgerKind
    at: float
    name: str
    """Of the experiment, or the id of the item."""
    sentence: str
    verdict: str = ""
    plan: Plan | None = None
    digest: str = ""
    """Of the plan."""
    estimates: tuple[Estimate, ...] = ()
    problems: tuple[str, ...] = ()
    sessions: dict[str, int] = {}
    """By arm; of an item: `shown` and `withheld`."""
    text: str = ""
    """Of an item: what it says."""
    before: str = ""
    """The digest of the line before: a line that was changed or taken out shows."""


class Went(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a session went, as far as a comparison asks."""

    session: str
    """Its key."""
    agent: str = ""
    project: str = ""
    """The folder of its project."""
    parent: str = ""
    """The key of the session that it came out of; and how: as `Session.relation`."""
    relation: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    judged: bool = True
    calls: int = 0
    """Those that a rate is taken over; of them those that failed by the agent's own mistake, and all that failed."""
    mistakes: int = 0
    errors: int = 0
    passed: bool | None = None
    """Whether its last check passed; None where it had none."""
    tokens: int = 0
    cost: float = 0.0
    """In tokens of fresh input: what comes out of a model costs about five times as much, what comes from its cache a tenth."""
    corrections: int = 0
    """Sentences of a person after a call that read like a rule for the next time."""
    rating: bool | None = None
