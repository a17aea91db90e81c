"""Plans: what is refused, and by what they are known."""

import pytest

from preheat.errors import UserError
from preheat.experiments.plan import covers, digest_of, holdout_plan, make_plan, plan_name, plans_overlap
from preheat.model.experiment import ExperimentPlan


def made(**changes: object) -> ExperimentPlan:
    given: dict[str, object] = {
        "name": "mine", "arms": ["warm", "cold"], "shares": [], "metric": "mistakes", "guardrails": ["tokens"], "margin": None,
        "stop": "anytime", "at": 5.0,
    }  # fmt: skip
    return make_plan(**{**given, **changes})  # type: ignore[arg-type]


def test_a_plan_is_known_by_all_that_is_in_it() -> None:
    """Another margin is another plan; the same plan has the same digest."""
    assert digest_of(made()) == digest_of(made())
    assert (
        len({digest_of(made()), digest_of(made(margin=0.02)), digest_of(made(at=6.0)), digest_of(made(stop="n=40"))})
        == 4
    )
    assert plan_name(made()).startswith("mine@")
    assert plan_name(holdout_plan(0.2)) == plan_name(holdout_plan(0.3)) == "standing"


def test_defaults() -> None:
    """Equal shares, the metric's own margin, and what decides is no guardrail besides."""
    plan = made(arms=["warm", "cold", "note"], guardrails=["tokens", "mistakes", "tokens"])
    assert plan.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (plan.margin, plan.guardrails, plan.sessions) == (0.01, ("tokens",), None)
    assert made(stop="n=200").sessions == 200


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": "standing"}, "no name"), ({"name": "a b"}, "no name"), ({"name": ""}, "no name"),
        ({"arms": ["warm"]}, "at least one other"), ({"arms": ["cold", "note"]}, "`warm`"),
        ({"arms": ["warm", "warm"]}, "each once"),
        ({"arms": ["warm", "hot"]}, "no arm `hot`"), ({"shares": [0.5]}, "2 shares"), ({"shares": [0.9, 0.2]}, "together 1"),
        ({"shares": [1.0, 0.0]}, "0.01 to 0.99"), ({"shares": [float("nan"), 1.0]}, "0.01 to 0.99"),
        ({"metric": "joy"}, "no metric"),
        ({"guardrails": ["joy"]}, "no metric"), ({"margin": 0.0}, "above 0"), ({"margin": float("inf")}, "above 0"),
        ({"stop": "n=5"}, "20 at least"), ({"stop": "soon"}, "no stop rule"),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_refused(changes: dict[str, object], says: str) -> None:
    """Each with a line that says what would be one."""
    with pytest.raises(UserError, match=says):
        made(**changes)


def test_scopes() -> None:
    """A plan for one project leaves the others alone; two for two projects may run at once, one for all is in everybody's way."""
    here, there, all_of = made(project="/w/a"), made(name="b", project="/w/b"), made(name="c")
    assert covers(here, "x", "/w/a")
    assert not covers(here, "x", "/w/b")
    assert not plans_overlap(here, there)
    assert plans_overlap(here, all_of)
    assert not plans_overlap(made(agent="x"), made(agent="y"))
