"""What the rows of the first-file study say: levels and paired differences over projects. Reads the files of runs."""

import os
import re
from collections.abc import Sequence
from typing import Any

from preheat.lab.study.analysis import Row, arm_difference, arm_levels, exact, nll, scored_rows
from preheat.lab.study.errors import StudyError
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


# The page.
_BEGIN, _END = "<!-- from the first-file run -->", "<!-- end of the first-file run -->"


def fill_page(page: str, results: dict[str, Any]) -> str:
    """A page with its block filled anew: no figure in it is typed by hand."""
    before, _, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise StudyError(f"the page has no block between `{_BEGIN}` and `{_END}`")
    blocks = [write_block(model, found) for model, found in results.items()]
    return f"{before}{_BEGIN}\n\n" + "\n\n".join(blocks) + f"\n\n{_END}{after}"


def write_block(model: str, found: dict[str, Any]) -> str:
    """What came of a model, in sentences by rule and in tables."""
    sentences = [_say(each, "nll") for each in found["nll_differences"][:3]]
    sentences += [_say(each, "exact") for each in found["first_differences"][:1]]
    rows = [
        f"| {arm} | {found['tokens'][arm]:.0f} | {found['nll'][arm]['mean']:.3f} | {100 * found['first'][arm]['mean']:.0f} % |"
        f" {found['rank'][arm]:.2f} | {_show(found['kinds']['named']['nll'][arm])} |"
        f" {_show(found['kinds']['not named']['nll'][arm])} |"
        for arm in ARMS
    ]
    differences = [
        f"| {each['arm']} − {each['against']} | {_interval(each, 1.0, 3)} | {_p(each)} |"
        f" {_interval(other, 100.0, 1)} | {_p(other)} |"
        for each, other in zip(found["nll_differences"], found["first_differences"], strict=True)
    ]
    kinds = found["kinds"]
    lines = [
        f"**{model.upper()}, {found['tasks']} tasks in {found['clusters']} projects** ({found['left_out']} left out). "
        + " ".join(sentences),
        "",
        "| arm | tokens of the prompt | nats per token of the path | comes first of eight | mean rank | nats, target named"
        f" ({kinds['named']['tasks']}) | nats, not named ({kinds['not named']['tasks']}) |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        "| difference | nats per token (95 % over projects) | p | points of coming first (95 %) | p |",
        "|---|---|---|---|---|",
        *differences,
    ]
    return "\n".join(lines)


def _say(each: dict[str, Any], metric: str) -> str:
    """The sentence that the protocol has for a comparison."""
    what = "likely" if metric == "nll" else "often the first of eight"
    if each["low"] is None:
        return f"Against {each['against']} nothing can be said."
    low, high = (each["low"], each["high"]) if metric == "nll" else (-each["high"], -each["low"])
    if high < 0:
        return f"Orientation makes the first file more {what} than {each['against']}."
    if low > 0:
        return f"Orientation makes the first file less {what} than {each['against']}."
    return f"Not shown that orientation makes the first file more {what} than {each['against']}."


def _interval(each: dict[str, Any], unit: float, digits: int) -> str:
    if each["low"] is None:
        return f"{unit * each['difference']:+.{digits}f}"
    low, high = unit * each["low"], unit * each["high"]
    return f"{unit * each['difference']:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


def _p(each: dict[str, Any]) -> str:
    value = each.get("holm_p", each["p"])
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
