"""Reports of comparisons: the verdict, the estimates behind it, and the reasons to doubt them."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from preheat.experiments.measure import build_trial
from preheat.experiments.plan import holdout_plan, make_plan
from preheat.experiments.report import estimate_effect, make_report
from preheat.model.experiment import AssignedArm, Assignment, Delivery, ExperimentPlan, SessionResult
from preheat.model.experiment_report import ExperimentReport

NOW = 10_000_000.0


class Trial:
    """Simulated sessions, each assigned to an arm and with mistakes at the rate of that arm."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.assignments: list[Assignment] = []
        self.results: list[SessionResult] = []

    def add(
        self, count: int, rates: dict[str, float], shares: dict[str, float], *, tokens: dict[str, float] | None = None,
        projects: int = 4, arms: Sequence[AssignedArm] = (),
    ) -> "Trial":  # fmt: skip
        for _ in range(count):
            number = len(self.assignments)
            arm: Any = (
                self.random.choices(list(shares), list(shares.values()))[0] if not arms else arms[number % len(arms)]
            )
            name, project, at = f"a:{number}", f"/w/{number % projects}", 1000.0 + 100 * number
            fields: dict[str, Any] = {"session": name, "agent": "a", "project": project}
            self.assignments.append(Assignment(**fields, root=name, experiment="e", arm=arm, shares=shares, at=at))
            calls = self.random.randint(10, 40)
            mistakes = sum(self.random.random() < rates[arm] for _ in range(calls))
            spent = round(self.random.gauss(10_000, 1500) * (tokens or {}).get(arm, 1.0))
            self.results.append(
                SessionResult(
                    **fields,
                    calls=calls,
                    mistakes=mistakes,
                    errors=mistakes,
                    tokens=spent,
                    started_at=at,
                    ended_at=at + 60,
                )
            )
        return self

    def report(self, plan: ExperimentPlan | None = None, **more: Any) -> ExperimentReport:
        return make_report("e", plan or holdout_plan(0.2), build_trial(self.assignments, self.results, NOW), {}, **more)


FIFTH = {"cold": 0.2, "warm": 0.8}
HALF = {"cold": 0.5, "warm": 0.5}


def test_fewer_mistakes_in_warm_sessions_are_reported_as_help() -> None:
    """Warm sessions make a third of the mistakes, and the always-valid interval contains the true difference."""
    found = Trial().add(300, {"cold": 0.12, "warm": 0.04}, FIFTH).report()
    assert found.verdict == "helps"
    assert "warm" in found.sentence
    first = found.estimates[0]
    assert first.always_low is not None
    assert first.always_high is not None
    assert first.always_low < -0.08 < first.always_high < 0
    assert sum(found.assigned.values()) == sum(found.measured.values()) == 300
    assert found.problems == ()


def test_more_mistakes_in_warm_sessions_are_reported_as_harm() -> None:
    found = Trial().add(300, {"cold": 0.04, "warm": 0.12}, HALF).report()
    assert found.verdict == "hurts"


def test_no_trial_without_an_effect_reports_one() -> None:
    """Twenty trials, looked at while they run."""
    verdicts = [Trial(seed).add(120, {"cold": 0.1, "warm": 0.1}, FIFTH).report().verdict for seed in range(20)]
    assert set(verdicts) <= {"too little data", "no difference"}


def test_many_sessions_without_an_effect_show_no_difference() -> None:
    """None larger than the margin, which is another verdict than too little data."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", [], 0.05, "n=400", 1.0)
    found = Trial().add(400, {"cold": 0.1, "warm": 0.1}, HALF).report(plan)
    assert (found.verdict, found.final) == ("no difference", True)


def test_a_change_of_the_shares_is_not_taken_for_an_effect() -> None:
    """Half of the sessions are cold while the project is hard, a tenth when it has become easy: over all sessions warm would seem
    to help; within the epochs there is no effect."""
    trial = (
        Trial(3)
        .add(150, {"cold": 0.3, "warm": 0.3}, HALF)
        .add(150, {"cold": 0.02, "warm": 0.02}, {"cold": 0.1, "warm": 0.9})
    )
    found = trial.report()
    naive = [sum(each.mistakes for each in some) / sum(each.calls for each in some) for some in (
        [each for each, assignment in zip(trial.results, trial.assignments, strict=True) if assignment.arm == arm]
        for arm in ("warm", "cold")
    )]  # fmt: skip
    assert naive[0] - naive[1] < -0.08
    first = found.estimates[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low < 0 < first.high
    assert found.verdict != "helps"
    assert [each.shares["cold"] for each in found.epochs] == [0.5, 0.1]
    assert not found.ratios_broken


def test_an_effect_is_found_although_the_shares_were_changed() -> None:
    trial = Trial(4).add(200, {"cold": 0.3, "warm": 0.18}, HALF).add(200, {"cold": 0.14, "warm": 0.02}, FIFTH)
    first = trial.report().estimates[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low < -0.12 < first.high < 0


def test_arms_that_did_not_get_their_shares_give_no_verdict() -> None:
    """A fifth was planned and a half came, whatever the estimates are."""
    trial = Trial().add(200, {"cold": 0.2, "warm": 0.02}, FIFTH, arms=("cold", "warm"))
    found = trial.report()
    assert found.ratios_broken
    assert found.ratios in found.sentence
    assert found.verdict == "too little data"


def test_a_broken_guardrail_is_reported_with_the_verdict() -> None:
    """Fewer mistakes, but one and a half times the tokens."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", ["tokens"], None, "anytime", 1.0)
    found = Trial().add(300, {"cold": 0.12, "warm": 0.04}, HALF, tokens={"warm": 1.5}).report(plan)
    assert found.verdict == "helps"
    assert [each.state for each in found.guardrails] == ["broken"]
    assert "tokens" in found.sentence


def test_sessions_after_the_planned_end_do_not_count() -> None:
    """A trial of 100 sessions that went on for 60 more."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", [], None, "n=100", 1.0)
    trial = Trial().add(100, {"cold": 0.1, "warm": 0.1}, HALF).add(60, {"cold": 0.9, "warm": 0.0}, HALF)
    found = trial.report(plan)
    assert found.final
    assert sum(found.assigned.values()) == 100
    assert any("planned end is reached" in each for each in found.problems)
    assert not any("planned end" in each for each in trial.report(plan, stopped=NOW).problems)


def test_sessions_missing_after_the_planned_end_are_no_problem() -> None:
    """Only those that were assigned before the end are reported."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", [], None, "n=20", 1.0)
    trial = Trial().add(100, {"cold": 0.1, "warm": 0.1}, HALF, arms=("warm", "cold"))
    gone = {assignment.session for assignment in trial.assignments[18:] if assignment.arm == "cold"}
    trial.results = [each for each in trial.results if each.session not in gone]
    problems = " ".join(trial.report(plan).problems)
    assert "1 of 10 `cold`" in problems
    assert "unevenly" not in problems


def test_a_guardrail_without_data_is_not_known() -> None:
    """Nobody rated a session."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", ["rating"], None, "anytime", 1.0)
    found = Trial().add(60, {"cold": 0.1, "warm": 0.1}, HALF).report(plan)
    assert [each.state for each in found.guardrails] == ["not known"]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_few_sessions_are_too_little_data(count: int) -> None:
    """No session, or sessions in one arm only."""
    found = Trial().add(count, {"cold": 0.1, "warm": 0.1}, FIFTH, arms=("warm",)).report()
    assert found.verdict == "too little data"
    assert any("`cold`" in each for each in found.problems) == (count > 0)


def test_every_problem_is_reported() -> None:
    """One project, all calls failed, sessions missing, unassigned or without a record, no key."""
    trial = Trial().add(40, {"cold": 1.0, "warm": 1.0}, HALF, projects=1)
    trial.assignments.append(
        Assignment(session="a:x", root="a:x", experiment="e", arm="unassigned", agent="a", project="/w/0", at=9e3)
    )
    trial.results[5] = SessionResult(
        session="a:other", agent="a", project="/w/0", calls=3, started_at=5e3, ended_at=6e3
    )
    problems = " ".join(trial.report(assigning=False).problems)
    for words in ("one project", "every call of every `warm`", "nothing of it", "1 session is unassigned", "no assignment",
                  "counts nowhere", "of 1 session", "nothing is assigned"):  # fmt: skip
        assert words in problems, words


def test_arms_that_lose_sessions_unevenly_are_not_trusted() -> None:
    """Half of the cold sessions are missing from the archive, and no warm one."""
    trial = Trial().add(80, {"cold": 0.1, "warm": 0.1}, HALF)
    gone = {
        assignment.session
        for assignment in trial.assignments
        if assignment.arm == "cold" and int(assignment.session[2:]) % 2
    }
    trial.results = [each for each in trial.results if each.session not in gone]
    assert any("unevenly" in each for each in trial.report().problems)


def test_deliveries_are_counted_by_arm() -> None:
    """Sessions that got something, and those for which there was nothing."""
    trial = Trial().add(20, {"cold": 0.1, "warm": 0.1}, HALF)
    deliveries = {
        assignment.session: Delivery(
            session=assignment.session, at=1.0, context="c" if assignment.arm == "warm" else "", offered=number % 2
        )
        for number, assignment in enumerate(trial.assignments)
    }
    found = make_report("e", holdout_plan(0.5), build_trial(trial.assignments, trial.results, NOW), deliveries)
    assert found.deliveries == {"warm": found.assigned["warm"], "cold": 0}
    assert found.nothing_to_give == 10


def test_warm_is_compared_with_each_other_arm() -> None:
    """Cold comes first and decides."""
    plan = make_plan("mine", ["warm", "cold", "placebo", "note"], [], "mistakes", [], None, "anytime", 1.0)
    shares = {"cold": 0.25, "placebo": 0.25, "note": 0.25, "warm": 0.25}
    found = Trial().add(400, {"cold": 0.2, "placebo": 0.2, "note": 0.06, "warm": 0.05}, shares).report(plan)
    assert [each.against for each in found.estimates] == ["cold", "placebo", "note"]
    assert found.verdict == "helps"
    note = estimate_effect("mistakes", build_trial(Trial().assignments, [], NOW), "note")
    assert note.difference is None
