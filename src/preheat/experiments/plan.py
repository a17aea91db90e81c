"""Plans of comparisons: made from a person's options, checked, identified by their digest. Pure; knows no archive."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec

from preheat.errors import UserError
from preheat.model.experiment import (
    ARMS,
    EARLIER_METRICS,
    HOLDOUT,
    MARGINS,
    METRICS,
    SHARES,
    STORED_HOLDOUT,
    Arm,
    ExperimentPlan,
    MetricName,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STOP = re.compile(r"n=([1-9]\d{0,6})")
_FEWEST_SESSIONS = 20


def make_plan(
    name: str,
    arms: Sequence[str],
    shares: Sequence[float],
    metric: str,
    guardrails: Iterable[str],
    margin: float | None,
    stop: str,
    at: float,
    *,
    agent: str = "",
    project: str = "",
    template: str = "",
) -> ExperimentPlan:
    """Make a plan. Raises UserError if an option is not valid."""
    if not _NAME.fullmatch(name) or name in (HOLDOUT, STORED_HOLDOUT):
        raise UserError(
            f"`{name}` is no name for an experiment; letters, digits, `.`, `_` and `-`, at most 64, and not `{HOLDOUT}`"
        )
    arm_names = [_arm(arm) for arm in arms]
    if len(set(arm_names)) != len(arm_names) or len(arm_names) < 2 or "warm" not in arm_names:
        raise UserError("an experiment has `warm` and at least one other arm, each once: --arms warm,cold")
    arm_shares = [float(share) for share in shares] or [1 / len(arm_names)] * len(arm_names)
    if len(arm_shares) != len(arm_names):
        raise UserError(f"{len(arm_names)} arms want {len(arm_names)} shares, not {len(arm_shares)}: --shares 0.5,0.5")
    if any(not 0.01 <= share <= 0.99 for share in arm_shares) or abs(sum(arm_shares) - 1) > 1e-6:
        raise UserError("shares are from 0.01 to 0.99 and together 1: --shares 0.8,0.2")
    chosen = _metric(metric)
    if margin is not None and not 0 < margin < float("inf"):
        raise UserError("the margin is a number above 0, in the metric's own unit: --margin 0.01")
    if margin is not None and margin >= 1 and chosen in SHARES:
        raise UserError(
            f"a margin of {margin:g} says nothing of {chosen}, which is from 0 to 1: --margin {MARGINS[chosen]:g}"
        )
    found = _STOP.fullmatch(stop)
    if stop != "anytime" and (found is None or int(found[1]) < _FEWEST_SESSIONS):
        raise UserError(
            f'`{stop}` is no stop rule; "anytime", or "n=200" for so many sessions, {_FEWEST_SESSIONS} at least'
        )
    return ExperimentPlan(
        name=name,
        arms=tuple(arm_names),
        shares=tuple(arm_shares),
        metric=chosen,
        guardrails=tuple(dict.fromkeys(each for rail in guardrails if (each := _metric(rail)) != chosen)),
        margin=MARGINS[chosen] if margin is None else margin,
        stop=stop,
        agent=agent,
        project=project,
        template=template,
        at=at,
    )


def holdout_plan(holdout: float) -> ExperimentPlan:
    """The plan of the holdout, the comparison that always runs."""
    return ExperimentPlan(
        name=HOLDOUT, arms=("warm", "cold"), shares=(1 - holdout, holdout), guardrails=("tokens",), margin=0.01
    )


def digest_of(plan: ExperimentPlan) -> str:
    """The digest of a plan with metrics named as in version 0.1.0: assignments refer to plans by digests from then."""
    earlier = {name: before for before, name in EARLIER_METRICS.items()}
    fields = msgspec.to_builtins(plan)
    if plan.guardrails:
        fields["guardrails"] = [earlier.get(each, each) for each in plan.guardrails]
    return blake2b(msgspec.json.encode(fields, order="sorted"), digest_size=6).hexdigest()


def plan_name(plan: ExperimentPlan) -> str:
    """The name of a plan in assignments. The holdout's has no digest, since its shares may change."""
    return STORED_HOLDOUT if plan.is_holdout else f"{plan.name}@{digest_of(plan)}"


def covers(plan: ExperimentPlan, agent: str, project: str) -> bool:
    """Whether a plan applies to sessions of an agent in a project."""
    return plan.agent in ("", agent) and plan.project in ("", project)


def plans_overlap(one: ExperimentPlan, other: ExperimentPlan) -> bool:
    """Whether a session could be in both plans: then they cannot run at the same time."""
    return _may_equal(one.agent, other.agent) and _may_equal(one.project, other.project)


def _may_equal(one: str, other: str) -> bool:
    return not one or not other or one == other


def _arm(name: str) -> Arm:
    for arm in ARMS:
        if name.strip() == arm:
            return arm
    raise UserError(f"no arm `{name}`; there are warm, cold, placebo and note")


def _metric(name: str) -> MetricName:
    name = name.strip()
    for metric in METRICS:
        if EARLIER_METRICS.get(name, name) == metric:
            return metric
    raise UserError(f"no metric `{name}`; there are {', '.join(METRICS)}")
