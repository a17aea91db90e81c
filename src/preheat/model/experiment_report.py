"""What a randomised comparison has shown so far, and what it takes to show more: as it is handed to whoever reads it.

Frozen values; what was planned and drawn is in `model.experiment`, how an effect is estimated in `statistics`.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.experiment import Estimate, LedgerEntry, Plan, Rating, Verdict
from preheat.model.listing import Summary

GuardrailStanding: TypeAlias = Literal["held", "broken", "not known"]
ExperimentState: TypeAlias = Literal["running", "stopped", "standing"]


class Guarded(msgspec.Struct, frozen=True):
    """How a guardrail stands: a metric that must not get worse by more than a margin."""

    metric: str
    standing: GuardrailStanding
    sentence: str


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions that were drawn under the same shares."""

    shares: dict[str, float]
    drawn: dict[str, int]
    since: float
    until: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a comparison."""

    name: str
    experiment: str
    state: ExperimentState
    plan: Plan
    sentence: str
    verdict: str
    final: bool
    """The planned end is reached: the interval for one look counts, else the one that holds at every look."""
    drawn: dict[str, int]
    """Lines of sessions by arm, and those of them that are measured."""
    measured: dict[str, int]
    estimates: tuple[Estimate, ...] = ()
    """Warm against each other arm, in the metric of the plan; the first one decides."""
    guardrails: tuple[Guarded, ...] = ()
    """Metrics that must not get worse by more than a tenth, and how they stand; and their estimates."""
    guarded: tuple[Estimate, ...] = ()
    secondary: tuple[Estimate, ...] = ()
    """The other metrics, warm against the first: for looking, not for deciding."""
    corrected: dict[str, float] = {}
    """By metric, the p-value of those when it is counted how many there are (Holm)."""
    ratios: str = ""
    ratios_broken: bool = False
    given: dict[str, int] = {}
    """By arm: sessions that were given something; and sessions for which there was nothing to give, in any arm."""
    nothing_to_give: int = 0
    epochs: tuple[Epoch, ...] = ()
    projects: int = 0
    since: float = 0.0
    problems: tuple[str, ...] = ()


# What items, templates and advice did.
class Utility(msgspec.Struct, frozen=True):
    """What showing an item does to the rate. Below zero is good: fewer mistakes."""

    item: str
    shown: int
    withheld: int
    raw: float | None
    """Rate where shown minus rate where withheld, on its own."""
    error: float | None
    effect: float | None
    """Drawn towards the others."""
    low: float | None
    high: float | None
    """The ends of its 95 % credible interval."""
    wrong_sign: float | None
    """The chance that the effect has the other sign."""
    q: float | None
    """Benjamini and Hochberg's rate over all items, from the raw effect."""
    verdict: Verdict
    """`no difference`: the interval lies within the margin."""


class ItemEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What an item did, with what it says and what the ledger has of it."""

    utility: Utility
    text: str = ""
    """Empty where it is not learned any more."""
    entry: LedgerEntry | None = None
    """The last line of the ledger on it."""


class TemplateEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What a template did: warm sessions that it was given to against cold ones that it was kept from."""

    template: str
    """As `name@digest`."""
    estimate: Estimate
    entry: LedgerEntry | None = None


class AdviceEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What saying something did to the mistakes in the next calls."""

    estimate: Estimate
    next_calls: int
    """So many calls after it are looked at."""
    moments_without_calls_after: int
    """Of so many moments it cannot be told: the archive has no calls after them that say when they were made."""


# How many sessions it takes.
class SampleSize(msgspec.Struct, frozen=True):
    """What a trial needs."""

    effect: float
    base: float
    """The metric as it is."""
    wanted: float
    """The power asked for."""
    sessions: int
    """In both arms together."""
    arms: tuple[int, int]
    power: float
    """Seen in simulation with that many."""
    formula: int
    """What the delta method's formula says, in both arms together."""
    curve: tuple[tuple[int, float], ...]
    """Sessions and power, as simulated."""
    draws: int
    drawn_from: tuple[int, int]
    """Sessions and clusters."""
    named: tuple[str, ...] = ()


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs, and how long that takes here."""

    metric: str
    margin: float
    plan: SampleSize
    worse: bool
    """The metric cannot get better by as much: the plan is for getting worse."""
    a_week: float
    """Sessions that began in a week, over the last four, and that had something to count."""
    wider: float
    """So many times as wide is the interval that holds at every look, with so many sessions."""

    @property
    def weeks(self) -> float | None:
        return self.plan.sessions / self.a_week if self.a_week else None


# Plans, the ledger, ratings.
class ListedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that was started."""

    experiment: str
    """The name of the plan, and the digest of it."""
    plan: Plan
    stopped: float | None
    """When; None: it runs."""
    verdict: str | None
    """What the ledger says of it, once it was stopped."""


class StartedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that runs from now on."""

    experiment: str
    plan: Plan
    agents_call: bool
    """Whether any agent calls Preheat: else no session can be in it."""


class StoppedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that was ended: what it showed, and the line that was entered into the ledger."""

    report: Report
    entry: LedgerEntry


class ExperimentStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What is left to chance now, in a sentence, and what is known."""

    sentence: str
    reports: tuple[Report, ...]
    """Of each that runs, else of the standing one; none where there is no archive."""


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """Every comparison that ended and every item that was withdrawn, whatever came of it."""

    entries: tuple[LedgerEntry, ...]
    changed_lines: tuple[int, ...]
    """From 1: lines that were changed, or before which one was taken out."""


class RatedSession(msgspec.Struct, frozen=True, kw_only=True):
    """What a person thought of a session, as it was kept."""

    rating: Rating
    session: Summary
    shortened: bool
    """The note was longer than what is kept."""
