"""The results in words and tables, by rule: every figure of the paper comes from here. Pure.

Each block takes the results of all models and gives Markdown. Sentences follow the rules of the protocol, whatever the sign.
"""

from collections.abc import Callable, Sequence
from typing import Any

Results = dict[str, dict[str, Any]]
"""By model (`0.5b`), then by study."""

ORDER = ("135m", "0.5b", "1.5b")
_MARGIN = 0.10


def models_with(results: Results, study: str) -> list[str]:
    """Those that have this study, the smallest first, others after."""
    found = [name for name in ORDER if study in results.get(name, {})]
    return [*found, *sorted(name for name in results if name not in ORDER and study in results[name])]


def model_label(model: str) -> str:
    return model.upper() if model in ORDER else model


def points_text(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f}"


def percent_text(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def nats_text(value: float | None, sign: bool = False) -> str:
    return "–" if value is None else f"{value:+.3f}" if sign else f"{value:.3f}"


def p_text(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def _range_text(each: dict[str, Any], show: Callable[[float | None], str]) -> str:
    return f"{show(each['low'])} to {show(each['high'])}"


# The sentences.
def headline(results: Results) -> str:
    """What was found, model by model, the reported one first."""
    sentences = []
    for model in reversed(models_with(results, "lab")):
        found = results[model]["lab"]["differences"]
        if found and (found[0]["arm"], found[0]["against"]) == ("warm", "note"):
            sentence = _lab_sentence(results[model]["lab"], found[0])
            so_far = "so far, " if found[0]["tasks"] < results[model]["lab"]["planned"] else ""
            sentences.append(f"- **Lab, {model_label(model)}: {so_far}{verdict(found[0])}** {sentence}")
    for model in reversed(models_with(results, "nextcall")):
        found = results[model]["nextcall"]["differences"]
        if found and (found[0]["arm"], found[0]["against"]) == ("warm", "note"):
            study = results[model]["nextcall"]
            planned = study.get("planned", 0) - study["skipped"]
            so_far = "so far, " if found[0]["calls"] < planned else ""
            unfinished = f"Unfinished, {found[0]['calls']} of {planned} calls. " if so_far else ""
            sentence = f"{unfinished}{_nextcall_sentence(found)}"
            sentences.append(f"- **Next call, {model_label(model)}: {so_far}{_nll_verdict(found[0])}** {sentence}")
    for model in reversed(models_with(results, "harm")):
        sentences += [
            f"- **Harm, {model_label(model)}:** {_harm_sentence(each)}"
            for each in results[model]["harm"]["differences"]
        ]
    return "\n".join(sentences)


def verdict(each: dict[str, Any]) -> str:
    """By the protocol: above zero, within the margin, or not shown."""
    arm, against = each["arm"], each["against"]
    if each["low"] is None:
        return f"{arm} against {against}: nothing to measure a spread by."
    if each["low"] > 0:
        return f"{arm} beats {against}."
    if each["high"] < 0:
        return f"{against} beats {arm}."
    if each["low"] > -_MARGIN and each["high"] < _MARGIN:
        return f"no difference larger than {100 * _MARGIN:.0f} points between {arm} and {against}."
    return f"not shown that {arm} beats {against}."


def _nll_verdict(each: dict[str, Any]) -> str:
    arm, against = each["arm"], each["against"]
    if each["high"] < 0:
        return f"{arm} makes the call that came more likely than {against}."
    if each["low"] > 0:
        return f"{against} makes the call that came more likely than {arm}."
    return f"not shown that {arm} makes the call that came more likely than {against}."


def _lab_sentence(lab: dict[str, Any], each: dict[str, Any]) -> str:
    levels = []
    for name in ("warm", "note", "placebo", "cold"):
        if level := lab["exact"].get(name):
            fewer = f" ({level['tasks']} tasks)" if level["tasks"] != each["tasks"] else ""
            levels.append(f"{percent_text(level['mean'])} {name}{fewer}")
    unfinished = f"Unfinished, {each['tasks']} of {lab['planned']} tasks. " if each["tasks"] < lab["planned"] else ""
    return (
        f"{unfinished}Exact match {', '.join(levels)}; warm − note "
        f"{points_text(each['difference'])} points, 95 % {_range_text(each, points_text)}; {each['wins']} tasks "
        f"won, {each['losses']} lost; "
        f"{each['tasks']} tasks in {each['clusters']} projects."
    )


def _nextcall_sentence(found: Sequence[dict[str, Any]]) -> str:
    parts = [
        f"{each['arm']} − {each['against']} {nats_text(each['difference'], True)} (95 % {nats_text(each['low'], True)} to "
        f"{nats_text(each['high'], True)})"
        for each in found
    ]
    first = found[0]
    return f"Nats per token of the command: {'; '.join(parts)}; {first['calls']} calls in {first['sessions']} sessions."


def _harm_sentence(each: dict[str, Any]) -> str:
    within = "not worse" if each["not_inferior"] else "not shown to be not worse"
    return (
        f"right answers to ordinary requests, {each['arm']} − cold {points_text(each['difference'])} points (95 % "
        f"{_range_text(each, points_text)}): {within} by the margin of {100 * _MARGIN:.0f} points."
    )


# The tables.
def lab_levels(results: Results) -> str:
    rows = []
    for model in models_with(results, "lab"):
        lab = results[model]["lab"]
        for arm, each in lab["exact"].items():
            loss = lab["nll"].get(arm)
            rows.append(
                [model_label(model), arm, str(each["tasks"]), f"{each['prefix_tokens']:.0f}", percent_text(each["mean"]),
                 f"{percent_text(each['low'])} to {percent_text(each['high'])}", nats_text(loss["mean"]) if loss else "–",
                 f"{nats_text(loss['low'])} to {nats_text(loss['high'])}" if loss else "–"]
            )  # fmt: skip
    head = ("model", "arm", "tasks", "tokens before the task", "exact match", "95 %", "nats per token", "95 %")
    return markdown_table(head, rows)


def lab_differences(results: Results) -> str:
    rows = []
    for model in models_with(results, "lab"):
        losses = {(each["arm"], each["against"]): each for each in results[model]["lab"]["nll_differences"]}
        for each in results[model]["lab"]["differences"]:
            loss = losses.get((each["arm"], each["against"]))
            primary = "**" if (each["arm"], each["against"]) == ("warm", "note") else ""
            rows.append(
                [
                    model_label(model),
                    f"{primary}{each['arm']} − {each['against']}{primary}",
                    str(each["tasks"]),
                    points_text(each["difference"]),
                    _range_text(each, points_text),
                    f"{each['wins']} / {each['losses']}",
                    p_text(each["p"]),
                    p_text(each.get("holm_p")),
                    p_text(each["flips_p"]),
                    p_text(each["mcnemar_p"]),
                    f"{nats_text(loss['difference'], True)} ({nats_text(loss['low'], True)} to {nats_text(loss['high'], True)})"
                    if loss
                    else "–",
                ]
            )
    head = ("model", "difference", "tasks", "points of exact match", "95 %", "won / lost", "p", "p (Holm)", "p (sign flips)",
            "p (McNemar)", "nats per token (95 %)")  # fmt: skip
    return markdown_table(head, rows)


def lab_kinds(results: Results) -> str:
    rows = []
    for model in models_with(results, "lab"):
        lab = results[model]["lab"]
        for kind in ("near", "far", "two-step"):
            found = {**lab["kinds"].get(kind, {}), **lab["more_kinds"].get(kind, {})}
            for arm, each in found.items():
                share = (
                    f"{100 * each['hits'] / each['tasks']:.0f} % ({100 * each['low']:.0f} to {100 * each['high']:.0f})"
                )
                rows.append([model_label(model), kind, arm, f"{each['hits']} / {each['tasks']}", share])
    return markdown_table(("model", "kind", "arm", "exact", "share (Wilson 95 %)"), rows)


def lab_misses(results: Results) -> str:
    rows = []
    for model in models_with(results, "lab"):
        for arm, counts in results[model]["lab"]["misses"].items():
            rows.append([model_label(model), arm, str(sum(counts.values())), *map(str, counts.values())])
    head = (
        "model",
        "arm",
        "misses",
        "another piece of work that was shown",
        "the right one, something else wrong",
        "none",
    )
    return markdown_table(head, rows)


def lab_dose(results: Results) -> str:
    rows, fewest_by_model = [], []
    for model in models_with(results, "lab"):
        dose = results[model]["lab"]["dose"]
        if dose is None:
            continue
        for k, each in dose["levels"].items():
            gap = dose["differences"].get(k)
            rows.append(
                [model_label(model), k, str(each["tasks"]), percent_text(each["mean"]),
                 f"{percent_text(each['low'])} to {percent_text(each['high'])}",
                 f"{points_text(gap['difference'])} ({_range_text(gap, points_text)})" if gap else "–"]
            )  # fmt: skip
        fewest_by_model.append(f"{model_label(model)}: {dose['fewest']}")
    if not rows:
        return "Not run yet."
    fewest = f"Fewest examples that are not worse than eight by 10 points: {'; '.join(fewest_by_model)}."
    return (
        markdown_table(("model", "k", "tasks", "exact match", "95 %", "minus k = 8, points (95 %)"), rows)
        + f"\n\n{fewest}"
    )


def harm_table(results: Results) -> str:
    rows = []
    for model in models_with(results, "harm"):
        harm = results[model]["harm"]
        gaps = {each["arm"]: each for each in harm["differences"]}
        for arm, each in harm["right"].items():
            gap = gaps.get(arm)
            loss = harm["nll"].get(arm)
            rows.append(
                [model_label(model), arm, f"{round(each['mean'] * each['tasks'])} / {each['tasks']}", percent_text(each["mean"]),
                 f"{points_text(gap['difference'])} ({_range_text(gap, points_text)})" if gap else "–",
                 ("yes" if gap["not_inferior"] else "not shown") if gap else "–", str(harm["in_the_wrapper"].get(arm, "–")),
                 nats_text(loss["mean"]) if loss else "–"]
            )  # fmt: skip
    head = ("model", "arm", "right", "share", "minus cold, points (95 %)", "not worse by 10 points",
            "wrong with a word of the project", "nats per token of a right command")  # fmt: skip
    return markdown_table(head, rows)


def nextcall_levels(results: Results) -> str:
    rows = []
    for model in models_with(results, "nextcall"):
        found = results[model]["nextcall"]
        for arm, each in found["nll"].items():
            share = found["argmax"].get(arm)
            rows.append(
                [model_label(model), arm, str(each["tasks"]), f"{each['prefix_tokens']:.0f}", nats_text(each["mean"]),
                 percent_text(share["mean"]) if share else "–"]
            )  # fmt: skip
    head = ("model", "arm", "calls", "tokens before the conversation", "nats per token", "every token the most likely")
    return markdown_table(head, rows)


def nextcall_differences(results: Results) -> str:
    rows = []
    for model in models_with(results, "nextcall"):
        for each in results[model]["nextcall"]["differences"]:
            over = each["over_projects"]
            primary = "**" if (each["arm"], each["against"]) == ("warm", "note") else ""
            rows.append(
                [
                    model_label(model),
                    f"{primary}{each['arm']} − {each['against']}{primary}",
                    str(each["calls"]),
                    str(each["sessions"]),
                    nats_text(each["difference"], True),
                    f"{nats_text(each['low'], True)} to {nats_text(each['high'], True)}",
                    p_text(each["p"]),
                    f"{each['lower_in']} / {each['calls']}",
                    f"{nats_text(over['difference'], True)} ({nats_text(over['low'], True)} to {nats_text(over['high'], True)})"
                    if over
                    else "–",
                ]
            )
    head = ("model", "difference", "calls", "sessions", "nats per token", "95 % by session", "p", "lower in",
            "over projects (95 %)")  # fmt: skip
    return markdown_table(head, rows)


def nextcall_projects(results: Results) -> str:
    rows = []
    for model in models_with(results, "nextcall"):
        for project, each in results[model]["nextcall"]["projects"].items():
            gaps = [
                f"{nats_text(gap['difference'], True)} ({nats_text(gap['low'], True)} to {nats_text(gap['high'], True)})"
                if gap
                else "–"
                for gap in (each.get(f"warm - {against}") for against in ("note", "placebo", "cold"))
            ]
            rows.append([model_label(model), project, str(each["calls"]), str(each["sessions"]), *gaps])
    return markdown_table(
        ("model", "project", "calls", "sessions", "warm − note", "warm − placebo", "warm − cold"), rows
    )


def explore_table(results: Results) -> str:
    rows = []
    for model in models_with(results, "explore"):
        found = results[model]["explore"]
        gaps = {each["against"]: each for each in found["differences"]}
        for arm, each in found["exact"].items():
            kinds = [found["kinds"].get(kind, {}).get(arm) for kind in ("near", "far", "two-step")]
            gap = gaps.get(arm)
            rows.append(
                [model_label(model), arm, str(each["tasks"]), percent_text(each["mean"]),
                 *(f"{kind['hits']} / {kind['tasks']}" if kind else "–" for kind in kinds),
                 nats_text(found["nll"][arm]["mean"]) if arm in found["nll"] else "–",
                 f"{points_text(gap['difference'])} ({_range_text(gap, points_text)})" if gap else "–"]
            )  # fmt: skip
    if not rows:
        return "Not run yet."
    head = (
        "model",
        "arm",
        "tasks",
        "exact match",
        "near",
        "far",
        "two-step",
        "nats per token",
        "asked minus this, points (95 %)",
    )
    return markdown_table(head, rows)


def check_table(results: Results) -> str:
    rows = []
    for model in models_with(results, "lab"):
        for study in ("lab", "harm"):
            if study in results[model]:
                found = results[model][study]["checked"]
                usable = "yes" if found["usable"] else "no"
                rows.append([model_label(model), study, str(found["cells"]), str(found["disagree"]), usable])
    return markdown_table(("model", "study", "cells written token by token", "disagree", "usable"), rows)


BLOCKS: dict[str, Callable[[Results], str]] = {
    each.__name__: each
    for each in (
        headline, lab_levels, lab_differences, lab_kinds, lab_misses, lab_dose, harm_table, nextcall_levels, nextcall_differences,
        nextcall_projects, explore_table, check_table,
    )
}  # fmt: skip
