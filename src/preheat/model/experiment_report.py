"""Reports on randomised comparisons: effects so far, guardrails, the sessions still needed, plans and the ledger.

Frozen values; plans and assignments are in `model.experiment`, how an effect is estimated is in `statistics`.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.experiment import AssignedArm, EffectEstimate, EffectVerdict, ExperimentPlan, LedgerEntry, Rating
from preheat.model.listing import SessionSummary

GuardrailState: TypeAlias = Literal["held", "broken", "not known"]
"""Whether a metric that must not get worse by more than a margin does not."""
ExperimentState: TypeAlias = Literal["running", "stopped", "holdout"]
"""`holdout`: the comparison that always runs."""


class GuardrailStatus(msgspec.Struct, frozen=True):
    """Whether a guardrail holds: a metric that must not get worse by more than a margin."""

    metric: str
    state: GuardrailState
    sentence: str
    """The state in one plain sentence."""


class AssignmentEpoch(msgspec.Struct, frozen=True, kw_only=True):
    """A span of time in which sessions were assigned with the same shares."""

    shares: dict[str, float]
    """Planned share by arm."""
    assigned: dict[str, int]
    """Assigned sessions by arm."""
    since: float
    until: float


class ExperimentReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a comparison."""

    name: str
    """The name of the plan."""
    experiment: str
    """The name of the plan, and its digest."""
    state: ExperimentState
    plan: ExperimentPlan
    sentence: str
    """The result so far in one plain sentence."""
    verdict: str
    final: bool
    """Whether the planned end is reached: then the interval for one look counts, else the always-valid one."""
    assigned: dict[str, int]
    """Assigned sessions by arm, each with its continuations."""
    measured: dict[str, int]
    """Assigned sessions by arm that are in the archive and measured."""
    estimates: tuple[EffectEstimate, ...] = ()
    """Warm against each other arm, in the metric of the plan; the first one decides."""
    guardrails: tuple[GuardrailStatus, ...] = ()
    """Whether each metric that must not get worse by more than a tenth holds."""
    guardrail_estimates: tuple[EffectEstimate, ...] = ()
    """The estimates behind `guardrails`."""
    secondary: tuple[EffectEstimate, ...] = ()
    """The other metrics, warm against the first other arm: for information, not for the verdict."""
    corrected: dict[str, float] = {}
    """The p-values of `secondary` by metric, corrected by Holm."""
    ratios: str = ""
    """Whether the arms got their planned shares, in one sentence."""
    ratios_broken: bool = False
    """The arms did not get their planned shares: no result counts."""
    deliveries: dict[str, int] = {}
    """Sessions by arm that were given something."""
    nothing_to_give: int = 0
    """Sessions, in any arm, for which there was no lesson to give."""
    epochs: tuple[AssignmentEpoch, ...] = ()
    """Spans of time with different shares."""
    projects: int = 0
    """How many projects the measured sessions belong to."""
    since: float = 0.0
    problems: tuple[str, ...] = ()
    """What a reader must know before believing the result, a sentence each."""


# Effects of lessons, templates and advice.
class LessonUtility(msgspec.Struct, frozen=True):
    """The effect of showing a lesson on the mistake rate. Below zero is good."""

    item: str
    """The id of the lesson."""
    shown: int
    """Sessions in which the lesson was shown."""
    withheld: int
    """Sessions in which the lesson was withheld."""
    raw: float | None
    """Mistake rate where shown minus mistake rate where withheld, before it is shrunk."""
    error: float | None
    """The standard error of `raw`."""
    effect: float | None
    """`raw`, shrunk towards the effects of the other lessons."""
    low: float | None
    high: float | None
    """The ends of the 95 % credible interval of `effect`."""
    wrong_sign: float | None
    """The chance that the effect has the other sign."""
    q: float | None
    """Benjamini and Hochberg's false discovery rate over all lessons, from the raw effect."""
    verdict: EffectVerdict
    """What the credible interval says; `no difference`: it lies within the margin."""


class LessonEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of a lesson, with its sentence and its last line in the ledger."""

    utility: LessonUtility
    text: str = ""
    """The lesson's sentence; empty where it is not learned any more."""
    entry: LedgerEntry | None = None
    """The lesson's last line in the ledger."""


class TemplateEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of a template: warm sessions that got it against cold ones that did not."""

    template: str
    """The template, as `name@digest`."""
    estimate: EffectEstimate
    entry: LedgerEntry | None = None
    """The template's last line in the ledger."""


class AdviceEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of advice on mistakes in the next calls."""

    estimate: EffectEstimate
    next_calls: int
    """How many calls after the advice are counted."""
    moments_without_calls_after: int
    """Moments that cannot be measured: the archive has no dated calls after them."""


class OrientationEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of naming files with a prompt on what a session does before its next edit."""

    calls: EffectEstimate
    """Calls before the edit: the primary metric."""
    tokens: EffectEstimate
    """Tokens that were new to the model in these calls."""
    moments_without_calls_after: int
    """Moments that cannot be measured: the archive has no dated calls after them."""
    moments_without_edit_after: int
    """Moments after which nothing was edited until the next or until the end: all calls up to there count."""


# Sample sizes.
class SampleSize(msgspec.Struct, frozen=True):
    """How many sessions a trial needs."""

    effect: float
    """The difference that the trial is to detect."""
    base: float
    """The metric in earlier sessions."""
    wanted: float
    """The wanted power: the probability of detecting the difference."""
    sessions: int
    """Sessions that are needed, in both arms together."""
    arms: tuple[int, int]
    """Sessions that are needed in each arm."""
    power: float
    """The power that simulated trials of `sessions` sessions have."""
    formula: int
    """Sessions in both arms together by the formula of the delta method, to compare with the simulation."""
    curve: tuple[tuple[int, float], ...]
    """Numbers of sessions, each with the power of simulated trials."""
    simulations: int
    """Simulated trials for each number of sessions."""
    sampled_from: tuple[int, int]
    """Earlier sessions and clusters that the simulation drew from."""
    remarks: tuple[str, ...] = ()
    """What a reader must know, a sentence each."""


class SampleSizeForecast(msgspec.Struct, frozen=True, kw_only=True):
    """How many sessions a comparison needs, and how long that takes here."""

    metric: str
    margin: float
    """The smallest difference that matters."""
    plan: SampleSize
    is_loss: bool
    """The metric cannot improve by the margin: the plan is for a worsening."""
    sessions_per_week: float
    """Sessions per week over the last four weeks that had something to count."""
    interval_factor: float
    """The width of the always-valid interval divided by that of the interval for one look."""

    @property
    def weeks(self) -> float | None:
        """How many weeks the comparison takes; None where no session was counted in the last four weeks."""
        return self.plan.sessions / self.sessions_per_week if self.sessions_per_week else None


# Plans, the ledger, ratings.
class ListedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that was started, running or stopped."""

    experiment: str
    """The name of the plan, and its digest."""
    plan: ExperimentPlan
    stopped: float | None
    """When the experiment was stopped; None: it runs."""
    verdict: str | None
    """The verdict in the ledger; None while the experiment runs."""


class StartedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that has just been started."""

    experiment: str
    """The name of the plan, and its digest."""
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
    """What is randomised now."""
    reports: tuple[ExperimentReport, ...]
    """Reports on the running experiments, else on the holdout; empty where there is no archive."""


class ExperimentLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Every comparison that ended and every lesson that was withdrawn, whatever the verdict."""

    entries: tuple[LedgerEntry, ...]
    changed_lines: tuple[int, ...]
    """Numbers (from 1) of lines that were changed, or before which a line is missing."""
    unfinished: dict[str, int] = {}
    """By the name of a comparison that has no entry yet: how many sessions it has assigned to an arm."""


class SessionArm(msgspec.Struct, frozen=True, kw_only=True):
    """Into which arm of which comparison a session was assigned, and what it was given for it."""

    arm: AssignedArm
    experiment: str
    at: float
    why: str = ""
    """Why the session is unassigned."""
    inherited_from: str = ""
    """The key of the session that it continues, whose arm it has; empty: the arm is its own."""
    context: str = ""
    """The id of the context that it was given at its start; empty: none."""
    lessons: int = 0
    """How many lessons could be given to it, whatever its arm."""


class RatedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A person's rating of a session, as it was stored."""

    rating: Rating
    session: SessionSummary
    shortened: bool
    """The note was too long and was cut."""
