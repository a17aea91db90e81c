"""Plans of comparisons: put together from what a person asked for, checked, and known by their digest. Pure."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec

from preheat.errors import UserError
from preheat.model.experiment import ARMS, EARLIER_METRICS, MARGINS, METRICS, SHARES, STANDING, Arm, MetricName, Plan

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STOP = re.compile(r"n=([1-9]\d{0,6})")
_FEWEST = 20


def planned(
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
) -> Plan:
    """A plan; raises UserError where it cannot be one."""
    if not _NAME.fullmatch(name) or name == STANDING:
        raise UserError(
            f"`{name}` is no name for an experiment; letters, digits, `.`, `_` and `-`, at most 64, and not `{STANDING}`"
        )
    named = [_arm(arm) for arm in arms]
    if len(set(named)) != len(named) or len(named) < 2 or "warm" not in named:
        raise UserError("an experiment has `warm` and at least one other arm, each once: --arms warm,cold")
    given = [float(share) for share in shares] or [1 / len(named)] * len(named)
    if len(given) != len(named):
        raise UserError(f"{len(named)} arms want {len(named)} shares, not {len(given)}: --shares 0.5,0.5")
    if any(not 0.01 <= share <= 0.99 for share in given) or abs(sum(given) - 1) > 1e-6:
        raise UserError("shares are from 0.01 to 0.99 and together 1: --shares 0.8,0.2")
    chosen = _metric(metric)
    if margin is not None and not 0 < margin < float("inf"):
        raise UserError("the margin is a number above 0, in the metric's own unit: --margin 0.01")
    if margin is not None and margin >= 1 and chosen in SHARES:
        raise UserError(
            f"a margin of {margin:g} says nothing of {chosen}, which is from 0 to 1: --margin {MARGINS[chosen]:g}"
        )
    found = _STOP.fullmatch(stop)
    if stop != "anytime" and (found is None or int(found[1]) < _FEWEST):
        raise UserError(f'`{stop}` is no stop rule; "anytime", or "n=200" for so many sessions, {_FEWEST} at least')
    return Plan(
        name=name,
        arms=tuple(named),
        shares=tuple(given),
        metric=chosen,
        guardrails=tuple(dict.fromkeys(each for rail in guardrails if (each := _metric(rail)) != chosen)),
        margin=MARGINS[chosen] if margin is None else margin,
        stop=stop,
        agent=agent,
        project=project,
        template=template,
        at=at,
    )


def standing(holdout: float) -> Plan:
    """The comparison that goes on by itself."""
    return Plan(
        name=STANDING, arms=("warm", "cold"), shares=(1 - holdout, holdout), guardrails=("tokens",), margin=0.01
    )


def digest_of(plan: Plan) -> str:
    """The digest of a plan with metrics named as in version 0.1.0: assignments refer to plans by digests from then."""
    earlier = {name: before for before, name in EARLIER_METRICS.items()}
    fields = msgspec.to_builtins(plan)
    if plan.guardrails:
        fields["guardrails"] = [earlier.get(each, each) for each in plan.guardrails]
    return blake2b(msgspec.json.encode(fields, order="sorted"), digest_size=6).hexdigest()


def called(plan: Plan) -> str:
    """The name by which assignments know a plan. That of the standing one has no digest: it may get other shares."""
    return STANDING if plan.standing else f"{plan.name}@{digest_of(plan)}"


def covers(plan: Plan, agent: str, project: str) -> bool:
    """Whether a session is in the scope of a plan."""
    return plan.agent in ("", agent) and plan.project in ("", project)


def overlap(one: Plan, other: Plan) -> bool:
    """Whether a session could be in both: then they cannot run at the same time."""
    return _meet(one.agent, other.agent) and _meet(one.project, other.project)


def _meet(one: str, other: str) -> bool:
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
