"""Plans: their digests, defaults and scopes, and which options are refused."""

import pytest

from preheat.errors import UserError
from preheat.experiments.plan import covers, digest_of, holdout_plan, make_plan, plan_name, plans_overlap
from preheat.model.experiment import STORED_HOLDOUT, ExperimentPlan


def plan(**changes: object) -> ExperimentPlan:
    usual: dict[str, object] = {
        "name": "mine", "arms": ["warm", "cold"], "shares": [], "metric": "mistakes", "guardrails": ["tokens"], "margin": None,
        "stop": "anytime", "at": 5.0,
    }  # fmt: skip
    return make_plan(**{**usual, **changes})  # type: ignore[arg-type]


def test_the_digest_of_a_plan_depends_on_every_field() -> None:
    """Equal plans have equal digests; the holdout has one name whatever its share is."""
    assert digest_of(plan()) == digest_of(plan())
    assert (
        len({digest_of(plan()), digest_of(plan(margin=0.02)), digest_of(plan(at=6.0)), digest_of(plan(stop="n=40"))})
        == 4
    )
    assert plan_name(plan()).startswith("mine@")
    assert plan_name(holdout_plan(0.2)) == plan_name(holdout_plan(0.3)) == STORED_HOLDOUT


def test_shares_margin_and_guardrails_have_defaults() -> None:
    """Equal shares, the margin of the metric; the metric itself is no guardrail."""
    three = plan(arms=["warm", "cold", "note"], guardrails=["tokens", "mistakes", "tokens"])
    assert three.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (three.margin, three.guardrails, three.sessions) == (0.01, ("tokens",), None)
    assert plan(stop="n=200").sessions == 200


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "standing"}, "no name"), ({"name": "holdout"}, "no name"),
        ({"name": "a b"}, "no name"), ({"name": ""}, "no name"),
        ({"arms": ["warm"]}, "at least one other"), ({"arms": ["cold", "note"]}, "`warm`"),
        ({"arms": ["warm", "warm"]}, "each once"),
        ({"arms": ["warm", "hot"]}, "no arm `hot`"), ({"shares": [0.5]}, "2 shares"), ({"shares": [0.9, 0.2]}, "together 1"),
        ({"shares": [1.0, 0.0]}, "0.01 to 0.99"), ({"shares": [float("nan"), 1.0]}, "0.01 to 0.99"),
        ({"metric": "joy"}, "no metric"),
        ({"guardrails": ["joy"]}, "no metric"), ({"margin": 0.0}, "above 0"), ({"margin": float("inf")}, "above 0"),
        ({"stop": "n=5"}, "20 at least"), ({"stop": "soon"}, "no stop rule"),
    ],
)  # fmt: skip
def test_an_invalid_option_is_refused_with_its_reason(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        plan(**changes)


def test_plans_overlap_if_a_session_could_be_in_both() -> None:
    """A plan covers its own project and agent only; one without a scope overlaps with every other."""
    here, there, all_of = plan(project="/w/a"), plan(name="b", project="/w/b"), plan(name="c")
    assert covers(here, "x", "/w/a")
    assert not covers(here, "x", "/w/b")
    assert not plans_overlap(here, there)
    assert plans_overlap(here, all_of)
    assert not plans_overlap(plan(agent="x"), plan(agent="y"))
