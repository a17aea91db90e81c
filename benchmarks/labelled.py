"""Calls that were judged by reading them: how often the judge says the same. The labels are in `labels/*.jsonl`, by reference."""

import json
import os
from collections import Counter, defaultdict
from typing import Any

from benchmarks.measuring import table
from preheat.model.outcome import CAUSES, Outcome
from preheat.statistics.shares import rate_of

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "labels")
_KNOWN = 3
"""Causes that were there before `unknown`: macro-F1 is stated over these, and over all four."""
_OTHERS = ("loops", "facts")
"""What the names of files begin with whose labels are of something else than calls."""


def folder_of(data: str = "") -> str:
    """Where the labels are: those of a folder of data, if it has its own."""
    folder = os.path.join(data, "labels")
    return folder if data and os.path.isdir(folder) else FOLDER


def labels(data: str = "") -> list[dict[str, Any]]:
    """All labels, with the name of the set they are in."""
    found = []
    for name in sorted(os.listdir(folder_of(data))):
        if name.endswith(".jsonl") and not name.startswith(_OTHERS):
            with open(os.path.join(folder_of(data), name), encoding="utf-8") as stream:
                # Labels in a folder of data may be from when the cause `mistake` was called `misuse`.
                lines = [line.replace('"cause": "misuse"', '"cause": "mistake"') for line in stream]
            found += [{**json.loads(line), "set": name.removesuffix(".jsonl")} for line in lines]
    return found


def rate_labels(judged: dict[tuple[str, str], Outcome], data: str = "") -> dict[str, Any]:
    """Status accuracy and cause F1 by set; calls whose session is missing are left out and counted."""
    known = [(label, judged.get((label["session"], label["call"]))) for label in labels(data)]
    pairs = [(label, outcome) for label, outcome in known if outcome is not None]
    result: dict[str, Any] = {"labels": len(known), "missing": len(known) - len(pairs)}
    if not pairs:
        print("no call of these sessions is labelled")
        return result
    rows = [["hand-labelled", "calls", "status right", "95 %", "cause macro-F1", "with unknown",
             *(f"{cause} F1" for cause in CAUSES)]]  # fmt: skip
    groups: dict[str, list[tuple[dict[str, Any], Outcome]]] = {"all": pairs}
    for field in ("set", "stratum", "agent"):
        split = defaultdict(list)
        for pair in pairs:
            split[f"{field}: {pair[0][field]}"].append(pair)
        groups |= dict(sorted(split.items()))
    for name, group in groups.items():
        rated = [pair for pair in group if "status" in pair[0]]  # some labels are of causes only
        right = rate_of(sum(label["status"] == outcome.status for label, outcome in rated), len(rated))
        causes = [_f1(group, cause) for cause in CAUSES]
        macro, macro_known = sum(causes) / len(causes), sum(causes[:_KNOWN]) / _KNOWN
        result[name] = {"calls": len(group), "status_accuracy": right.value, "low": right.low, "high": right.high,
                        "cause_f1": dict(zip(CAUSES, causes, strict=True)), "cause_macro_f1": macro_known,
                        "cause_macro_f1_with_unknown": macro}  # fmt: skip
        status = ["", ""] if not rated else [f"{right.value:.3f}", f"{right.low:.3f}-{right.high:.3f}"]
        rows.append(
            [
                name,
                str(len(group)),
                *status,
                f"{macro_known:.3f}",
                f"{macro:.3f}",
                *(f"{value:.3f}" for value in causes),
            ]
        )
    table(rows)
    statuses = [(label["status"], outcome.status) for label, outcome in pairs if "status" in label]
    wrong = Counter((stated, judged_as) for stated, judged_as in statuses if stated != judged_as)
    print("label -> verdict, where they differ:", ", ".join(f"{a} -> {b} {n}" for (a, b), n in wrong.most_common()))
    return result


def _f1(pairs: list[tuple[dict[str, Any], Outcome]], cause: str) -> float:
    hits = sum(label["cause"] == cause == outcome.cause for label, outcome in pairs)
    stated = sum(label["cause"] == cause for label, _ in pairs) + sum(outcome.cause == cause for _, outcome in pairs)
    return 2 * hits / stated if stated else 1.0
