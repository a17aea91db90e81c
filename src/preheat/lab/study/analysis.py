"""What the rows of a run say: levels, paired differences with intervals, the dose, harm, the check of the two ways. Pure.

Statistics are the product's own (`preheat.statistics`). A comparison takes the tasks that both arms have.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import sqrt
from typing import Any

import numpy
from scipy.stats import t as student

from preheat.lab.study.lab_plans import HARM_MARGIN as HARM_MARGIN
from preheat.lab.study.lab_plans import is_right, load_requests
from preheat.lab.study.projects import DOSES, MAIN_ARMS, PROJECTS, K, make_projects, project_tasks, shown_calls
from preheat.model.experiment import Observation
from preheat.statistics.paired import compare_paired, mcnemar
from preheat.statistics.shares import holm, wilson

Row = dict[str, Any]
Value = Callable[[Row], float]

LAB = (
    ("warm", "note"), ("warm", "placebo"), ("warm", "cold"), ("note+warm", "note"), ("note+warm", "warm"), ("text", "note"),
    ("text", "warm"),
)  # fmt: skip
"""The first is the primary one."""
NEXTCALL = (("warm", "note"), ("warm", "placebo"), ("warm", "cold"), ("messages", "note"))
MARGIN = 0.10
"""Of exact match, and of the dose."""
MISSES = ("other work that was shown", "right work, else wrong", "no work of the project")
FLIPS = 100_000
MOST_DISAGREEMENTS = 0.05


def exact(row: Row) -> float:
    return float(row["exact"])


def nll(row: Row) -> float:
    return float(row["nll"])


def scored_rows(rows: Sequence[Row]) -> list[Row]:
    """Without tasks that could not be scored in some arm."""
    left_out = {row["task"] for row in rows if "skipped" in row}
    return [row for row in rows if row["task"] not in left_out]


def compare_methods(rows: Sequence[Row]) -> dict[str, Any]:
    """The two ways to tell an exact match, held together: by the most likely tokens, and written token by token."""
    both = [row for row in rows if "stepwise_exact" in row]
    apart = sum(row["exact"] != row["stepwise_exact"] for row in both)
    argmax = sum(row["argmax"] and not row["exact"] for row in rows if "argmax" in row and row.get("closed"))
    return {
        "cells": len(both),
        "disagree": apart,
        "likely_but_not_closed": argmax,
        "usable": not both or apart / len(both) <= MOST_DISAGREEMENTS,
    }


def arm_levels(rows: Sequence[Row], arms: Sequence[str], value: Value) -> dict[str, dict[str, Any]]:
    """Each arm's mean over the tasks that all of these arms have, with t over clusters."""
    return _levels(_rows_in_all(rows, arms), arms, value)


def _levels(rows: Sequence[Row], arms: Sequence[str], value: Value) -> dict[str, dict[str, Any]]:
    found = {}
    for arm in arms:
        of_arm = [row for row in rows if row["arm"] == arm]
        if of_arm and all(value is not nll or "nll" in row for row in of_arm):
            means = _group_by_cluster([(row["cluster"], value(row)) for row in of_arm])
            low, high = _interval([sum(some) / len(some) for some in means.values()], share=value is not nll)
            tokens = sum(row.get("prefix_tokens", 0) for row in of_arm) / len(of_arm)
            mean = sum(map(value, of_arm)) / len(of_arm)
            found[arm] = {"tasks": len(of_arm), "mean": mean, "low": low, "high": high, "prefix_tokens": tokens}
    return found


def kind_shares(rows: Sequence[Row], arms: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Exact matches by kind of task, with Wilson's interval (which ignores clusters)."""
    found: dict[str, dict[str, Any]] = {}
    for kind in sorted({row["kind"] for row in rows}):
        for arm in arms:
            of_kind = [row for row in rows if row["arm"] == arm and row["kind"] == kind]
            if of_kind:
                hits = sum(row["exact"] for row in of_kind)
                low, high = wilson(hits, len(of_kind))
                found.setdefault(kind, {})[arm] = {"hits": hits, "tasks": len(of_kind), "low": low, "high": high}
    return found


def _rows_in_all(rows: Sequence[Row], arms: Sequence[str]) -> list[Row]:
    """The rows of the tasks that all of these arms have."""
    common = _common_tasks(rows, arms)
    return [row for row in rows if row["task"] in common]


def arm_difference(rows: Sequence[Row], arm: str, against: str, metric: str, value: Value) -> dict[str, Any] | None:
    """`arm` minus `against`, paired by task, t over clusters; None where they share fewer than two clusters."""
    common = _common_tasks(rows, (arm, against))
    paired = [row for row in rows if row["arm"] in (arm, against) and row["task"] in common]
    if len({row["cluster"] for row in paired}) < 2 or (value is nll and any("nll" not in row for row in paired)):
        return None
    units = [
        Observation(session=f"{row['task']} {row['arm']}", arm=row["arm"], above=value(row), cluster=row["cluster"])
        for row in paired
    ]
    found = compare_paired(units, metric=metric, arm=arm, against=against, seed=1, draws=FLIPS)
    result: dict[str, Any] = {
        "arm": arm,
        "against": against,
        "metric": metric,
        "tasks": len(common),
        "clusters": len(found.differences),
        "difference": found.estimate.difference,
        "low": found.estimate.low,
        "high": found.estimate.high,
        "p": found.estimate.p,
        "flips_p": found.flips_p,
    }
    if metric == "exact":
        by_task = {(row["task"], row["arm"]): row["exact"] for row in paired}
        wins = sum(by_task[task, arm] and not by_task[task, against] for task in common)
        losses = sum(by_task[task, against] and not by_task[task, arm] for task in common)
        result |= {"wins": wins, "losses": losses, "mcnemar_p": mcnemar(wins, losses)}
        if result["low"] is None and result["difference"] is not None:
            # All projects differ by the same: no spread to measure by, but so many tasks bound what may go another way.
            rare = 1 - 0.025 ** (1 / len(common))
            result |= {"low": max(-1.0, result["difference"] - rare), "high": min(1.0, result["difference"] + rare)}
    return result


def with_corrected_p(found: Iterable[dict[str, Any] | None]) -> list[dict[str, Any]]:
    """Comparisons that could be made; all but the first (the primary one) with Holm's p."""
    results = [each for each in found if each is not None]
    secondary = [each for each in results if (each["arm"], each["against"]) != LAB[0] and each["p"] is not None]
    for each, p in zip(secondary, holm([each["p"] for each in secondary]), strict=True):
        each["holm_p"] = p
    return results


def lab_results(rows: Sequence[Row]) -> dict[str, Any]:
    rows = scored_rows(rows)
    arms = [arm for arm in (*MAIN_ARMS, "note+warm", "text") if any(row["arm"] == arm for row in rows)]
    main = [arm for arm in MAIN_ARMS if arm in arms]
    return {
        "tasks": len(_common_tasks(rows, main)),
        "clusters": len({row["cluster"] for row in rows if row["task"] in _common_tasks(rows, main)}),
        "planned": 8 * PROJECTS,
        # Over whatever each arm has: some are finished before others, and a difference is over what both have anyway.
        "exact": _levels(rows, arms, exact),
        "nll": _levels(rows, arms, nll),
        "kinds": kind_shares(rows, main),
        "more_kinds": kind_shares(rows, [arm for arm in arms if arm not in main]),
        "differences": with_corrected_p(arm_difference(rows, *pair, "exact", exact) for pair in LAB),
        "nll_differences": with_corrected_p(arm_difference(rows, *pair, "nll", nll) for pair in LAB),
        "misses": count_misses(rows),
        "dose": dose_results(rows),
        "checked": compare_methods(rows),
    }


def count_misses(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """How the arms that know the conventions miss, by arm: the name of the piece of work, or the rest."""
    by_name = {project.name: project for project in make_projects()}
    answers = {task.id: task.answer for project in make_projects() for task in project_tasks(project)}
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["exact"] or row["arm"] in ("cold", "placebo") or row["task"] not in answers:
            continue
        project, written = by_name[row["cluster"]], set(re.findall(r"\w+", row["text"]))
        wanted = next(work for work in project.work if re.search(rf"\b{work}\b", answers[row["task"]]))
        if wanted in written:
            kind = "right work, else wrong"
        elif written & set(project.work[:3]):
            kind = "other work that was shown"
        else:
            kind = "no work of the project"
        counts = found.setdefault(row["arm"], dict.fromkeys(MISSES, 0))
        counts[kind] += 1
    return found


def explore_results(rows: Sequence[Row], of_lab: Sequence[Row]) -> dict[str, Any]:
    """The arm that was added after the first results, held against the lab's arms; described, not tested."""
    both = [*scored_rows(rows), *scored_rows(of_lab)]
    arms = [arm for arm in ("asked", "warm", "note") if any(row["arm"] == arm for row in both)]
    pairs = [("asked", against) for against in ("warm", "note") if against in arms]
    return {
        "tasks": len(_common_tasks(both, arms)),
        "exact": arm_levels(both, arms, exact),
        "nll": arm_levels(both, arms, nll),
        "kinds": kind_shares(_rows_in_all(both, arms), arms),
        "differences": [each for pair in pairs if (each := arm_difference(both, *pair, "exact", exact)) is not None],
    }


def dose_results(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Exact match against the number of examples, on the tasks that have all of them."""
    names = {k: "warm" if k == K else f"warm{k}" for k in sorted((*DOSES, K))}
    common = _common_tasks(rows, list(names.values()))
    if not common:
        return None
    dosed = [row for row in rows if row["task"] in common]
    most = max(names)
    found: dict[str, Any] = {"tasks": len(common), "levels": {}, "differences": {}, "fewest": most}
    of_arms = arm_levels(dosed, list(names.values()), exact)
    for k, name in names.items():
        found["levels"][str(k)] = of_arms[name]
        if k != most:
            found["differences"][str(k)] = arm_difference(dosed, name, names[most], "exact", exact)
    enough = [k for k in names if k != most and (each := found["differences"][str(k)]) and each["low"] is not None
              and each["low"] > -MARGIN]  # fmt: skip
    found["fewest"] = min([*enough, most])
    return found


def harm_results(rows: Sequence[Row]) -> dict[str, Any]:
    patterns = {f"harm/{number}": pattern for number, (_, _, pattern) in enumerate(load_requests())}
    judged = [
        {**row, "exact": row["closed"] and is_right(row["text"], patterns[row["task"]])} for row in scored_rows(rows)
    ]
    arms = ("cold", "warm", "note")
    differences = [arm_difference(judged, arm, "cold", "exact", exact) for arm in arms[1:]]
    for each in differences:
        if each is not None:
            each["not_inferior"] = each["low"] is not None and each["low"] > -HARM_MARGIN
    wrapped = {
        arm: sum(
            not row["exact"] and has_project_word(row["text"], row["cluster"]) for row in judged if row["arm"] == arm
        )
        for arm in arms
    }
    return {
        "tasks": len(_common_tasks(judged, arms)),
        "margin": HARM_MARGIN,
        "right": arm_levels(judged, arms, exact),
        "nll": arm_levels(judged, arms, nll),
        "differences": [each for each in differences if each is not None],
        "nll_differences": [
            each for arm in arms[1:] if (each := arm_difference(judged, arm, "cold", "nll", nll)) is not None
        ],
        "in_the_wrapper": wrapped,
        "checked": compare_methods(rows),
    }


def has_project_word(text: str, project: str) -> bool:
    """Whether a wrong answer has a word that only the project's conventions have: the feared kind of harm."""
    return bool(project_words().get(project, frozenset()) & set(re.findall(r"[a-z]{3,}", text.lower())))


@cache
def project_words() -> dict[str, frozenset[str]]:
    """By project, the words of its commands that are not its modules' and not in the shapes that all share."""
    found = {
        each.name: set(re.findall(r"[a-z]{3,}", " ".join(one.command for one in shown_calls(each)).lower()))
        for each in make_projects()
    }
    often = Counter(word for words in found.values() for word in words)
    modules = {module for each in make_projects() for module in each.modules}
    return {name: frozenset(word for word in words if often[word] <= 2) - modules for name, words in found.items()}


def nextcall_results(rows: Sequence[Row]) -> dict[str, Any]:
    skipped = {row["task"] for row in rows if "skipped" in row}
    rows = scored_rows(rows)
    arms = [arm for arm in (*MAIN_ARMS, "messages") if any(row["arm"] == arm for row in rows)]
    main = [arm for arm in MAIN_ARMS if arm in arms]
    common = _common_tasks(rows, main)
    projects = sorted({row["kind"] for row in rows})
    by_project = {}
    for place, project in enumerate(projects):
        of_project = [row for row in rows if row["kind"] == project]
        by_project[f"project {place + 1}"] = {
            "calls": len(_common_tasks(of_project, main)),
            "sessions": len({row["cluster"] for row in of_project if row["task"] in common}),
            **{f"{arm} - {against}": session_difference(of_project, arm, against) for arm, against in NEXTCALL},
        }
    return {
        "calls": len(common),
        "sessions": len({row["cluster"] for row in rows if row["task"] in common}),
        "skipped": len(skipped),
        "nll": arm_levels(rows, main, nll) | arm_levels(rows, [arm for arm in arms if arm not in main], nll),
        "argmax": arm_levels(rows, main, lambda row: float(row["argmax"])),
        "differences": [each for pair in NEXTCALL if (each := _nextcall_difference(rows, *pair)) is not None],
        "projects": by_project,
    }


def _nextcall_difference(rows: Sequence[Row], arm: str, against: str) -> dict[str, Any] | None:
    found = session_difference(rows, arm, against)
    if found is None:
        return None
    over = arm_difference([{**row, "cluster": row["kind"]} for row in rows], arm, against, "nll", nll)
    beside = {name: over[name] for name in ("difference", "low", "high", "p", "flips_p", "clusters")} if over else None
    return {"arm": arm, "against": against, "metric": "nll", **found, "over_projects": beside}


def session_difference(rows: Sequence[Row], arm: str, against: str) -> dict[str, Any] | None:
    """The mean difference over calls, cluster-robust by session; None with fewer than two sessions."""
    values = {(row["task"], row["arm"]): row["nll"] for row in rows}
    common = _common_tasks(rows, (arm, against))
    sessions = {row["task"]: row["cluster"] for row in rows}
    gaps = [(sessions[task], values[task, arm] - values[task, against]) for task in sorted(common)]
    clusters = _group_by_cluster(gaps)
    if len(clusters) < 2:
        return None
    count, center = len(gaps), sum(gap for _, gap in gaps) / len(gaps)
    groups = len(clusters)
    spread = sum(sum(gap - center for gap in some) ** 2 for some in clusters.values())
    error = sqrt(groups / (groups - 1) * spread) / count
    reach = float(student.ppf(0.975, groups - 1)) * error
    p = float(2 * student.sf(abs(center) / error, groups - 1)) if error else None
    lower = sum(gap < 0 for _, gap in gaps)
    return {
        "calls": count, "sessions": groups, "difference": center, "low": center - reach, "high": center + reach, "p": p,
        "lower_in": lower,
    }  # fmt: skip


def _common_tasks(rows: Sequence[Row], arms: Sequence[str]) -> set[str]:
    by_arm = [{row["task"] for row in rows if row["arm"] == arm} for arm in arms]
    return set.intersection(*by_arm) if by_arm else set()


def _group_by_cluster(pairs: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for cluster, value in pairs:
        found[cluster].append(value)
    return dict(found)


def _interval(means: Sequence[float], share: bool) -> tuple[float | None, float | None]:
    """Student's; a share stays between none and all."""
    if len(means) < 2:
        return None, None
    values = numpy.array(means)
    reach = float(student.ppf(0.975, len(means) - 1)) * float(values.std(ddof=1)) / sqrt(len(means))
    low, high = float(values.mean()) - reach, float(values.mean()) + reach
    return (max(0.0, low), min(1.0, high)) if share else (low, high)
