"""The report of a comparison: a plain sentence, the numbers behind it, and every reason to doubt them.

Pure; knows no archive. Loads the statistics: imported only where a result is asked for.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

import msgspec

from preheat.amounts import format_count
from preheat.experiments.measure import SessionChain, Trial, epoch_of, epochs_of, trial_units
from preheat.model.experiment import (
    GUARDRAIL_MARGIN,
    HOLDOUT,
    METRICS,
    Delivery,
    EffectEstimate,
    ExperimentPlan,
    MetricName,
    Observation,
)
from preheat.model.experiment_report import AssignmentEpoch, ExperimentReport
from preheat.statistics.arms import p_value, student_quantile
from preheat.statistics.effect import HORIZON, RISK, add_always_valid_interval, adjust_difference, estimate_difference
from preheat.statistics.sample_ratio import SampleRatios, check_sample_ratio
from preheat.statistics.shares import fisher, holm
from preheat.statistics.verdict import Conclusion, Guardrail, conclude

_OTHER_ARMS = ("cold", "placebo", "note")
_UNEVEN = 0.01
"""The p-value below which the arms count as having lost sessions unevenly."""


def make_report(
    experiment: str,
    plan: ExperimentPlan,
    trial: Trial,
    deliveries: Mapping[str, Delivery],
    stopped: float | None = None,
    assigning: bool = True,
) -> ExperimentReport:
    """The report of a plan; `assigning`: whether sessions are assigned at all."""
    planned = plan.sessions
    final = planned is not None and len(trial.chains) >= planned
    if final:  # sessions after the planned end do not count
        trial = trial._replace(chains=trial.chains[:planned])
    judged = [chain for chain in trial.chains if chain.is_judged]
    other_arms = [arm for arm in _OTHER_ARMS if arm in plan.arms]
    horizon = float(planned or HORIZON)
    estimates = tuple(estimate_effect(plan.metric, trial, arm, horizon) for arm in other_arms)
    guarded = tuple(estimate_effect(metric, trial, other_arms[0], horizon) for metric in plan.guardrails)
    guardrails = [Guardrail(each, GUARDRAIL_MARGIN * abs(each.base or 0.0)) for each in guarded]
    others: list[MetricName] = [metric for metric in METRICS if metric not in (plan.metric, *plan.guardrails)]
    secondary = tuple(estimate_effect(metric, trial, other_arms[0], horizon) for metric in others)
    split = _check_shares(trial)
    concluded = conclude(estimates[0], plan.margin, guardrails=guardrails, running=not final)
    delivered = [
        (chain.assignment.arm, deliveries[chain.assignment.root])
        for chain in trial.chains
        if chain.assignment.root in deliveries
    ]
    return ExperimentReport(
        name=plan.name,
        experiment=HOLDOUT if plan.is_holdout else experiment,
        state="holdout" if plan.is_holdout else "running" if stopped is None else "stopped",
        plan=plan,
        sentence=_sentence(concluded, split),
        verdict="too little data" if split.broken else concluded.verdict,
        final=final,
        assigned=_by_arm(plan, (chain.assignment.arm for chain in trial.chains)),
        measured=_by_arm(plan, (chain.assignment.arm for chain in judged)),
        estimates=estimates,
        guardrails=concluded.guardrails,
        guardrail_estimates=guarded,
        secondary=secondary,
        corrected=_corrected_p(secondary),
        ratios=split.sentence,
        ratios_broken=split.broken,
        deliveries=_by_arm(plan, (arm for arm, each in delivered if each.context)),
        nothing_to_give=sum(not each.offered for _, each in delivered),
        epochs=_epochs(trial),
        projects=len({chain.assignment.project for chain in judged}),
        since=trial.since,
        problems=tuple(_problems(plan, trial, judged, split, assigning, stopped is not None)),
    )


def _sentence(concluded: Conclusion, split: SampleRatios) -> str:
    """The first sentence of the report."""
    sentence = concluded.sentence
    if split.broken:
        return f"Not to be believed: {split.sentence}"
    if concluded.verdict in ("helps", "hurts"):
        return f"Starting warm {concluded.verdict}: {sentence[:1].lower()}{sentence[1:]}"
    return sentence


def _by_arm(plan: ExperimentPlan, arms: Iterable[str]) -> dict[str, int]:
    counts = Counter(arms)
    return {arm: counts[arm] for arm in plan.arms}


def _check_shares(trial: Trial) -> SampleRatios:
    """Whether the arms got their shares of the sessions, in each epoch."""
    epochs = epochs_of(trial)
    return check_sample_ratio(
        [(str(epoch_of(chain.assignment, epochs)), chain.assignment.arm) for chain in trial.chains],
        {str(number): dict(shares) for number, shares in enumerate(epochs, 1)},
    )


# Estimates.
def estimate_effect(metric: MetricName, trial: Trial, against: str, horizon: float = HORIZON) -> EffectEstimate:
    """Warm against another arm in a metric. Sessions of different epochs are compared within their epoch, and the differences are
    pooled by precision: else a change of the shares would look like an effect."""
    every = trial_units(metric, trial)
    if len(epochs_of(trial)) < 2:
        return add_always_valid_interval(
            adjust_difference(every, metric=metric, arm="warm", against=against), horizon=horizon
        )
    inside = [
        adjust_difference(some, metric=metric, arm="warm", against=against)
        for some in _by_epoch(every, trial)
        if {each.arm for each in some} >= {"warm", against}
    ]
    whole = estimate_difference(every, metric=metric, arm="warm", against=against)
    return add_always_valid_interval(_pool(whole, [each for each in inside if each.error]), horizon=horizon)


def _by_epoch(every: Sequence[Observation], trial: Trial) -> list[list[Observation]]:
    epochs = epochs_of(trial)
    epoch_by_root = {chain.assignment.root: epoch_of(chain.assignment, epochs) for chain in trial.chains}
    return [[each for each in every if epoch_by_root[each.session] == number] for number in range(1, len(epochs) + 1)]


def _pool(over_all: EffectEstimate, parts: list[EffectEstimate]) -> EffectEstimate:
    """The differences within epochs, pooled with weights of one over their variance."""
    values = [(each.difference, each.error, each.freedom) for each in parts]
    complete = [(gap, error, freedom) for gap, error, freedom in values if gap is not None and error and freedom]
    if not complete:
        return msgspec.structs.replace(
            over_all, difference=None, low=None, high=None, p=None, error=None, freedom=None,
            why="the shares were changed, and no stretch between has two sessions in each arm",
        )  # fmt: skip
    weights = [1 / error**2 for _, error, _ in complete]
    gap = sum(weight * each[0] for weight, each in zip(weights, complete, strict=True)) / sum(weights)
    error = sqrt(1 / sum(weights))
    freedom = sum(weights) ** 2 / sum(weight**2 / each[2] for weight, each in zip(weights, complete, strict=True))
    reach = float(student_quantile(freedom, RISK)) * error
    return msgspec.structs.replace(
        over_all,
        difference=gap,
        low=gap - reach,
        high=gap + reach,
        error=error,
        freedom=freedom,
        p=float(p_value(gap, error, freedom)),
        why="",
        adjusted=any(each.adjusted for each in parts),
        method="within each stretch of equal shares, weighted by precision",
        units=(sum(each.units[0] for each in parts), sum(each.units[1] for each in parts)),
    )


def _corrected_p(secondary: Iterable[EffectEstimate]) -> dict[str, float]:
    known = [(each.metric, each.p) for each in secondary if each.p is not None]
    return dict(zip((metric for metric, _ in known), holm([p for _, p in known]), strict=True)) if known else {}


# Epochs and problems.
def _epochs(trial: Trial) -> tuple[AssignmentEpoch, ...]:
    epochs = epochs_of(trial)
    stretches = []
    for number, shares in enumerate(epochs, 1):
        assignments = [chain.assignment for chain in trial.chains if epoch_of(chain.assignment, epochs) == number]
        counts = Counter[str](each.arm for each in assignments)
        stretches.append(
            AssignmentEpoch(
                shares=dict(shares),
                assigned={arm: counts[arm] for arm, _ in shares},
                since=min(each.at for each in assignments),
                until=max(each.at for each in assignments),
            )
        )
    return tuple(stretches)


def _problems(
    plan: ExperimentPlan,
    trial: Trial,
    judged: Sequence[SessionChain],
    split: SampleRatios,
    assigning: bool,
    ended: bool,
) -> Iterable[str]:
    if not assigning and not ended:
        yield "nothing is assigned: `preheat install AGENT` or `preheat experiment start` makes the key for that"
    assigned = Counter[str](chain.assignment.arm for chain in trial.chains)
    if trial.chains:
        yield from (f"no session was assigned to `{arm}` yet" for arm in plan.arms if not assigned[arm])
    if split.broken:
        yield split.sentence
    if not ended and plan.sessions is not None and len(trial.chains) >= plan.sessions:
        yield f"its planned end is reached; `preheat experiment stop {plan.name}` enters it into the ledger"
    yield from _describe_unmeasured(trial, assigned)
    epochs = epochs_of(trial)
    if len(epochs) > 1:
        times = "once" if len(epochs) == 2 else f"{len(epochs) - 1} times"
        yield f"the shares were changed {times}: each stretch of equal shares is compared for itself"
    projects = {chain.assignment.project for chain in judged}
    if len(judged) > 1 and len(projects) == 1:
        yield "all sessions are of one project: what holds there may not hold elsewhere"
    for arm in plan.arms:
        calls = [each for chain in judged if chain.assignment.arm == arm for each in chain.sessions if each.calls]
        if calls and all(each.errors == each.calls for each in calls):
            yield f"every call of every `{arm}` session failed: look at one before believing any number"


def _describe_unmeasured(trial: Trial, assigned: Counter[str]) -> Iterable[str]:
    for counts, what in (
        (trial.missing, "assigned, but the archive has nothing of {them} (not read yet, deleted, or never begun)"),
        (trial.unjudged, "not judged yet; `preheat lessons learn` does it"),
    ):
        number = sum(counts.values())
        if number:
            by_arm = ", ".join(f"{counts[arm]} of {assigned[arm]} `{arm}`" for arm in sorted(assigned) if counts[arm])
            yield f"{number} {_sessions_are(number)} {what.format(them='it' if number == 1 else 'them')}: {by_arm}"
    if _is_uneven(trial.missing, assigned):
        yield "the arms lost sessions unevenly: those that are left may not be alike, and the comparison is not to be trusted"
    if number := sum(trial.going_on.values()):
        goes, they = ("session goes", "it") if number == 1 else ("sessions go", "they")
        yield f"{number} {goes} on; what {they} did so far counts"
    if trial.reassigned:
        yield (
            f"{trial.reassigned} forked or continued {_sessions_are(trial.reassigned)} counted with what came before: the"
            " agent's program did not say so at the start"
        )
    if trial.unassigned:
        count = "counts" if trial.unassigned == 1 else "count"
        yield (
            f"{trial.unassigned} {_sessions_are(trial.unassigned)} unassigned, because the start was missed, and {count}"
            " nowhere"
        )
    if trial.unrecorded:
        yield (
            f"of {format_count(trial.unrecorded, 'session')} no assignment is known (no daemon ran, hooks were "
            "off, or assignments were"
            f" lost); {'it counts' if trial.unrecorded == 1 else 'they count'} nowhere"
        )


def _sessions_are(number: int) -> str:
    return "session is" if number == 1 else "sessions are"


def _is_uneven(missing: Counter[str], assigned: Counter[str]) -> bool:
    arms = [arm for arm in assigned if assigned[arm]]
    total, lost = sum(assigned.values()), sum(missing.values())
    if len(arms) < 2 or not 0 < lost < total:
        return False
    if len(arms) == 2:
        one, other = arms
        return fisher(missing[one], assigned[one], missing[other], assigned[other]) < _UNEVEN
    from scipy.stats import chi2_contingency  # noqa: PLC0415 - slow to load, and few trials have three arms

    table = [[missing[arm], assigned[arm] - missing[arm]] for arm in arms]
    return float(chi2_contingency(table).pvalue) < _UNEVEN
