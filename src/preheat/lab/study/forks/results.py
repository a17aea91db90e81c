"""What the rows of the fork study say: levels by arm, paired differences of the log odds over projects. Pure but for the files.

Fills the blocks `<!-- from the fork study: NAME -->` of the paper: no figure in them is typed by hand.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import Any

from preheat.lab.study.analysis import arm_difference
from preheat.lab.study.forks.cases import ARMS, STRATA
from preheat.lab.study.run import read_run
from preheat.lab.study.tables import model_label
from preheat.statistics.shares import holm

Row = dict[str, Any]
PRIMARY = ("call/before", "call/absent")
SECONDARY = (
    ("call/before", "call/placebo"), ("call/before", "call/wrong"), ("call/before", "call/start"),
    ("call/start", "call/absent"), ("error/after", "error/absent"), ("error/after", "error/placebo"),
    ("error/after", "error/wrong"), ("error/after", "error/start"), ("call/before", "call/old"), ("error/after", "error/old"),
)  # fmt: skip
_BLOCK = re.compile(r"(<!-- from the fork study(?:, (wording))?: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_DIGITS = 4


def log_odds(row: Row) -> float:
    """log p(repair) − log p(failed), in nats."""
    return float(row["failed"]) - float(row["repair"])


def fork_results(rows: Sequence[Row]) -> dict[str, Any]:
    """By stratum: the levels of each arm, and the differences."""
    scored = [row for row in rows if "skipped" not in row]
    return {
        "skipped": sum("skipped" in row for row in rows),
        "strata": {
            stratum: _stratum([row for row in scored if row["kind"] == stratum])
            for stratum in STRATA
            if any(row["kind"] == stratum for row in scored)
        },
    }


def _stratum(rows: Sequence[Row]) -> dict[str, Any]:
    cases = {row["task"]: row["cluster"] for row in rows}
    differences = [found for pair in (PRIMARY, *SECONDARY) if (found := _difference(rows, *pair)) is not None]
    tested = [each for each in differences if (each["arm"], each["against"]) != PRIMARY and each["p"] is not None]
    for each, p in zip(tested, holm([each["p"] for each in tested]), strict=True):
        each["holm_p"] = p
    return {
        "cases": len(cases),
        "projects": len(set(cases.values())),
        "by_project": sorted(Counter(cases.values()).values(), reverse=True),
        "levels": {arm: _level([row for row in rows if row["arm"] == arm]) for arm in ARMS},
        "differences": differences,
    }


def _level(rows: Sequence[Row]) -> dict[str, Any] | None:
    if not rows:
        return None
    return {
        "cases": len(rows),
        "failed": mean(row["failed"] / row["failed_tokens"] for row in rows),
        "repair": mean(row["repair"] / row["repair_tokens"] for row in rows),
        "log_odds": mean(map(log_odds, rows)),
        "prompt_tokens": mean(row["prompt_tokens"] for row in rows),
    }


def _difference(rows: Sequence[Row], arm: str, against: str) -> dict[str, Any] | None:
    found = arm_difference(rows, arm, against, "log odds", log_odds)
    if found is None:
        return None
    values = {(row["task"], row["arm"]): row for row in rows}
    both = [task for task, name in values if name == arm and (task, against) in values]
    gaps = [log_odds(values[task, arm]) - log_odds(values[task, against]) for task in both]
    return {
        **found,
        "rose_in": sum(gap > 0 for gap in gaps),
        "failed": mean(_change(values, task, arm, against, "failed") for task in both),
        "repair": mean(_change(values, task, arm, against, "repair") for task in both),
    }


def _change(values: dict[tuple[str, str], Row], task: str, arm: str, against: str, what: str) -> float:
    """The change of a command's nats per token."""
    one, other = values[task, arm], values[task, against]
    return float(one[what] - other[what]) / float(one[f"{what}_tokens"])


def load_fork_results(folder: str, study: str) -> dict[str, Any]:
    """By model, of one study: `forks`, or `wording`."""
    found: dict[str, Any] = {}
    for name in sorted(os.listdir(os.path.join(folder, "runs"))):
        model = name.removeprefix(f"{study}-").removesuffix(".jsonl")
        if name != f"{study}-{model}.jsonl":
            continue
        header, rows = read_run(os.path.join(folder, "runs", name))
        if rows:
            found[model] = {**fork_results(rows), "run": header}
    return json.loads(json.dumps(found), parse_float=lambda text: round(float(text), _DIGITS))  # type: ignore[no-any-return]


# Tables.
def write_levels(results: dict[str, Any]) -> str:
    lines = [
        "| model | text | arm | cases | nats per token of the failed command | of the repair | log odds, nats |",
        "|---|---|---|---|---|---|---|",
    ]
    for model, result in results.items():
        for stratum, of in result["strata"].items():
            for arm, level in of["levels"].items():
                if level is not None:
                    lines.append(
                        f"| {model_label(model)} | {stratum} | {arm} | {level['cases']} | {level['failed']:.3f} | "
                        f"{level['repair']:.3f} | {level['log_odds']:+.2f} |"
                    )
    return "\n".join(lines) if len(lines) > 2 else "Not run yet."


def write_differences(results: dict[str, Any]) -> str:
    lines = [
        "| model | text | difference | cases | projects | log odds, nats | 95 % over projects | p | p (Holm) | p (sign flips) "
        "| rose in | failed, nats per token | repair |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for model, result in results.items():
        for stratum, of in result["strata"].items():
            for each in of["differences"]:
                name = f"{each['arm']} − {each['against']}"
                is_primary = (each["arm"], each["against"]) == PRIMARY and stratum == "product"
                lines.append(
                    f"| {model_label(model)} | {stratum} | {f'**{name}**' if is_primary else name} | {each['tasks']} | "
                    f"{each['clusters']} | {each['difference']:+.2f} | {_interval(each)} | {_p(each['p'])} | "
                    f"{_p(each.get('holm_p'))} | {_p(each['flips_p'])} | {each['rose_in']} of {each['tasks']} | "
                    f"{each['failed']:+.3f} | {each['repair']:+.3f} |"
                )
    return "\n".join(lines) if len(lines) > 2 else "Not run yet."


def write_verdicts(results: dict[str, Any]) -> str:
    """What may be said, by the rule of the protocol."""
    lines = [
        f"- **{model_label(model)}, {stratum}: {each['arm']} against {each['against']}: {_verdict(each)}.** "
        f"{each['difference']:+.2f} nats ({_interval(each)}); {each['tasks']} cases, {each['clusters']} projects."
        for model, result in results.items()
        for stratum, of in result["strata"].items()
        for each in of["differences"]
    ]
    return "\n".join(lines) or "Not run yet."


def _verdict(each: dict[str, Any]) -> str:
    if each["low"] is not None and each["low"] > 0:
        return "helps"
    return "harms" if each["high"] is not None and each["high"] < 0 else "not shown"


def _interval(each: dict[str, Any]) -> str:
    return "–" if each["low"] is None else f"{each['low']:+.2f} to {each['high']:+.2f}"


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


BLOCKS = {"levels": write_levels, "differences": write_differences, "verdicts": write_verdicts}


def _fill(text: str, study: str, results: dict[str, Any]) -> str:
    """The paper with the tables of one study anew."""

    def write(found: re.Match[str]) -> str:
        return f"{found[1]}\n{BLOCKS[found[3]](results)}\n\n{found[5]}" if (found[2] or "forks") == study else found[0]

    return _BLOCK.sub(write, text)


def write_fork_report(folder: str, target: str, study: str = "forks") -> str:
    """Write the results of a study and fill its tables in the paper; what is returned is for the screen."""
    results = load_fork_results(folder, study)
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, f"{study}.json"), "w", encoding="utf-8") as stream:
        json.dump(results, stream, indent=1, ensure_ascii=False)
        stream.write("\n")
    paper = os.path.join(target, "paper.md")
    if os.path.exists(paper):
        with open(paper, encoding="utf-8") as stream:
            text = stream.read()
        with open(paper, "w", encoding="utf-8") as stream:
            stream.write(_fill(text, study, results))
    return "\n\n".join(block(results) for block in BLOCKS.values())
