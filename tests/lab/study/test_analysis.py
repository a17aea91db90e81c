"""The analysis finds effects that were put in, holds intervals against other programs, and says what the protocol says."""

import random
from typing import Any

import numpy
import pytest
import statsmodels.api as statsmodels

from preheat.lab.study import analysis
from preheat.lab.study.lab_plans import load_requests
from preheat.lab.study.projects import make_projects, shown_calls
from preheat.lab.study.tables import BLOCKS, headline, verdict

ARMS = {"cold": 0.02, "placebo": 0.02, "note": 0.6, "warm": 0.8}


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here hangs on how finely the sign flips are drawn."""
    monkeypatch.setattr(analysis, "FLIPS", 500)


def rows(shares: dict[str, float], count: int = 40, seed: int = 1) -> list[dict[str, Any]]:
    """Eight tasks in each project; a task is exact with the arm's share, and costs less where it is."""
    draw = random.Random(seed)
    found = []
    for project in range(count):
        for task in range(8):
            luck = draw.random()
            for arm, share in shares.items():
                exact = luck < share
                found.append(
                    {"task": f"{project}/{task}", "arm": arm, "cluster": f"p{project}", "kind": ("near", "far")[task > 0],
                     "exact": exact, "argmax": exact, "closed": True, "text": "", "prefix_tokens": 100,
                     "nll": draw.gauss(0.2 if exact else 1.0, 0.1), "tokens": 10, "seconds": 1.0}
                )  # fmt: skip
    return found


def test_an_effect_that_is_there_is_found_and_none_where_there_is_none() -> None:
    """Warm above note by 20 points; cold and placebo the same."""
    found = {(each["arm"], each["against"]): each for each in analysis.lab_results(rows(ARMS))["differences"]}
    first = found["warm", "note"]
    assert first["low"] < 0.2 < first["high"]
    assert first["low"] > 0
    assert first["losses"] == 0
    assert verdict(first) == "warm beats note."
    same = analysis.arm_difference(rows(ARMS), "placebo", "cold", "exact", analysis.exact)
    assert same is not None
    assert same["difference"] == 0.0
    assert verdict({**same, "low": -0.05, "high": 0.04}).startswith("no difference larger than 10 points")
    assert verdict({**same, "low": -0.05, "high": 0.14}).startswith("not shown")
    assert verdict({**same, "low": -0.25, "high": -0.14}) == "cold beats placebo."


def test_intervals_are_students_over_projects() -> None:
    """Held against another program's regression of project means on a constant."""
    some = rows(ARMS, 20, 3)
    found = analysis.arm_difference(some, "warm", "note", "nll", analysis.nll)
    assert found is not None
    by_project: dict[str, list[float]] = {}
    for row in some:
        if row["arm"] in ("warm", "note"):
            by_project.setdefault(row["cluster"], []).append(row["nll"] if row["arm"] == "warm" else -row["nll"])
    means = numpy.array([sum(values) / 8 for values in by_project.values()])
    fit = statsmodels.OLS(means, numpy.ones(len(means))).fit()
    assert found["difference"] == pytest.approx(fit.params[0])
    assert (found["low"], found["high"]) == pytest.approx(tuple(fit.conf_int()[0]))


def test_calls_of_one_session_are_not_taken_for_independent() -> None:
    """The interval of the next-call study is cluster-robust: held against another program's, and wider where sessions differ."""
    draw = random.Random(5)
    some: list[dict[str, Any]] = []
    for session in range(30):
        shift, calls = draw.gauss(-0.1, 0.3), draw.randint(1, 4)
        for call in range(calls):
            base = draw.gauss(2, 0.5)
            for arm, value in (("note", base), ("warm", base + shift + draw.gauss(0, 0.05))):
                some.append(
                    {"task": f"{session}/{call}", "arm": arm, "cluster": f"s{session}", "kind": "p", "nll": value}
                )
    found = analysis.session_difference(some, "warm", "note")
    assert found is not None
    costs = {(row["task"], row["arm"]): row["nll"] for row in some}
    tasks = sorted({row["task"] for row in some})
    gaps = numpy.array([costs[task, "warm"] - costs[task, "note"] for task in tasks])
    groups = numpy.array([int(task.split("/")[0]) for task in tasks])
    plain = statsmodels.OLS(gaps, numpy.ones(len(gaps)))
    robust = plain.fit(cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}, use_t=True)
    assert found["difference"] == pytest.approx(robust.params[0])
    # The other program's correction has (n-1)/(n-k) beside G/(G-1): one here, since k = 1.
    assert (found["low"], found["high"]) == pytest.approx(tuple(robust.conf_int()[0]), rel=1e-6)
    naive = plain.fit().conf_int()[0]
    assert found["high"] - found["low"] > naive[1] - naive[0]


def test_an_unfinished_run_counts_the_tasks_that_both_arms_have() -> None:
    """Any beginning is analysed as what it is, with its numbers."""
    some = [row for row in rows(ARMS) if row["arm"] != "note" or int(row["cluster"][1:]) < 10]
    found = analysis.lab_results(some)
    assert found["tasks"] == 80
    assert found["differences"][0]["tasks"] == 80
    assert found["differences"][1]["tasks"] == 320


def test_tasks_that_could_not_be_scored_are_left_out_in_all_arms() -> None:
    some = rows(ARMS)
    some[5] = {"task": some[5]["task"], "arm": some[5]["arm"], "cluster": "p0", "kind": "far", "skipped": "straddles"}
    assert analysis.lab_results(some)["tasks"] == 319


def test_the_two_ways_to_tell_an_exact_match_are_held_together() -> None:
    """More than one in twenty apart, and the run is not to be used."""
    some = rows({"cold": 0.5})
    for place, row in enumerate(some):
        row["stepwise_exact"] = row["exact"] if place % 10 else not row["exact"]
    found = analysis.compare_methods(some)
    assert found["disagree"] == 32
    assert not found["usable"]


def test_secondary_p_values_are_adjusted_and_the_primary_one_is_not() -> None:
    found = analysis.lab_results(rows(ARMS, seed=7))["differences"]
    assert "holm_p" not in found[0]
    assert all(each["holm_p"] >= each["p"] for each in found[1:])


def test_the_fewest_examples_that_do() -> None:
    """k = 4 is as good as 8, k = 2 is not."""
    shares = {"warm1": 0.1, "warm2": 0.5, "warm": 0.8, "warm8": 0.8}
    found = analysis.dose_results(rows(shares))
    assert found is not None
    assert found["fewest"] == 4
    assert analysis.dose_results(rows(ARMS)) is None


def harmed(spoiled: int) -> list[dict[str, Any]]:
    """Right answers in all arms but `spoiled` ones with a warm context, where the wrapper was written."""
    found = []
    for number, (_, command, _) in enumerate(load_requests()):
        project = make_projects()[number // 8]
        for arm in ("cold", "warm", "note"):
            text = shown_calls(project)[0].command if arm == "warm" and number < spoiled else command
            found.append(
                {"task": f"harm/{number}", "arm": arm, "cluster": project.name, "kind": "harm", "exact": False,
                 "argmax": False, "closed": True, "text": text, "nll": 1.0, "prefix_tokens": 9, "seconds": 1.0}
            )  # fmt: skip
    return found


def test_harm_is_found_and_named() -> None:
    """Forty spoiled answers are harm, and of the feared kind; none is none."""
    bad, good = analysis.harm_results(harmed(40)), analysis.harm_results(harmed(0))
    assert not bad["differences"][0]["not_inferior"]
    assert bad["differences"][0]["difference"] == pytest.approx(-0.5)
    assert bad["in_the_wrapper"]["warm"] > 30
    assert bad["in_the_wrapper"]["cold"] == 0
    assert good["right"]["warm"]["mean"] == 1.0
    assert good["differences"][0]["not_inferior"]
    assert good["differences"][0]["low"] < 0


def test_every_block_can_be_written_from_any_results() -> None:
    """From none, from the lab alone, from all of it: no block fails, and the first sentence has the numbers."""
    for_next = [{**row, "kind": f"project{row['cluster'][-1]}"} for row in rows(ARMS)]
    every = {
        "lab": analysis.lab_results(rows(ARMS, 42)),
        "harm": analysis.harm_results(harmed(3)),
        "nextcall": analysis.nextcall_results(for_next),
    }
    for results in ({}, {"0.5b": {"lab": every["lab"]}}, {"1.5b": every, "other": {"harm": every["harm"]}}):
        for block in BLOCKS.values():
            assert isinstance(block(results), str)
    said = headline({"1.5b": every})
    assert "**Lab, 1.5B: warm beats note.** Exact match" in said
    assert "336 tasks in 42 projects" in said
    part = headline({"1.5b": {"lab": analysis.lab_results(rows(ARMS, 5))}})
    assert "so far, " in part
    assert "Unfinished, 40 of 336 tasks." in part
    assert "**Next call, 1.5B: warm makes the call that came more likely than note.**" in said


def test_projects_of_the_next_call_study_are_not_named() -> None:
    """Figures only: real projects stand as numbers."""
    found = analysis.nextcall_results([{**row, "kind": "real__name"} for row in rows(ARMS)])
    assert "real__name" not in str(found)
