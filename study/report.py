"""From the rows of all runs to results, tables and figures; the blocks of a paper in the target folder are written anew.

A block of the paper stands between `<!-- from the results: NAME -->` and `<!-- end -->`: no figure in it is typed by hand.
"""

import json
import os
import re
from collections.abc import Callable
from typing import Any

from study import analysis
from study.figures import Dot, draw_curve, draw_rows
from study.plan import decode_plan
from study.run import read_run
from study.tables import BLOCKS, Results, label, models

STUDIES: dict[str, Callable[[list[dict[str, Any]]], dict[str, Any]]] = {
    "lab": analysis.lab_results,
    "harm": analysis.harm_results,
    "nextcall": analysis.nextcall_results,
}
_BLOCK = re.compile(r"(<!-- from the results: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_DIGITS = 6


def load_results(folder: str) -> Results:
    """By model, then by study; each with the first line of its run."""
    found: Results = {}
    for name in sorted(os.listdir(os.path.join(folder, "runs"))):
        study, _, model = name.removesuffix(".jsonl").partition("-")
        if not name.endswith(".jsonl") or study not in (*STUDIES, "explore"):
            continue
        header, some = read_run(os.path.join(folder, "runs", name))
        if not some:
            continue
        if study == "explore":
            of_lab = os.path.join(folder, "runs", f"lab-{model}.jsonl")
            result = analysis.explore_results(some, read_run(of_lab)[1] if os.path.exists(of_lab) else [])
        else:
            result = STUDIES[study](some)
        planned = os.path.join(folder, "plans", f"{study}.json")
        if os.path.exists(planned):
            with open(planned, "rb") as file:
                result["planned"] = len(decode_plan(file.read()).tasks)
        check = os.path.join(folder, "runs", f"{study}-{model}.check.json")
        if os.path.exists(check):
            with open(check, encoding="utf-8") as stream:
                result["before"] = json.load(stream)
        found.setdefault(model, {})[study] = {
            **result,
            "run": header,
            "seconds": sum(row.get("seconds", 0) for row in some),
        }
    rounded: Results = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), _DIGITS))
    return rounded


def draw_figures(results: Results) -> dict[str, str]:
    """By file name; one of something that was not run has no dots."""
    with_lab = models(results, "lab")
    arms = list(dict.fromkeys(arm for model in with_lab for arm in results[model]["lab"]["exact"]))
    levels = [
        _dot(arm, model, each)
        for arm in arms
        for model in with_lab
        if (each := results[model]["lab"]["exact"].get(arm))
    ]
    gaps = [
        _dot(f"{each['arm']} − {each['against']}", model, each, "difference")
        for pair in analysis.LAB
        for model in with_lab
        for each in results[model]["lab"]["differences"]
        if (each["arm"], each["against"]) == pair
    ]
    doses = [
        Dot(f"k = {k}", label(model), each["mean"], each["low"], each["high"])
        for model in with_lab
        for k, each in ((results[model]["lab"]["dose"] or {}).get("levels") or {}).items()
    ]
    next_calls = _next_calls(results)
    least = min([-20.0, *(dot.low or 0.0 for dot in gaps)])
    reach = max([0.1, *(min(1.0, abs(end)) for dot in next_calls for end in (dot.low, dot.high) if end is not None)])
    return {
        "arms.svg": draw_rows("Exact match by arm, 95 % over projects", levels, 0, 100, "% of tasks"),
        "differences.svg": draw_rows("Paired differences in exact match", gaps, least, 100, "points", zero=True),
        "dose.svg": draw_curve("Exact match against the number of examples", doses, "% of tasks", "examples"),
        "nextcall.svg": draw_rows(
            "Next call: nats per token, below zero is better", next_calls, -reach, reach, "nats", zero=True
        ),
    }


def _next_calls(results: Results) -> list[Dot]:
    """All calls first, then each project."""
    dots = []
    for model in models(results, "nextcall"):
        study = results[model]["nextcall"]
        for against in ("note", "placebo", "cold"):
            whole = [each for each in study["differences"] if (each["arm"], each["against"]) == ("warm", against)]
            parts = [each.get(f"warm - {against}") for each in study["projects"].values()]
            name = f"warm − {against}, {label(model)}"
            dots += [Dot(name, "all calls", each["difference"], each["low"], each["high"]) for each in whole]
            dots += [Dot(name, "one project", each["difference"], each["low"], each["high"]) for each in parts if each]
    return dots


def _dot(name: str, model: str, each: dict[str, Any], value: str = "mean") -> Dot:
    low, high = (None if each[end] is None else 100 * each[end] for end in ("low", "high"))
    return Dot(name, label(model), 100 * each[value], low, high)


def fill_paper(paper: str, results: Results) -> str:
    """A paper with its blocks written anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{BLOCKS[found[2]](results)}\n\n{found[4]}", paper)


def write_report(folder: str, target: str) -> str:
    """Write everything; what is returned is the short form for the screen."""
    results = load_results(folder)
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, "results.json"), "w", encoding="utf-8") as stream:
        json.dump(results, stream, indent=1, ensure_ascii=False)
        stream.write("\n")
    for name, picture in draw_figures(results).items():
        with open(os.path.join(target, name), "w", encoding="utf-8") as stream:
            stream.write(picture)
    paper = os.path.join(target, "paper.md")
    if os.path.exists(paper):
        with open(paper, encoding="utf-8") as stream:
            text = stream.read()
        with open(paper, "w", encoding="utf-8") as stream:
            stream.write(fill_paper(text, results))
    return "\n\n".join(f"{name}\n{block(results)}" for name, block in BLOCKS.items())
