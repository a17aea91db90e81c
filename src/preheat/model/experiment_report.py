"""Reports on randomised comparisons: effects so far, guardrails, the sessions still needed, plans and the ledger.

Frozen values; plans and assignments are in `model.experiment`, how an effect is estimated is in `statistics`.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.experiment import EffectEstimate, EffectVerdict, ExperimentPlan, LedgerEntry, Rating
from preheat.model.listing import SessionSummary

GuardrailState: TypeAlias = Literal["held", "broken", "not known"]
ExperimentState: TypeAlias = Literal["running", "stopped", "holdout"]


class GuardrailStatus(msgspec.Struct, frozen=True):
    """Whether a guardrail holds: a metric that must not get worse by more than a margin."""

    metric: str
    state: GuardrailState
    sentence: str


class AssignmentEpoch(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions that were assigned with the same shares."""

    shares: dict[str, float]
    assigned: dict[str, int]
    since: float
    until: float


class ExperimentReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a comparison."""

    name: str
    experiment: str
    state: ExperimentState
    plan: ExperimentPlan
    sentence: str
    verdict: str
    final: bool
    """The planned end is reached: the interval for one look counts, else the always-valid one."""
    assigned: dict[str, int]
    """Assigned sessions by arm, each with its continuations; `measured`: those of them that are measured."""
    measured: dict[str, int]
    estimates: tuple[EffectEstimate, ...] = ()
    """Warm against each other arm, in the metric of the plan; the first one decides."""
    guardrails: tuple[GuardrailStatus, ...] = ()
    """Metrics that must not get worse by more than a tenth; `guardrail_estimates`: their estimates."""
    guardrail_estimates: tuple[EffectEstimate, ...] = ()
    secondary: tuple[EffectEstimate, ...] = ()
    """The other metrics, warm against the first other arm: for information, not for the verdict."""
    corrected: dict[str, float] = {}
    """By metric: the p-value of the secondary estimates, corrected by Holm."""
    ratios: str = ""
    ratios_broken: bool = False
    deliveries: dict[str, int] = {}
    """By arm: sessions that were given something. `nothing_to_give`: sessions without any lesson to give, in any arm."""
    nothing_to_give: int = 0
    epochs: tuple[AssignmentEpoch, ...] = ()
    projects: int = 0
    since: float = 0.0
    problems: tuple[str, ...] = ()


# Effects of lessons, templates and advice.
class LessonUtility(msgspec.Struct, frozen=True):
    """The effect of showing a lesson on the mistake rate. Below zero is good."""

    item: str
    shown: int
    withheld: int
    raw: float | None
    """Rate where shown minus rate where withheld, on its own."""
    error: float | None
    effect: float | None
    """Shrunk towards the effects of the others."""
    low: float | None
    high: float | None
    """The ends of its 95 % credible interval."""
    wrong_sign: float | None
    """The chance that the effect has the other sign."""
    q: float | None
    """Benjamini and Hochberg's false discovery rate over all lessons, from the raw effect."""
    verdict: EffectVerdict
    """`no difference`: the interval lies within the margin."""


class LessonEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of a lesson, with its sentence and its last line in the ledger."""

    utility: LessonUtility
    text: str = ""
    """Empty where it is not learned any more."""
    entry: LedgerEntry | None = None
    """Its last line in the ledger."""


class TemplateEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of a template: warm sessions that got it against cold ones that did not."""

    template: str
    """As `name@digest`."""
    estimate: EffectEstimate
    entry: LedgerEntry | None = None


class AdviceEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of advice on mistakes in the next calls."""

    estimate: EffectEstimate
    next_calls: int
    """How many calls after the advice are counted."""
    moments_without_calls_after: int
    """Moments that cannot be measured: the archive has no dated calls after them."""


# Sample sizes.
class SampleSize(msgspec.Struct, frozen=True):
    """How many sessions a trial needs."""

    effect: float
    base: float
    """The metric without the effect."""
    wanted: float
    """The power asked for."""
    sessions: int
    """In both arms together."""
    arms: tuple[int, int]
    power: float
    """As simulated with that many sessions."""
    formula: int
    """Sessions in both arms together by the formula of the delta method."""
    curve: tuple[tuple[int, float], ...]
    """Sessions and power, as simulated."""
    simulations: int
    sampled_from: tuple[int, int]
    """Earlier sessions and clusters that the simulation drew from."""
    remarks: tuple[str, ...] = ()


class SampleSizeForecast(msgspec.Struct, frozen=True, kw_only=True):
    """How many sessions a comparison needs, and how long that takes here."""

    metric: str
    margin: float
    plan: SampleSize
    is_loss: bool
    """The metric cannot improve by the margin: the plan is for a worsening."""
    sessions_per_week: float
    """Sessions per week over the last four weeks that had something to count."""
    interval_factor: float
    """The width of the always-valid interval divided by that of the interval for one look."""

    @property
    def weeks(self) -> float | None:
        return self.plan.sessions / self.sessions_per_week if self.sessions_per_week else None


# Plans, the ledger, ratings.
class ListedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that was started, running or stopped."""

    experiment: str
    """The name of the plan, and the digest of it."""
    plan: ExperimentPlan
    stopped: float | None
    """When it was stopped; None: it runs."""
    verdict: str | None
    """From the ledger, once it was stopped."""


class StartedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that has just been started."""

    experiment: str
    plan: ExperimentPlan
    agents_call: bool
    """Whether any agent has Preheat installed: otherwise no session can take part."""


class StoppedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that has just been stopped: its report and its line in the ledger."""

    report: ExperimentReport
    entry: LedgerEntry


class ExperimentStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What is randomised now, in a sentence, and the reports."""

    sentence: str
    reports: tuple[ExperimentReport, ...]
    """Of each running experiment, else of the holdout; empty where there is no archive."""


class ExperimentLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Every comparison that ended and every lesson that was withdrawn, whatever the verdict."""

    entries: tuple[LedgerEntry, ...]
    changed_lines: tuple[int, ...]
    """Numbers (from 1) of lines that were changed, or before which a line is missing."""


class RatedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A person's rating of a session, as it was stored."""

    rating: Rating
    session: SessionSummary
    shortened: bool
    """The note was too long and was cut."""
