"""What the rows of the first-file study say: levels and paired differences over projects. Reads the files of runs."""

import os
import re
from collections.abc import Sequence
from typing import Any

from preheat.lab.study.analysis import Row, arm_difference, arm_levels, exact, nll, scored_rows
from preheat.lab.study.first_file import ARMS
from preheat.lab.study.run import read_run
from preheat.statistics.shares import holm

PAIRS = (("orientation", "other"), ("orientation", "folders"), ("orientation", "nothing"), ("other", "nothing"))
"""The first is the primary one."""
_RUN = re.compile(r"first-file-(.+)\.jsonl")


def read_results(folder: str) -> dict[str, Any]:
    """By model what its run says."""
    runs = os.path.join(folder, "runs")
    found: dict[str, Any] = {}
    for name in sorted(os.listdir(runs)) if os.path.isdir(runs) else ():
        if (match := _RUN.fullmatch(name)) is not None:
            about, rows = read_run(os.path.join(runs, name))
            found[match[1]] = {"run": about, **summarise(rows)}
    return found


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Levels and differences over the tasks that have all arms."""
    whole = _whole_tasks(rows)
    kinds = {kind: [row for row in whole if row["kind"] == kind] for kind in ("named", "not named")}
    return {
        "tasks": len({row["task"] for row in whole}),
        "clusters": len({row["cluster"] for row in whole}),
        "left_out": len({row["task"] for row in rows if "skipped" in row}),
        "nll": arm_levels(whole, ARMS, nll),
        "first": arm_levels(whole, ARMS, exact),
        "rank": {arm: _mean([row["rank"] for row in whole if row["arm"] == arm]) for arm in ARMS},
        "tokens": {arm: _mean([row["prompt_tokens"] for row in whole if row["arm"] == arm]) for arm in ARMS},
        "nll_differences": _compare(whole, "nll"),
        "first_differences": _compare(whole, "exact"),
        "kinds": {
            kind: {"tasks": len({row["task"] for row in some}), "nll": {arm: _mean_nll(some, arm) for arm in ARMS}}
            for kind, some in kinds.items()
        },
    }


def _whole_tasks(rows: Sequence[Row]) -> list[Row]:
    scored = scored_rows(rows)
    arms: dict[str, set[str]] = {}
    for row in scored:
        arms.setdefault(row["task"], set()).add(row["arm"])
    return [row for row in scored if arms[row["task"]] == set(ARMS)]


def _compare(rows: Sequence[Row], metric: str) -> list[dict[str, Any]]:
    value = nll if metric == "nll" else exact
    found = [each for pair in PAIRS if (each := arm_difference(rows, *pair, metric, value)) is not None]
    secondary = [each for each in found[1:] if each["p"] is not None]
    for each, p in zip(secondary, holm([each["p"] for each in secondary]), strict=True):
        each["holm_p"] = p
    return found


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _mean_nll(rows: Sequence[Row], arm: str) -> float | None:
    return _mean([row["nll"] for row in rows if row["arm"] == arm])
