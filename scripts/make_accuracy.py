"""Writes the tables of `docs/concepts/outcomes.md` from what `python -m benchmarks outcomes` measured last.

python -m benchmarks outcomes && python scripts/make_accuracy.py
"""

import json
import os
import sys
from typing import Any

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(CHECKOUT, "docs", "concepts", "outcomes.md")
RESULTS = os.path.join(CHECKOUT, "benchmarks", "results", "outcomes.json")
FEWEST = 50
"""Sources with so many failures have a row of their own."""


def accuracy(found: dict[str, Any]) -> str:
    """Both looks, beside the keyword rules."""
    rows = [
        "| | calls | failures | flags hidden: P / R / **F1** (95 %) | lines hidden: P / R / **F1** (95 %) | keyword rules F1 |",
        "|---|---|---|---|---|---|",
    ]
    for name, first in found["flags_hidden"].items():
        second = found["lines_hidden"][name]
        if "failures" not in first or not first["failures"]:
            continue
        if name.startswith("source") and first["failures"] < FEWEST:
            continue
        rules = f"{first['v1']:.2f}, {first['v2']:.2f}"
        rows.append(
            f"| {name} | {first['calls']:,} | {first['failures']:,} | {_cell(first)} | {_cell(second)} | {rules} |"
        )
    agreement, false = found["agreement"], found["flags_hidden"]["false_on_shown"]
    worst = found["lines_hidden"]["false_on_shown"]
    return "\n".join(
        [
            *rows,
            "",
            f"Sources with fewer than {FEWEST} failures are in the total only. Intervals draw sessions anew. With everything"
            f" known, the judge agrees with {agreement['visible']:.2%} of the records. False failures on {false['calls']:,}"
            f" successful reads, searches and listings: {false['false']} and {worst['false']}.",
        ]
    )


def _cell(values: dict[str, float]) -> str:
    figures = f"{values['precision']:.2f} / {values['recall']:.2f} / **{values['f1']:.3f}**"
    return f"{figures} ({values['low']:.2f}-{values['high']:.2f})"


def labels(found: dict[str, Any]) -> str:
    """The hand-labelled sets."""
    rows = [
        "| | calls | status right (95 %) | cause macro-F1 | mistake, finding, environment F1 |",
        "|---|---|---|---|---|",
    ]
    for name, values in found["labels"].items():
        if not isinstance(values, dict) or name.startswith("agent"):
            continue
        causes = ", ".join(f"{value:.2f}" for value in values["cause_f1"].values())
        interval = f"({values['low']:.3f}-{values['high']:.3f})"
        right = f"**{values['status_accuracy']:.3f}** {interval}"
        rows.append(f"| {name} | {values['calls']} | {right} | {values['cause_macro_f1']:.3f} | {causes} |")
    return "\n".join(rows)


def main() -> int:
    with open(RESULTS, encoding="utf-8") as stream:
        found = json.load(stream)
    with open(PAGE, encoding="utf-8") as stream:
        text = stream.read()
    for name, block in (("accuracy", accuracy(found)), ("labels", labels(found))):
        whole = f"<!-- {name} -->\n{block}\n<!-- /{name} -->"
        before, after = text.split(f"<!-- {name} -->")[0], text.split(f"<!-- /{name} -->")[1]
        text = before + whole + after
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
