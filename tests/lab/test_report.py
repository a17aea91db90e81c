"""What a lab says: what is there, nothing that is not, and everything that went wrong by name."""

import re

import msgspec

from preheat.lab.plan import ArmContext
from preheat.lab.report import contrasts, make_report
from preheat.lab.state import RunResult
from tests.lab.conftest import a_plan, a_run


def test_a_clear_difference_is_told_first() -> None:
    """Ten tasks of ten with, one of ten without: warm helps, with an interval, a level for each arm and the guardrails."""
    plan = a_plan(10)
    runs = [a_run(plan, f"t{n}", "warm", mistakes=0) for n in range(10)]
    runs += [a_run(plan, f"t{n}", "cold", passed=n == 0, tokens=1500 + n) for n in range(10)]
    found = make_report(plan, runs)
    assert found.verdict == "helps"
    assert found.sentence.startswith("Warm sessions succeeded in 90 more of 100 than cold (95 % ")
    levels = {(each.metric, each.arm): each for each in found.levels}
    assert levels["success", "cold"].value == 0.1
    assert levels["success", "cold"].method == "Wilson over tasks"
    assert found.comparisons[0].discordant == (9, 0)
    assert (found.guardrails[0].metric, found.guardrails[0].state) == ("tokens", "held")
    assert found.problems == ()
    assert found.delivered.startswith("10 of 10 transcripts show the context")


def test_nothing_is_claimed_from_few_tasks() -> None:
    """Five wins of five, even repeated ten times, are too few tasks to tell a difference."""
    plan = a_plan(5, repeats=10)
    runs = [
        a_run(plan, f"t{n}", arm, r, passed=arm == "warm") for n in range(5) for arm in plan.arms for r in range(1, 11)
    ]
    found = make_report(plan, runs)
    assert found.verdict == "too little data"
    assert "5 tasks were tried with both warm and cold" in found.sentence
    assert "success 100 % and 0 %" in found.sentence


def test_no_difference_is_no_help() -> None:
    """The same in both arms over many tasks: no difference larger than the margin, if there are enough; never `helps`."""
    plan = a_plan(60)
    runs = [a_run(plan, f"t{n}", arm, passed=n % 2 == 0) for n in range(60) for arm in plan.arms]
    assert make_report(plan, runs).verdict == "no difference"


def test_a_set_up_that_fails_is_named_and_its_pair_left_out() -> None:
    """In one arm only: the other arm's run of that task counts in no comparison, and both are told."""
    plan = a_plan(8)
    runs = [a_run(plan, f"t{n}", arm, passed=arm == "warm") for n in range(8) for arm in plan.arms]
    runs[3] = RunResult(task="t1", arm="warm", repeat=1, status="not set up", note="no such branch")
    found = make_report(plan, runs)
    assert found.comparisons[0].estimate.clusters == 7
    assert any("`t1` (repeat 1) could not be set up in warm: no such branch" in each for each in found.problems)
    assert any("left out of every comparison, with 1 run of the other arms" in each for each in found.problems)
    assert found.endings["not set up"] == {"warm": 1}


def test_a_context_that_did_not_arrive_is_named() -> None:
    """So is one that stands where none should."""
    plan = a_plan(8)
    runs = [a_run(plan, f"t{n}", arm) for n in range(8) for arm in plan.arms]
    runs[1] = a_run(plan, "t0", "warm", shown=())
    runs[2] = a_run(plan, "t1", "cold", shown=("7761726d",))
    found = make_report(plan, runs)
    assert any(
        "the context that was to be given does not show in 1 run: `t0.1.warm`" in each for each in found.problems
    )
    assert any("a context that was for others shows in 1 run: `t1.1.cold`" in each for each in found.problems)
    assert "7 of 8 transcripts show the context that was to be given; 7 of 8" in found.delivered


def test_runs_without_a_transcript_and_without_an_answer() -> None:
    """They count as they were verified, and are named."""
    plan = a_plan(8)
    runs = [a_run(plan, f"t{n}", arm) for n in range(8) for arm in plan.arms]
    runs[0] = a_run(plan, "t0", "cold", passed=False, sessions=(), answers=0, ending="no answer", shown=())
    found = make_report(plan, runs)
    assert any("1 run left no transcript" in each for each in found.problems)
    assert any("gave no answer in 1 run: `t0.1.cold`" in each for each in found.problems)
    assert found.endings == {"no answer": {"cold": 1}, "not passed": {"cold": 1}}


def test_a_verify_that_runs_out_of_time_is_no_plain_failure() -> None:
    """It counts as not passed, in its group as well, under a name of its own, and stands against believing the numbers."""
    plan = a_plan(8)
    plan = msgspec.structs.replace(
        plan, tasks=tuple(msgspec.structs.replace(task, group="near") for task in plan.tasks)
    )
    runs = [a_run(plan, f"t{n}", arm) for n in range(8) for arm in plan.arms]
    runs[0] = a_run(plan, "t0", "cold", status="verify timed out")
    found = make_report(plan, runs)
    assert found.endings == {"verify timed out": {"cold": 1}}
    assert found.groups["near"] == {"cold": "7 of 8", "warm": "8 of 8"}
    assert found.problems == ("`verify` ran out of time in 1 run, counted as not passed: `t0.1.cold`",)
    levels = {(each.metric, each.arm): each.value for each in found.levels}
    assert levels["success", "cold"] == 7 / 8


def test_runs_over_a_limit_that_nothing_enforced_are_named() -> None:
    """Runs that took more are named, whatever ended them; where the agent keeps to the limit, its last words are no breach."""
    plan = a_plan(8, agent="some", turns=3, tokens=1500, unenforced=("turns", "tokens"))
    runs = [a_run(plan, f"t{n}", arm, turns=3) for n in range(8) for arm in plan.arms]
    runs[0] = a_run(plan, "t0", "cold", turns=9, ending="timed out")
    runs[1] = a_run(plan, "t0", "warm", turns=4, tokens=2000, ending="over its turns")
    assert make_report(plan, runs).problems == (
        "`--turns 3` was not enforced, with some it is only measured: 2 runs took more (up to 9): `t0.1.cold`, `t0.1.warm`",
        "`--max-tokens 1500` was not enforced, with some it is only measured: 1 run took more (up to 2,000): `t0.1.warm`",
    )
    assert make_report(msgspec.structs.replace(plan, unenforced=()), runs).problems == ()


def test_the_first_error_of_the_agent_is_quoted() -> None:
    """The report says why, not only how often."""
    plan = a_plan(8)
    runs = [a_run(plan, f"t{n}", arm) for n in range(8) for arm in plan.arms]
    runs[1] = a_run(plan, "t0", "warm", ending="failed", note="HTTP 400: the context is too long")
    (problem,) = make_report(plan, runs).problems
    assert (
        problem == "the agent ended with an error in 1 run: `t0.1.warm`; the first: HTTP 400: the context is too long"
    )


def test_one_is_written_in_the_singular() -> None:
    """One task, one run, one item: no `1 tasks`."""
    plan = a_plan(1, unenforced=("turns",), turns=1, agent="some")
    plan = msgspec.structs.replace(
        plan, contexts={**plan.contexts, "warm": {"t0": ArmContext(context="77", tokens=9, items=1)}}
    )
    runs = [a_run(plan, "t0", "cold", turns=2), a_run(plan, "t0", "warm", shown=(), sessions=())]
    for each in (make_report(plan, runs), make_report(plan, runs[:1])):
        text = " ".join((each.sentence, *each.problems, *each.contexts.values()))
        assert not re.search(r"\b1 (?:tasks|runs|items|turns)\b", text), text


def test_the_fewest_items_that_are_enough_are_found() -> None:
    """Two items do what eight do, one does not."""
    plan = a_plan(40, ("cold", "k=1", "k=2", "k=4", "k=8"))
    enough = {"cold": 0, "k=1": 10, "k=2": 40, "k=4": 40, "k=8": 40}
    runs = [a_run(plan, f"t{n}", arm, passed=n < enough[arm]) for n in range(40) for arm in plan.arms]
    found = make_report(plan, runs)
    assert found.dose_sentence == "2 items do as well as 8, within 10 in 100 sessions."
    assert found.doses is not None
    assert [dose.items for dose in found.doses.doses] == [1, 2, 4, 8]


def test_strategies_are_compared_with_the_whole_session() -> None:
    """One that loses nothing is not worse; one that loses half is not said to be."""
    plan = a_plan(60, ("none", "mask", "markers"))
    runs = [a_run(plan, f"t{n}", arm, passed=arm != "mask" or n % 2 == 0) for n in range(60) for arm in plan.arms]
    held = {each.arm: each for each in make_report(plan, runs).strategies}
    assert held["markers"].not_inferior is True
    assert held["mask"].not_inferior is False
    assert "`mask` is not shown to be no worse than `none`" in held["mask"].sentence


def test_an_unfinished_lab_says_so() -> None:
    """Tasks that only some arms have gone through are in no comparison."""
    plan = a_plan(8)
    runs = [a_run(plan, f"t{n}", arm) for n in range(3) for arm in plan.arms] + [a_run(plan, "t5", "cold")]
    found = make_report(plan, runs)
    assert found.sentence.startswith("Not over yet (7 of 16 runs). ")
    assert found.comparisons[0].estimate.clusters == 3
    assert any("9 runs are not done yet" in each for each in found.problems)


def test_a_lab_without_runs_has_a_report() -> None:
    """A lab that was stopped before its first run has a report, too."""
    found = make_report(a_plan(2), [])
    assert found.verdict == "too little data"


def test_warm_is_compared_first_and_strategies_with_the_whole_session() -> None:
    """Warm first, against nothing; strategies against the whole session."""
    assert contrasts(("cold", "warm", "placebo", "note")) == [
        ("warm", "cold"), ("warm", "note"), ("warm", "placebo"), ("note", "cold"), ("placebo", "cold"),
    ]  # fmt: skip
    assert contrasts(("none", "mask")) == [("mask", "none")]
    assert contrasts(("k=1", "k=4")) == [("k=4", "k=1")]
