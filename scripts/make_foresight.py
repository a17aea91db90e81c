"""Writes the figures of `benchmarks/results/foresight.json` into docs/concepts/provisioning.md, between its marks."""

import json
import os
import re
import sys
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "concepts", "provisioning.md")
RESULTS = os.path.join(ROOT, "benchmarks", "results", "foresight.json")
_MARKS = re.compile(r"(<!-- figures:foresight -->\n).*?(<!-- /figures -->)", re.DOTALL)
CUT = "0.6"


def main() -> int:
    with open(RESULTS) as stream:
        found = json.load(stream)
    with open(PAGE) as stream:
        page = stream.read()
    with open(PAGE, "w") as stream:
        stream.write(_MARKS.sub(lambda match: f"{match[1]}{tables(found)}\n{match[2]}", page))
    return 0


def tables(found: dict[str, Any]) -> str:
    split = found["splits"][CUT]
    ours = split["pooled"]["preheat"]
    lines = [
        f"{ours['sessions']} later sessions with {ours['failures']} mistakes; intervals by drawing sessions anew.",
        "",
        "| rule | coverage | each error once | tokens | points per 1,000 tokens |",
        "|---|---|---|---|---|",
    ]
    for rule, row in split["pooled"].items():
        per = "" if row["per_thousand"] is None else f"{row['per_thousand']:.0f}"
        shown = f"{percent(row['coverage'])} {span(row['coverage_interval'])}"
        once = percent(row["coverage_once"])
        lines.append(f"| {rule} | {shown} | {once} | {row['tokens']:.0f} | {per} |")
    without = split["per_token_without"].values()
    lines += [
        "",
        f"Coverage per token is {split['per_token_against_best_baseline']:.2f} times that of the best baseline; with any one "
        f"project left out it is {min(without):.2f} to {max(without):.2f} times. Precision is {percent(ours['precision'])} "
        f"{span(ours['precision_interval'])} of {ours['items']} items; strict, where the name of a tool alone does not count, "
        f"{percent(ours['strict_precision'])} {span(ours['strict_precision_interval'])}. {ours['contradicted']} items were "
        "contradicted.",
        "",
        "| project | later sessions | failures | coverage | known | precision | strict | tokens |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for source, rules in split["projects"].items():
        row = rules["preheat"]
        known = row["known"] / row["failures"] if row["failures"] else None
        lines.append(
            f"| {source.partition('__')[2]} | {row['sessions']} | {row['failures']} | {percent(row['coverage'])} | "
            f"{percent(known)} | {percent(row['precision'])} | {percent(row['strict_precision'])} | {row['tokens']:.0f} |"
        )
    rolling = found["rolling"]["pooled"]
    cuts = "; ".join(
        f"{float(share):.0%}: {percent(each['pooled']['preheat']['coverage'])}, "
        f"{percent(each['pooled']['preheat']['precision'])}, {each['per_token_against_best_baseline']:.2f} x"
        for share, each in found["splits"].items()
    )
    lines += [
        "",
        f"Learning from every session before the next: coverage {percent(rolling['coverage'])} "
        f"{span(rolling['coverage_interval'])}, precision {percent(rolling['precision'])} "
        f"{span(rolling['precision_interval'])}, strict {percent(rolling['strict_precision'])}. Other cuts (share learned "
        f"from: coverage, precision, coverage per token against the best baseline): {cuts}.",
        "",
        "To read with care: one error of one agent (a protocol that allows one action a turn) makes most of the coverage of "
        "the benchmark runs, which are more than half of all failures; only our rule can score by naming an error; the "
        "thresholds of the choice were set while looking at these six projects, so only projects that nobody has looked at "
        "can confirm them; and projects differ: where the work moved elsewhere, little of what was learned applied.",
    ]
    return "\n".join(lines)


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def span(value: list[float] | None) -> str:
    return "" if value is None else f"({100 * value[0]:.0f}-{100 * value[1]:.0f})"


if __name__ == "__main__":
    sys.exit(main())
