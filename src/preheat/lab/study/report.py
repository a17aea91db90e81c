"""Turns the rows of all runs into results, tables and figures, and fills the blocks of a paper. Knows no model.

A block of the paper stands between `<!-- from the results: NAME -->` and `<!-- end -->`: no figure in it is typed by hand.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor
from typing import Any, NamedTuple

from preheat.lab.study import analysis
from preheat.lab.study.plan import decode_plan
from preheat.lab.study.run import read_run
from preheat.lab.study.tables import BLOCKS, Results, model_label, models_with

# Figures as SVG.
COLOURS = ("#3f7fd0", "#d9822b", "#4b9e6a", "#8a63c4")
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.small{font-size:11px;fill:#666}.head{font-weight:600}"
    ".grid{stroke:#ddd}.zero{stroke:#888}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}.grid{stroke:#444}.zero{stroke:#999}}"
)
_LEFT, _WIDTH, _ROW, _TOP = 190, 430, 22, 56


class Dot(NamedTuple):
    """A value with its interval; `series` says which colour."""

    label: str
    series: str
    value: float
    low: float | None
    high: float | None


def draw_rows(title: str, dots: Sequence[Dot], start: float, end: float, unit: str, zero: bool = False) -> str:
    """Rows below each other on one axis; dots of one label stand together."""
    series = list(dict.fromkeys(dot.series for dot in dots))
    height = _TOP + _ROW * len(dots) + 44

    def across(value: float) -> float:
        return _LEFT + _WIDTH * (min(max(value, start), end) - start) / (end - start)

    drawn = [_key(series)]
    for tick in _ticks(start, end):
        kind = "zero" if zero and abs(tick) < 1e-9 else "grid"
        drawn.append(_line(across(tick), _TOP - 6, across(tick), height - 36, kind))
        drawn.append(_text(across(tick), height - 20, f"{tick:g}", "small", "middle"))
    drawn.append(_text(_LEFT + _WIDTH / 2, height - 5, unit, "small", "middle"))
    last = ""
    for place, dot in enumerate(dots):
        middle = _TOP + _ROW * (place + 0.5)
        colour = COLOURS[series.index(dot.series) % len(COLOURS)]
        if dot.label != last:
            drawn.append(_text(_LEFT - 10, middle + 4, dot.label, "", "end"))
            last = dot.label
        if dot.low is not None and dot.high is not None:
            drawn.append(_line(across(dot.low), middle, across(dot.high), middle, "", colour, 2))
        drawn.append(f'<circle cx="{across(dot.value):.1f}" cy="{middle:.1f}" r="4" fill="{colour}"/>')
    return _picture(title, _LEFT + _WIDTH + 30, height, drawn)


def draw_curve(title: str, dots: Sequence[Dot], unit: str, below: str) -> str:
    """Values from 0 to 1 over the labels, one line for each series."""
    series = list(dict.fromkeys(dot.series for dot in dots))
    labels = list(dict.fromkeys(dot.label for dot in dots))
    left, width, high = 60, 420, 220

    def point(dot: Dot, value: float) -> tuple[float, float]:
        step = width / max(1, len(labels) - 1)
        return left + step * labels.index(dot.label) + 6 * series.index(dot.series), _TOP + high * (1 - value)

    drawn = [_key(series)]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawn.append(_line(left, _TOP + high * (1 - tick), left + width, _TOP + high * (1 - tick), "grid"))
        drawn.append(_text(left - 8, _TOP + high * (1 - tick) + 4, f"{100 * tick:.0f}", "small", "end"))
    for place, each in enumerate(labels):
        drawn.append(_text(left + width / max(1, len(labels) - 1) * place, _TOP + high + 18, each, "small", "middle"))
    for name in series:
        own = [dot for dot in dots if dot.series == name]
        colour = COLOURS[series.index(name) % len(COLOURS)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (point(dot, dot.value) for dot in own))
        drawn.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for dot in own:
            x, y = point(dot, dot.value)
            if dot.low is not None and dot.high is not None:
                drawn.append(
                    _line(x, point(dot, max(0.0, dot.low))[1], x, point(dot, min(1.0, dot.high))[1], "", colour, 2)
                )
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
    drawn.append(_text(left + width / 2, _TOP + high + 36, below, "small", "middle"))
    drawn.append(_text(left, _TOP - 10, unit, "small", "start"))
    return _picture(title, left + width + 40, _TOP + high + 48, drawn)


def _ticks(start: float, end: float) -> list[float]:
    """Round places on an axis, at most nine."""
    step = next(
        step for step in (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 25, 50) if (end - start) / step <= 8
    )
    first = ceil(start / step - 1e-9)
    return [round(place * step, 6) for place in range(first, floor(end / step + 1e-9) + 1)]


def _key(series: Sequence[str]) -> str:
    found = []
    if len(series) > 1:
        for place, name in enumerate(series):
            x = 12 + 90 * place
            found.append(f'<circle cx="{x}" cy="36" r="4" fill="{COLOURS[place % len(COLOURS)]}"/>')
            found.append(_text(x + 10, 40, name, "small", "start"))
    return "".join(found)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str, colour: str = "", width: int = 1) -> str:
    look = f'class="{kind}"' if kind else f'stroke="{colour}"'
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {look} stroke-width="{width}"/>'


def _text(x: float, y: float, words: str, kind: str, anchor: str) -> str:
    look = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{look} text-anchor="{anchor}">{escape(words)}</text>'


def _picture(title: str, width: float, height: float, drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        + _text(12, 20, title, "head", "start")
        + "".join(drawn)
        + "</svg>\n"
    )


# From the rows of all runs to results, tables and figures.
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
        header, rows = read_run(os.path.join(folder, "runs", name))
        if not rows:
            continue
        if study == "explore":
            of_lab = os.path.join(folder, "runs", f"lab-{model}.jsonl")
            result = analysis.explore_results(rows, read_run(of_lab)[1] if os.path.exists(of_lab) else [])
        else:
            result = STUDIES[study](rows)
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
            "seconds": sum(row.get("seconds", 0) for row in rows),
        }
    rounded: Results = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), _DIGITS))
    return rounded


def join_results(earlier: Results, later: Results) -> Results:
    """Of each model and study the later result; the earlier one where the rows are not on this machine."""
    models = {**earlier, **later}
    return {model: {**earlier.get(model, {}), **later.get(model, {})} for model in sorted(models)}


def draw_figures(results: Results) -> dict[str, str]:
    """By file name; one of something that was not run has no dots."""
    with_lab = models_with(results, "lab")
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
        Dot(f"k = {k}", model_label(model), each["mean"], each["low"], each["high"])
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
    for model in models_with(results, "nextcall"):
        study = results[model]["nextcall"]
        for against in ("note", "placebo", "cold"):
            whole = [each for each in study["differences"] if (each["arm"], each["against"]) == ("warm", against)]
            parts = [each.get(f"warm - {against}") for each in study["projects"].values()]
            name = f"warm − {against}, {model_label(model)}"
            dots += [Dot(name, "all calls", each["difference"], each["low"], each["high"]) for each in whole]
            dots += [Dot(name, "one project", each["difference"], each["low"], each["high"]) for each in parts if each]
    return dots


def _dot(name: str, model: str, each: dict[str, Any], value: str = "mean") -> Dot:
    low, high = (None if each[end] is None else 100 * each[end] for end in ("low", "high"))
    return Dot(name, model_label(model), 100 * each[value], low, high)


def fill_paper(paper: str, results: Results) -> str:
    """A paper with its blocks written anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{BLOCKS[found[2]](results)}\n\n{found[4]}", paper)


def write_report(folder: str, target: str) -> str:
    """Write everything; what is returned is the short form for the screen. Results in `target` stay if they are of a model or a
    study that has no rows in `folder`."""
    os.makedirs(target, exist_ok=True)
    path = os.path.join(target, "results.json")
    earlier: Results = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            earlier = json.load(stream)
    results = join_results(earlier, load_results(folder))
    with open(path, "w", encoding="utf-8") as stream:
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
