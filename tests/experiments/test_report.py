"""Reports: the plain sentence, and everything that stands against believing it."""

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
    """Sessions of a trial, made by a seed: each with its arm, and with mistakes at the arm's rate."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.lots: list[Assignment] = []
        self.went: list[SessionResult] = []

    def add(
        self, count: int, rates: dict[str, float], shares: dict[str, float], *, tokens: dict[str, float] | None = None,
        projects: int = 4, arms: Sequence[AssignedArm] = (),
    ) -> "Trial":  # fmt: skip
        for _ in range(count):
            number = len(self.lots)
            arm: Any = (
                self.random.choices(list(shares), list(shares.values()))[0] if not arms else arms[number % len(arms)]
            )
            name, project, at = f"a:{number}", f"/w/{number % projects}", 1000.0 + 100 * number
            given: dict[str, Any] = {"session": name, "agent": "a", "project": project}
            self.lots.append(Assignment(**given, root=name, experiment="e", arm=arm, shares=shares, at=at))
            calls = self.random.randint(10, 40)
            mistakes = sum(self.random.random() < rates[arm] for _ in range(calls))
            spent = round(self.random.gauss(10_000, 1500) * (tokens or {}).get(arm, 1.0))
            self.went.append(
                SessionResult(
                    **given,
                    calls=calls,
                    mistakes=mistakes,
                    errors=mistakes,
                    tokens=spent,
                    started_at=at,
                    ended_at=at + 60,
                )
            )
        return self

    def told(self, plan: ExperimentPlan | None = None, **more: Any) -> ExperimentReport:
        return make_report("e", plan or holdout_plan(0.2), build_trial(self.lots, self.went, NOW), {}, **more)


FIFTH = {"cold": 0.2, "warm": 0.8}
HALF = {"cold": 0.5, "warm": 0.5}


def test_an_effect_is_said_in_a_plain_sentence() -> None:
    """Warm sessions truly make a third of the mistakes: it helps, with the numbers behind it, and the interval at every look
    holds the truth."""
    found = Trial().add(300, {"cold": 0.12, "warm": 0.04}, FIFTH).told()
    assert found.verdict == "helps"
    assert found.sentence.startswith("Starting warm helps: warm sessions made ")
    first = found.estimates[0]
    assert first.always_low is not None
    assert first.always_high is not None
    assert first.always_low < -0.08 < first.always_high < 0
    assert sum(found.assigned.values()) == sum(found.measured.values()) == 300
    assert found.problems == ()


def test_harm_is_said_as_plainly() -> None:
    """The other way round."""
    found = Trial().add(300, {"cold": 0.04, "warm": 0.12}, HALF).told()
    assert (found.verdict, found.sentence.startswith("Starting warm hurts")) == ("hurts", True)


def test_no_effect_is_not_called_one() -> None:
    """Over twenty trials without an effect, looked at as they run: none is said to help or to hurt."""
    verdicts = [Trial(seed).add(120, {"cold": 0.1, "warm": 0.1}, FIFTH).told().verdict for seed in range(20)]
    assert set(verdicts) <= {"too little data", "no difference"}


def test_enough_of_nothing_is_no_difference() -> None:
    """Many sessions, a wide margin: no difference larger than that, which is another thing than too little data."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", [], 0.05, "n=400", 1.0)
    found = Trial().add(400, {"cold": 0.1, "warm": 0.1}, HALF).told(plan)
    assert (found.verdict, found.final) == ("no difference", True)
    assert found.sentence.startswith("No difference larger than 5")


def test_a_change_of_the_shares_is_no_effect() -> None:
    """Half are cold while the project is hard, a tenth when it has become easy: taken together warm would seem to help by far;
    within the stretches there is nothing, and the change is named."""
    trial = (
        Trial(3)
        .add(150, {"cold": 0.3, "warm": 0.3}, HALF)
        .add(150, {"cold": 0.02, "warm": 0.02}, {"cold": 0.1, "warm": 0.9})
    )
    found = trial.told()
    naive = [sum(each.mistakes for each in some) / sum(each.calls for each in some) for some in (
        [each for each, lot in zip(trial.went, trial.lots, strict=True) if lot.arm == arm] for arm in ("warm", "cold")
    )]  # fmt: skip
    assert naive[0] - naive[1] < -0.08
    first = found.estimates[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low < 0 < first.high
    assert found.verdict != "helps"
    assert any("shares were changed" in each for each in found.problems)
    assert [each.shares["cold"] for each in found.epochs] == [0.5, 0.1]
    assert not found.ratios_broken


def test_an_effect_shows_through_a_change_of_the_shares() -> None:
    """The same change with a true effect: it is found, and within its interval."""
    trial = Trial(4).add(200, {"cold": 0.3, "warm": 0.18}, HALF).add(200, {"cold": 0.14, "warm": 0.02}, FIFTH)
    first = trial.told().estimates[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low < -0.12 < first.high < 0


def test_shares_that_were_not_met_take_every_word_back() -> None:
    """A fifth was planned and half came: whatever the numbers, they are not to be believed."""
    trial = Trial().add(200, {"cold": 0.2, "warm": 0.02}, FIFTH, arms=("cold", "warm"))
    found = trial.told()
    assert found.ratios_broken
    assert found.sentence.startswith("Not to be believed: The arms did not get their shares")
    assert found.verdict == "too little data"


def test_a_guardrail_that_breaks_is_in_the_sentence() -> None:
    """Fewer mistakes, but half as many tokens more."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", ["tokens"], None, "anytime", 1.0)
    found = Trial().add(300, {"cold": 0.12, "warm": 0.04}, HALF, tokens={"warm": 1.5}).told(plan)
    assert found.verdict == "helps"
    assert [each.state for each in found.guardrails] == ["broken"]
    assert "But tokens: worse" in found.sentence


def test_what_comes_after_the_planned_end_does_not_count() -> None:
    """A trial of 100 sessions that went on for 60 more: the first hundred decide, by the interval for one look."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", [], None, "n=100", 1.0)
    trial = Trial().add(100, {"cold": 0.1, "warm": 0.1}, HALF).add(60, {"cold": 0.9, "warm": 0.0}, HALF)
    found = trial.told(plan)
    assert found.final
    assert sum(found.assigned.values()) == 100
    assert any("planned end is reached" in each for each in found.problems)
    assert not any("planned end" in each for each in trial.told(plan, stopped=NOW).problems)


def test_what_is_missing_after_the_planned_end_is_no_trouble() -> None:
    """More cold sessions are missing from the time after the end than were drawn before it: only those before it are told of."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", [], None, "n=20", 1.0)
    trial = Trial().add(100, {"cold": 0.1, "warm": 0.1}, HALF, arms=("warm", "cold"))
    gone = {lot.session for lot in trial.lots[18:] if lot.arm == "cold"}
    trial.went = [each for each in trial.went if each.session not in gone]
    said = " ".join(trial.told(plan).problems)
    assert "1 session is assigned, but the archive has nothing of it" in said
    assert "1 of 10 `cold`" in said
    assert "unevenly" not in said


def test_a_guardrail_that_cannot_be_told_is_not_left_out() -> None:
    """Nobody rated a session: neither held nor broken."""
    plan = make_plan("mine", ["warm", "cold"], [], "mistakes", ["rating"], None, "anytime", 1.0)
    found = Trial().add(60, {"cold": 0.1, "warm": 0.1}, HALF).told(plan)
    assert [each.state for each in found.guardrails] == ["not known"]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_few_sessions_are_too_little_data(count: int) -> None:
    """No session, one, or one arm only: said, never a failure."""
    found = Trial().add(count, {"cold": 0.1, "warm": 0.1}, FIFTH, arms=("warm",)).told()
    assert found.verdict == "too little data"
    assert found.sentence.startswith("Too little data")
    assert any("no session was assigned to `cold`" in each for each in found.problems) == (count > 0)


def test_every_trouble_is_named() -> None:
    """One project, all failed, missing, unassigned, forks that drew for themselves, no key."""
    trial = Trial().add(40, {"cold": 1.0, "warm": 1.0}, HALF, projects=1)
    trial.lots.append(
        Assignment(session="a:x", root="a:x", experiment="e", arm="unassigned", agent="a", project="/w/0", at=9e3)
    )
    trial.went[5] = SessionResult(session="a:other", agent="a", project="/w/0", calls=3, started_at=5e3, ended_at=6e3)
    said = " ".join(trial.told(assigning=False).problems)
    for words in ("one project", "every call of every `warm`", "nothing of it", "1 session is unassigned", "no assignment",
                  "counts nowhere", "of 1 session", "nothing is assigned"):  # fmt: skip
        assert words in said, words


def test_arms_that_lose_sessions_unevenly_are_not_trusted() -> None:
    """Half of the cold ones are missing from the archive, of the warm ones none."""
    trial = Trial().add(80, {"cold": 0.1, "warm": 0.1}, HALF)
    gone = {lot.session for lot in trial.lots if lot.arm == "cold" and int(lot.session[2:]) % 2}
    trial.went = [each for each in trial.went if each.session not in gone]
    assert any("unevenly" in each for each in trial.told().problems)


def test_what_there_was_to_give_is_told_by_arm() -> None:
    """Who was given something, and for how many there was nothing."""
    trial = Trial().add(20, {"cold": 0.1, "warm": 0.1}, HALF)
    given = {
        lot.session: Delivery(session=lot.session, at=1.0, context="c" if lot.arm == "warm" else "", offered=number % 2)
        for number, lot in enumerate(trial.lots)
    }
    found = make_report("e", holdout_plan(0.5), build_trial(trial.lots, trial.went, NOW), given)
    assert found.deliveries == {"warm": found.assigned["warm"], "cold": 0}
    assert found.nothing_to_give == 10


def test_four_arms_are_each_held_against_warm() -> None:
    """Cold first, which decides; placebo and note beside it."""
    plan = make_plan("mine", ["warm", "cold", "placebo", "note"], [], "mistakes", [], None, "anytime", 1.0)
    shares = {"cold": 0.25, "placebo": 0.25, "note": 0.25, "warm": 0.25}
    found = Trial().add(400, {"cold": 0.2, "placebo": 0.2, "note": 0.06, "warm": 0.05}, shares).told(plan)
    assert [each.against for each in found.estimates] == ["cold", "placebo", "note"]
    assert found.verdict == "helps"
    note = estimate_effect("mistakes", build_trial(Trial().lots, [], NOW), "note")
    assert note.difference is None
