"""How well loops are told from all that looks like one, on stretches of real sessions that were labelled by reading them.

The labels (`labels/loops.jsonl`, by reference) were drawn by broad criteria. Parts `seen` and `held` were labelled before the
rule was written; the rule was made on `seen`, measured once on `held` (`FIRST_LOOK`), and mended after that look. Part `fresh`
was drawn and labelled then, and measured once too, before the last repairs. A rule finds a stretch if it speaks, or what it
counts grows, at a call in it. Beside ours stand the two rules of the sources: the same call three times, and two classes of
action that take turns. Then the sets that two raters labelled apart (`labels/loops-rated.jsonl`, drawn by `rating.py` from
sources that no rule was made on): how far they agree, and what each rule is worth by either. Last, how often each rule speaks.
"""

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.labelled import folder_of
from benchmarks.measuring import table
from benchmarks.real import real_sessions
from preheat.app.analysis.assessment import assess
from preheat.live.events import events_of
from preheat.live.state import START, fold, reading
from preheat.model.live import CallEvent, LiveEvent
from preheat.model.outcome import FAILURES
from preheat.model.session import pair_calls_with_results
from preheat.statistics.shares import rate_of

_HISTORY = 20
"""Calls that the rules of the sources look back."""

FIRST_LOOK = {
    "held": {"stretches": 92, "loops": 10, "hits": 6, "false": 2},
    "fresh": {"stretches": 33, "loops": 3, "hits": 1, "false": 0},
}
"""What the rule scored on each part the first time it was tried there, before anything was mended."""

Fired = Iterator[tuple[str, bool]]
"""By call: its id, and whether the rule speaks there."""


def run(quick: bool, data: str = "") -> dict[str, Any]:
    labels, rated = _labels(data), _labels(data, "loops-rated.jsonl")
    wanted = {label["session"] for label in (*labels, *rated)}
    found: dict[str, dict[str, set[int]]] = {}
    counts = dict.fromkeys(RULES, 0)
    turns = advisories = 0
    for real in real_sessions(data=data):
        session = real.session
        key = f"{session.agent}:{session.id}"
        if quick and key not in wanted:
            continue
        places = {call.call_id: seq for seq, (call, _) in enumerate(pair_calls_with_results(session))}
        events = events_of(session, assess(session).records)
        turns += _turns(events)
        advisories += _advisories(events)
        for name, rule in RULES.items():
            fired = [places[call] for call, speaks in rule(events) if speaks and call in places]
            counts[name] += len(fired)
            if key in wanted:
                found.setdefault(key, {})[name] = set(fired)
    result: dict[str, Any] = {"labels": len(labels), "missing": sum(label["session"] not in found for label in labels)}
    if known := [label for label in labels if label["session"] in found]:
        result |= _rate_rules(known, found)
    if known := [label for label in rated if label["session"] in found]:
        result["rated"] = _rate_by_raters(known, found)
    if not quick:
        turns = max(1, turns)
        result["per_100_turns"] = {name: 100 * count / turns for name, count in counts.items()}
        spoken = ", ".join(f"{name} {value:.2f}" for name, value in result["per_100_turns"].items())
        result["begins_per_100_turns"] = 100 * advisories / turns
        print(f"\ncalls at which a rule speaks, per 100 turns of all sessions ({turns:,} turns): {spoken}")
        print(f"the signal begins to speak {advisories} times: {result['begins_per_100_turns']:.2f} per 100 turns")
    return result


def _labels(data: str, name: str = "loops.jsonl") -> list[dict[str, Any]]:
    path = os.path.join(folder_of(data), name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def _turns(events: list[LiveEvent]) -> int:
    turn, number = "", 0
    for event in events:
        if isinstance(event, CallEvent):
            number += not event.turn or event.turn != turn
            turn = event.turn
    return number


def _ours(events: list[LiveEvent]) -> Fired:
    """Preheat's own loop signal, as in a running session."""
    state, before = START, ("", 0.0)
    for event in events:
        state = fold(state, event)
        if isinstance(event, CallEvent):
            loop = reading(state, "loop")
            now = (loop.cause, loop.value)
            yield event.call_id, loop.fired and now != before
            before = now


def _advisories(events: list[LiveEvent]) -> int:
    """How often the signal would start to give advice."""
    state, number, last_cause = START, 0, ""
    for event in events:
        state = fold(state, event)
        cause = state.loop_cause
        number += bool(cause) and cause != last_cause
        last_cause = cause
    return number


def _same_call(events: list[LiveEvent]) -> Fired:
    last: deque[int] = deque(maxlen=_HISTORY)
    for event in events:
        if isinstance(event, CallEvent):
            last.append(event.same_call)
            yield event.call_id, last.count(event.same_call) >= 3


def _turn_taking(events: list[LiveEvent]) -> Fired:
    last: deque[str] = deque(maxlen=4)
    for event in events:
        if isinstance(event, CallEvent):
            last.append(_class(event))
            yield event.call_id, len(last) == 4 and last[0] == last[2] != last[1] == last[3]


def _class(event: CallEvent) -> str:
    if event.kind == "shell":
        return "failed command" if event.status in FAILURES else "command"
    return {"read": "read", "edit": "edit", "write": "edit"}.get(event.kind, "other")


RULES: dict[str, Callable[[list[LiveEvent]], Fired]] = {
    "loop": _ours, "same call three times": _same_call, "ABAB of classes": _turn_taking,
}  # fmt: skip


def _rate_rules(labels: list[dict[str, Any]], found: dict[str, dict[str, set[int]]]) -> dict[str, Any]:
    rows = [["part", "rule", "stretches", "loops", "found", "false", "precision", "95 %", "recall", "95 %"]]
    result: dict[str, Any] = {}
    parts = {
        "all": labels,
        **{part: [label for label in labels if label["part"] == part] for part in ("seen", "held", "fresh")},
        "sure": [label for label in labels if label["sure"]],
    }
    for part, group in parts.items():
        for name in RULES:
            loops = [label["label"] == "loop" for label in group]
            scored = _score(group, loops, name, found)
            result.setdefault(part, {})[name] = scored
            rows.append([part, name, str(len(group)), *_cells(scored)])
    table(rows)
    return result


# Sets that two raters labelled apart.
def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of two raters: how far they agree beyond chance; 1 where there is nothing to disagree about."""
    number = len(pairs)
    agree = sum(one == other for one, other in pairs) / number
    first, second = sum(one for one, _ in pairs) / number, sum(other for _, other in pairs) / number
    chance = first * second + (1 - first) * (1 - second)
    return 1.0 if chance == 1 else (agree - chance) / (1 - chance)


def _rate_by_raters(labels: list[dict[str, Any]], found: dict[str, dict[str, set[int]]]) -> dict[str, Any]:
    """Agreement, and every rule by each rater and by what both call a loop; `1` is for precision, `2` (random) for recall."""
    rows = [["set", "by", "rule", "stretches", "loops", "found", "false", "precision", "95 %", "recall", "95 %"]]
    result: dict[str, Any] = {}
    for part in ("1", "2", "both"):
        group = [label for label in labels if part in (label["set"], "both")]
        pairs = [(label["rater_1"], label["rater_2"]) for label in group]
        agreement = sum(one == other for one, other in pairs) / max(1, len(pairs))
        result[part] = {
            "stretches": len(group),
            "agreement": agreement,
            "kappa": kappa(pairs) if pairs else None,
            "by": {},
        }
        for by, loops in {
            "rater 1": [one for one, _ in pairs],
            "rater 2": [other for _, other in pairs],
            "both raters": [one and other for one, other in pairs],
            "either rater": [one or other for one, other in pairs],
        }.items():
            for name in RULES:
                scored = _score(group, loops, name, found)
                result[part]["by"].setdefault(by, {})[name] = scored
                if name == "loop" or by == "both raters":
                    rows.append([part, by, name, str(len(group)), *_cells(scored)])
    table(rows)
    shown = (f"{part}: {each['kappa']:.2f} ({each['agreement']:.0%} the same)" for part, each in result.items())
    print("Cohen's kappa by set,", ", ".join(shown))
    return result


def _score(
    group: list[dict[str, Any]], loops: list[bool], name: str, found: dict[str, dict[str, set[int]]]
) -> dict[str, Any]:
    spoken = [
        any(label["first"] <= place <= label["last"] for place in found[label["session"]][name]) for label in group
    ]
    hits = sum(one and other for one, other in zip(loops, spoken, strict=True))
    precision, recall = rate_of(hits, sum(spoken)), rate_of(hits, sum(loops))
    return {
        "stretches": len(group), "loops": sum(loops), "hits": hits, "false": sum(spoken) - hits,
        "precision": precision.value, "precision_interval": [precision.low, precision.high],
        "recall": recall.value, "recall_interval": [recall.low, recall.high],
    }  # fmt: skip


def _cells(scored: dict[str, Any]) -> list[str]:
    cells = [str(scored["loops"]), str(scored["hits"]), str(scored["false"])]
    for name in ("precision", "recall"):
        low, high = scored[f"{name}_interval"]
        cells += [f"{scored[name] or 0:.2f}", f"{low or 0:.2f}-{high or 0:.2f}"]
    return cells
