"""Writes the tables of `docs/concepts/loops.md` and `docs/concepts/signals.md` from what the benchmarks measured last.

    python -m benchmarks loops signals && python -m scripts.make_signals

Figures of other data (`--data FOLDER`) are taken from their own file of results, named after `--held`.
"""

import argparse
import json
import os
import re
import sys
from typing import Any

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = os.path.join(CHECKOUT, "docs", "concepts")
RESULTS = os.path.join(CHECKOUT, "benchmarks", "results")
GROUPS = {
    "all": "all",
    "healthy, all": "**healthy** (bar: below 1)",
    "good end, all": "good end",
    "bad end, all": "bad end",
}
SPEAKING = ("loop", "debt", "debt at a stop", "drift", "focus", "pressure")


def describe_labelled(found: dict[str, Any]) -> list[str]:
    """The stretches that one rater labelled while the rule was made."""
    rows = ["| | stretches | loops | precision (95 %) | recall (95 %) |", "|---|---|---|---|---|"]
    for part, rule, title in (
        ("all", "loop", "**loop**"),
        ("sure", "loop", "loop, sure labels only"),
        ("all", "same call three times", "same call three times"),
        ("all", "ABAB of classes", "two classes of action take turns (ABAB)"),
    ):
        scored = found[part][rule]
        rows.append(
            f"| {title} | {scored['stretches']} | {scored['loops']} | {_rate(scored, 'precision')} | {_rate(scored, 'recall')} |"
        )
    begins = found["begins_per_100_turns"]
    return [*rows, "", f"The signal begins to speak {begins:.2f} times in 100 turns. ({found['origin']}.)"]


def describe_rated(found: dict[str, Any]) -> list[str]:
    """The stretches of left-out sources that two raters labelled apart."""
    rows = ["| set | stretches | loops by | loops | precision (95 %) | recall (95 %) |", "|---|---|---|---|---|---|"]
    for part, each in found["rated"].items():
        for by in ("both raters", "rater 1", "rater 2"):
            scored = each["by"][by]["loop"]
            rates = f"{_rate(scored, 'precision')} | {_rate(scored, 'recall')}"
            rows.append(f"| {part} | {each['stretches']} | {by} | {scored['loops']} | {rates} |")
    agreed = "; ".join(
        f"{part}: Cohen's kappa {each['kappa']:.2f}, {each['agreement']:.0%} of labels the same"
        for part, each in found["rated"].items()
    )
    return [*rows, "", f"Agreement of the raters by set: {agreed}. ({found['origin']}.)"]


def describe_rates(found: dict[str, Any]) -> list[str]:
    """How often something is said, by how sessions ended."""
    rows = [
        f"| sessions | n | turns | advisories per 100 turns (95 %) | without any advisory | {' | '.join(SPEAKING)} |",
        "|---|---|---|---|---|" + "---|" * len(SPEAKING),
    ]
    for name, title in GROUPS.items():
        each = found["rates"].get(name)
        if each is None:
            continue
        low, high = each["interval"]
        by_signal = " | ".join(f"{each['by_signal'][signal]:.2f}" for signal in SPEAKING)
        rows.append(
            f"| {title} | {each['sessions']:,} | {each['turns']:,} | {each['per_100']:.2f} ({low:.2f}-{high:.2f}) |"
            f" {each['silent']:.0%} | {by_signal} |"
        )
    return [*rows, "", f"({found['origin']}.)"]


def describe_checks(found: dict[str, Any]) -> list[str]:
    """How often a check fails, by the number of unverified files."""
    rows = ["| unverified files | checks | failed (95 %) |", "|---|---|---|"]
    for name, each in found["checks"].items():
        low, high = each["interval"]
        rows.append(f"| {name} | {each['checks']:,} | {each['failed']:.0%} ({100 * low:.0f}-{100 * high:.0f}) |")
    return [*rows, "", f"({found['origin']}.)"]


def _rate(scored: dict[str, Any], name: str) -> str:
    if scored[name] is None:
        return "-"
    low, high = scored[f"{name}_interval"]
    return f"{scored[name]:.2f} ({low:.2f}-{high:.2f})"


def _load(name: str) -> dict[str, Any]:
    with open(os.path.join(RESULTS, f"{name}.json"), encoding="utf-8") as stream:
        found: dict[str, Any] = json.load(stream)
    return found


def write_block(page: str, name: str, lines: list[str]) -> None:
    """Put lines in place of what stands between the two comments of this name."""
    path = os.path.join(PAGES, page)
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    block = "\n".join((f"<!-- {name} -->", *lines, f"<!-- /{name} -->"))
    pattern = rf"<!-- {name} -->.*?<!-- /{name} -->"
    if not re.search(pattern, text, re.DOTALL):
        raise SystemExit(f"make_signals: `{page}` has no block `{name}`")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(re.sub(pattern, lambda _: block, text, flags=re.DOTALL))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--held", metavar="NAME", help="results of the loops benchmark on left-out sources: loops-NAME.json"
    )
    chosen = parser.parse_args()
    loops, signals = _load("loops"), _load("signals")
    write_block("loops.md", "labelled", describe_labelled(loops))
    if chosen.held:
        write_block("loops.md", "rated", describe_rated(_load(f"loops-{chosen.held}")))
    write_block("signals.md", "rates", describe_rates(signals))
    write_block("signals.md", "checks", describe_checks(signals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
