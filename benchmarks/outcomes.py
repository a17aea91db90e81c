"""How well calls are judged, on real sessions whose programs recorded how each call ended.

Four looks at the same calls: everything known (agreement with the program); *flags hidden*: the text as the agent saw it,
nothing the program recorded besides; *lines hidden*: that text without lines that state an exit code; *everything hidden*: and
without the table of the agent's own sentences, as for an agent that is not known. Beside them the two keyword rules of the
sources. Figures over all calls come first, then over the calls whose exit code can be seen, then by group; the sources that were
left out while the rules were made are groups of their own. Intervals are bootstrapped over sessions. Then the calls that were
labelled by hand.

What a program recorded is not always the truth about a call. Two sorts are told apart, and both are also counted the other
way: an exit code that is an answer (`grep` found nothing) is no failure; and the success of a command line that hides the
exit code of what it is for (`pytest | tail`) says nothing, so such calls have no ground truth (the hand labels have them).
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from benchmarks.labelled import rate_labels
from benchmarks.measuring import table
from benchmarks.real import ALL_PARTS, HELD_OUT, Real, real_sessions
from preheat.app.analysis.assessment import judge
from preheat.commands import benign_answer, command_text, understand
from preheat.model.outcome import FAILURES, Outcome
from preheat.model.session import LATE_ENDING, Event, Other, Session, ToolResult, pair_calls_with_results
from preheat.outcomes import judge as judge_calls

RESAMPLES = 400
LOOKS = ("flags_hidden", "lines_hidden", "everything_hidden")
_EXIT_LINE = re.compile(
    r"(?im)^(?=.{0,160}$)(?=.*\d)"
    r".*(?:\bexit(?:ed)?(?:[ _](?:with|code|status))+|\breturn ?code\b|<returncode>|\brc=|\bEXIT:).*$\n?"
)
_V1 = re.compile(r"error|failed", re.IGNORECASE)
_V2 = re.compile(r"error|failed|exception|traceback|denied|not found", re.IGNORECASE)
_SHOWING = frozenset(["read", "list", "search"])


class Row(NamedTuple):
    """One call that has ground truth."""

    source: str
    agent: str
    kind: str
    session: str
    failed: bool
    """By the program's own record."""
    benign: bool
    """It failed by its exit code, and that code is an answer (`grep` found nothing)."""
    unseen: bool
    """It is recorded as a success, and the command line hides the exit code of what it is for."""
    shows: bool
    """A read, a search or a listing."""
    seen: bool
    """Failed by all rungs."""
    set_aside: bool
    """Refused or cut off, by all rungs."""
    flags_hidden: bool
    lines_hidden: bool
    everything_hidden: bool
    v1: bool
    v2: bool


def run(quick: bool, data: str = "") -> dict[str, Any]:
    rows: list[Row] = []
    found: dict[tuple[str, str], Outcome] = {}
    for real in real_sessions(not quick, data, ALL_PARTS):
        rows += _rows(real, found)
    counted = [row for row in rows if not row.set_aside]
    result: dict[str, Any] = {"calls": len(rows), "set_aside": len(rows) - len(counted)}
    print(f"{len(rows):,} calls with ground truth; {result['set_aside']} refused or interrupted, left out")
    result["agreement"] = _agreement(counted)
    for name in LOOKS:
        result[name] = _tables(name, counted)
    print()
    result["labels"] = rate_labels(found, data)
    return result


def _agreement(rows: list[Row]) -> dict[str, float]:
    """How often the verdict agrees with what the program recorded."""
    visible = [row for row in rows if not row.unseen]
    values = {
        "visible": sum(row.seen == (row.failed and not row.benign) for row in visible) / len(visible),
        "with_hidden": sum(row.seen == (row.failed and not row.benign) for row in rows) / len(rows),
        "as_recorded": sum(row.seen == row.failed for row in rows) / len(rows),
    }
    unseen = [row for row in rows if row.unseen]
    called = sum(row.seen for row in unseen)
    values |= {"benign": sum(row.benign for row in rows), "hidden": len(unseen), "hidden_called_failures": called}
    print(
        f"{values['benign']} exit codes are answers; {len(unseen):,} successes hide an exit code, {called} of them are called"
        " failures"
    )
    print(
        f"all rungs: agreement {values['visible']:.4f} over {len(visible):,} calls whose exit code can be seen;"
        f" {values['with_hidden']:.4f} with hidden ones taken for successes; {values['as_recorded']:.4f} with benign ones"
        " taken for failures too\n"
    )
    return values


def _rows(real: Real, found: dict[tuple[str, str], Outcome]) -> Iterable[Row]:
    session = real.session
    bare = hidden(session, lambda text: text)
    barest = hidden(session, lambda text: _EXIT_LINE.sub("", text))
    verdicts = (judge(session), judge(bare), judge(barest), judge_calls(barest))
    for (call, result), verdict, first, second, third in zip(pair_calls_with_results(session), *verdicts, strict=True):
        found[session.id, call.call_id] = verdict
        failed = truth(result)
        if failed is None or result is None:
            continue
        shell = understand(command_text(call.input)) if call.kind == "shell" else None
        code = result.exit_code
        harmless = bool(failed and shell and code and benign_answer(shell, code) is not None)
        shows = call.kind in ("read", "search") or (shell is not None and shell.purpose in _SHOWING)
        yield Row(
            real.source, session.agent, call.kind, f"{session.agent}:{session.id}", failed, harmless,
            bool(shell and shell.masked and not failed), shows,
            verdict.status in FAILURES, verdict.status in ("denied", "interrupted"), first.status in FAILURES,
            second.status in FAILURES, third.status in FAILURES,
            _V1.search(result.model_text) is not None, _V2.search(result.model_text) is not None,
        )  # fmt: skip


def truth(result: ToolResult | None) -> bool | None:
    """Whether the call failed by the agent's program; None where it did not record that."""
    if result is None:
        return None
    if result.is_error or result.exit_code:
        return True
    return None if result.is_error is None and result.exit_code is None else False


def hidden(session: Session, reduce: Callable[[str], str]) -> Session:
    """The session with the texts of results only."""
    events: list[Event] = []
    for event in session.events:
        if isinstance(event, ToolResult):
            events.append(
                ToolResult(line=event.line, at=event.at, call_id=event.call_id, text=reduce(event.model_text))
            )
        elif not (isinstance(event, Other) and event.name == LATE_ENDING):
            events.append(event)
    return msgspec.structs.replace(session, events=tuple(events))


def _tables(name: str, rows: list[Row]) -> dict[str, Any]:
    print(f"-- {name.replace('_', ' ')}")
    lines = [["", "calls", "failures", "P", "R", "F1", "95 %", "v1 F1", "v2 F1"]]
    result: dict[str, Any] = {}
    everything, rows = rows, [row for row in rows if not row.unseen]
    held_out = [row for row in rows if row.source in HELD_OUT]
    groups: list[tuple[str, list[Row]]] = [("every call", everything), ("all", rows)]
    if held_out:
        groups += [("held out", held_out), ("developed on", [row for row in rows if row.source not in HELD_OUT])]
    for field in ("agent", "kind", "source"):
        split: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            split[getattr(row, field)].append(row)
        groups += [(f"{field}: {value}", split[value]) for value in sorted(split)]
    for label, group in groups:
        line, values = _measure(label, group, name)
        result[label] = values
        if values["failures"]:
            lines.append(line)
    table(lines)
    good = [row for row in everything if row.shows and not row.failed]
    false = sum(getattr(row, name) for row in good)
    result["false_on_shown"] = {"calls": len(good), "false": false}
    for label, pairs in (
        (
            "hidden exit codes taken for successes",
            [(row.failed and not row.benign, getattr(row, name)) for row in everything],
        ),
        ("and benign ones for failures (all as recorded)", [(row.failed, getattr(row, name)) for row in everything]),
    ):
        precision, recall, f1 = _score(pairs)
        result[label] = {"precision": precision, "recall": recall, "f1": f1}
        print(f"{label}: P {precision:.3f} R {recall:.3f} F1 {f1:.3f}")
    share = 100 * false / max(1, len(good))
    print(f"false failures on {len(good):,} successful reads, searches and listings: {false} ({share:.2f} %)\n")
    return result


def _measure(label: str, rows: list[Row], name: str) -> tuple[list[str], dict[str, Any]]:
    pairs = [(row.failed and not row.benign, getattr(row, name)) for row in rows]
    precision, recall, f1 = _score(pairs)
    low, high = _interval(rows, name)
    others = [_score([(row.failed and not row.benign, getattr(row, rule)) for row in rows])[2] for rule in ("v1", "v2")]
    failures = sum(failed for failed, _ in pairs)
    values = {
        "calls": len(rows), "failures": failures, "precision": precision, "recall": recall, "f1": f1, "low": low, "high": high,
        "v1": others[0], "v2": others[1],
    }  # fmt: skip
    shown = [f"{value:.3f}" for value in (precision, recall, f1)]
    return [
        label,
        f"{len(rows):,}",
        f"{failures:,}",
        *shown,
        f"{low:.3f}-{high:.3f}",
        *(f"{value:.3f}" for value in others),
    ], values


def _score(pairs: Iterable[tuple[bool, bool]]) -> tuple[float, float, float]:
    counts = [0, 0, 0]
    for failed, judged in pairs:
        if failed and judged:
            counts[0] += 1
        elif judged:
            counts[1] += 1
        elif failed:
            counts[2] += 1
    return scored(*counts)


def scored(hits: int, false: int, missed: int) -> tuple[float, float, float]:
    """Precision, recall, F1."""
    precision = hits / (hits + false) if hits + false else 0.0
    recall = hits / (hits + missed) if hits + missed else 0.0
    return precision, recall, 2 * hits / (2 * hits + false + missed) if hits + false + missed else 0.0


def _interval(rows: list[Row], name: str) -> tuple[float, float]:
    """The interval of F1, from resampling sessions."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        failed, judged = row.failed and not row.benign, getattr(row, name)
        if failed or judged:
            counts[row.session][0 if failed and judged else 1 if judged else 2] += 1
        else:
            counts[row.session]
    clusters = list(counts.values())
    dice = random.Random(1)
    values = []
    for _ in range(RESAMPLES):
        drawn = dice.choices(clusters, k=len(clusters))
        values.append(scored(*(sum(column) for column in zip(*drawn, strict=True)))[2])
    values.sort()
    return values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES)]
