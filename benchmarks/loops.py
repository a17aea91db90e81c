"""How well loops are told from all that looks like one, on stretches of real sessions that were labelled by reading them.

The labels (`labels/loops.jsonl`, by reference) were drawn by broad criteria. Parts `seen` and `held` were labelled before the
rule was written; the rule was made on `seen`, measured once on `held` (`FIRST_LOOK`), and mended after that look. Part `fresh`
was drawn and labelled then, and measured once too, before the last repairs. A rule finds a stretch if it speaks, or what it
counts grows, at a call in it. Beside ours stand the two rules of the sources: the same call three times, and two classes of
action that take turns. Last, how often each speaks in all sessions.
"""

import json
import os
from collections import deque
from collections.abc import Callable, Iterator
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
    labels = _labels(data)
    wanted = {label["session"] for label in labels}
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
    result |= _rate_rules([label for label in labels if label["session"] in found], found)
    if not quick:
        result["per_100_turns"] = {name: 100 * count / turns for name, count in counts.items()}
        spoken = ", ".join(f"{name} {value:.2f}" for name, value in result["per_100_turns"].items())
        result["begins_per_100_turns"] = 100 * advisories / turns
        print(f"\ncalls at which a rule speaks, per 100 turns of all sessions ({turns:,} turns): {spoken}")
        print(f"the signal begins to speak {advisories} times: {result['begins_per_100_turns']:.2f} per 100 turns")
    return result


def _labels(data: str) -> list[dict[str, Any]]:
    path = os.path.join(folder_of(data), "loops.jsonl")
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
            spoken = [
                any(label["first"] <= place <= label["last"] for place in found[label["session"]][name])
                for label in group
            ]
            loops = [label["label"] == "loop" for label in group]
            hits = sum(a and b for a, b in zip(loops, spoken, strict=True))
            precision, recall = rate_of(hits, sum(spoken)), rate_of(hits, sum(loops))
            result.setdefault(part, {})[name] = {
                "stretches": len(group), "loops": sum(loops), "hits": hits, "false": sum(spoken) - hits,
                "precision": precision.value, "precision_interval": [precision.low, precision.high],
                "recall": recall.value, "recall_interval": [recall.low, recall.high],
            }  # fmt: skip
            rows.append(
                [
                    part,
                    name,
                    str(len(group)),
                    str(sum(loops)),
                    str(hits),
                    str(sum(spoken) - hits),
                    *_format_rate(precision),
                    *_format_rate(recall),
                ]
            )
    table(rows)
    return result


def _format_rate(rate: Any) -> list[str]:
    return [f"{rate.value or 0:.2f}", f"{rate.low or 0:.2f}-{rate.high or 0:.2f}"]
