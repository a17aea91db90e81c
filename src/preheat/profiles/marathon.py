"""The marathon question: do calls fail less in longer sessions, and is that learning or selection?

Three parts. (a) The rate by length of session. (b) The same first 50 messages of sessions that ended there and of sessions
that went on: a difference there was made before anything could be learned. (c) The slope within the first 200 messages of
sessions, the session and the kind of work held fixed. Then the verdict, in words. Knows nothing of where the counts come from.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from preheat.model.population import (
    FAILURE_MEASURES,
    Direction,
    FailureMeasure,
    IntervalEstimate,
    LearningVerdict,
    Marathon,
    MarathonAnswer,
    SlopeEstimate,
    format_points,
)
from preheat.profiles.cells import CellCounts, CellSheet, join_cells, rate_difference, stratified_difference
from preheat.profiles.slope import fit_slopes
from preheat.profiles.tally import EARLY, NEAR, WINDOW, Ints, RegressionSums, Tally

# The answer in words, by rules that anyone can follow
_FAIL = {"errors": "fail", "mistakes": "are the agent's own mistakes"}
_RATE = {"errors": "error rate", "mistakes": "rate of own mistakes"}
Shares = tuple[float | None, ...]
"""Of short and long sessions over all messages, then of both in their first 50."""


def add_verdict(answer: MarathonAnswer, shares: Shares) -> MarathonAnswer:
    """With its verdict and its words."""
    verdict = _verdict(answer)
    words = (_conclusion(answer, verdict), *_raw(answer, shares), *_selection(answer, shares), *_slopes(answer))
    return msgspec.structs.replace(answer, verdict=verdict, words=words)


def summarise_answers(errors: MarathonAnswer, mistakes: MarathonAnswer) -> str:
    """The answer for both measures in a few sentences. What an agent learns shows in its own mistakes; the error rate also
    falls when tests begin to pass, and rises when hard tests come last."""
    own, every = direction_within_sessions(mistakes), direction_within_sessions(errors)
    if own == every == "too_little_data":
        return "Too little data to say whether agents get better within a session."
    change = mistakes.slope.change
    amount = "" if change.value is None else f": {_pace(change)}"
    throughout = mistakes.slope_all.change.direction == "lower"
    text = {
        "lower": f"Yes: at equal work, agents make fewer mistakes of their own as it goes on{amount}."
        if throughout
        else f"Not over whole sessions. At equal work, agents make fewer mistakes of their own early on{amount}; over all"
        " messages the fall is not clear.",
        "higher": f"No, the opposite: at equal work, agents make more mistakes of their own as it goes on{amount}.",
        "no_difference": f"Nothing shows it. At equal work, agents' own mistakes do not clearly change{amount}.",
        "too_little_data": "There are too few mistakes of the agents' own to say.",
    }[own]
    if every in ("lower", "higher") and every != own:
        text += (
            f" All failures together, failing tests included, get {'rarer' if every == 'lower' else 'more frequent'}."
        )
    if mistakes.selection.direction in ("lower", "higher"):
        fewer = "fewer" if mistakes.selection.direction == "lower" else "more"
        text += f" And sessions that become long have {fewer} own mistakes from the first messages on: that part is selection."
    return text


def direction_within_sessions(answer: MarathonAnswer) -> Direction:
    """Where the rate goes within sessions, unless a check speaks against it."""
    return "no_difference" if _contradicting_checks(answer) else answer.slope.change.direction


def _contradicting_checks(answer: MarathonAnswer) -> list[str]:
    """The checks that take a clear slope back: another cut of the same messages that points the other way, or all messages
    together if they clearly do."""
    direction = answer.slope.change.direction
    if direction not in ("lower", "higher"):
        return []
    falls = direction == "lower"
    turned = [each.name for each in answer.checks if each.change.value is not None and (each.change.value < 0) != falls]
    opposite = "higher" if falls else "lower"
    return [*turned, answer.slope_all.name] if answer.slope_all.change.direction == opposite else turned


def _verdict(answer: MarathonAnswer) -> LearningVerdict:
    slope, selection, raw = direction_within_sessions(answer), answer.selection.direction, answer.raw.direction
    differs = ("lower", "higher")
    if slope == "too_little_data":
        return "too_little_data"
    if slope == "lower":
        return "learning_and_selection" if selection in differs else "learning"
    if slope == "higher":
        return "worse"
    if selection in differs:
        return "selection"
    return "other_work" if raw in differs else "neither"


def _conclusion(answer: MarathonAnswer, verdict: LearningVerdict) -> str:
    rate = _RATE[answer.measure]
    change = _pace(answer.slope.change)
    start = "higher" if answer.selection.direction == "higher" else "lower"
    from_start = f"sessions that become long have a {start} {rate} from their first 50 messages on"
    # All failures together also fall when tests begin to pass: only own mistakes can be called learning without more ado.
    learning = (
        "Learning"
        if answer.measure == "mistakes"
        else "Falling within sessions (learning, or tests that begin to pass)"
    )
    by_length = "" if answer.raw.value is None else "with length, nor "
    return {
        "learning": f"{learning}: at the same kind of work, the {rate} falls within a session: {change}.",
        "learning_and_selection": (
            f"{learning}, and selection: at the same kind of work, the {rate} falls within a session: {change}; "
            f"and {from_start}."
        ),
        "selection": f"Selection, not learning: {from_start}, and nothing shows that it changes within a session.",
        "worse": f"No learning, the opposite: at the same kind of work, the {rate} rises within a session: {change}.",
        "other_work": (
            f"Other work: long and short sessions differ, but not from the start, and the {rate} does not change "
            "within a session at the same kind of work."
        ),
        "neither": f"Neither: this data shows no change of the {rate} {by_length}within a session.",
        "too_little_data": "Too little data: not enough sessions, calls or failures to tell learning from selection.",
    }[verdict]


def _raw(answer: MarathonAnswer, shares: Shares) -> list[str]:
    fail = _FAIL[answer.measure]
    if answer.raw.value is None:
        return ["By length: too few short or too few long sessions to compare."]
    text = (
        f"By length: in sessions of over 100 messages {_share(shares[1])} of calls {fail}, in those of up to 50 "
        f"{_share(shares[0])}: {_points(answer.raw)}{_unclear(answer.raw)}."
    )
    inside = answer.within_agents
    if inside.value is None:
        return [text]
    return [f"{text} Inside each agent, so that their mix plays no part: {_points(inside)}{_unclear(inside)}."]


def _selection(answer: MarathonAnswer, shares: Shares) -> list[str]:
    if answer.selection.value is None:
        return ["From the start: too few sessions to compare the first 50 messages."]
    text = (
        f"From the start: in their first 50 messages, {_share(shares[3])} in sessions that went on past 100, "
        f"{_share(shares[2])} in those that ended within 50: {_points(answer.selection)}{_unclear(answer.selection)}."
    )
    if answer.raw.value is None or answer.later.value is None:
        return [text]
    parts = f"{_number_only(answer.selection)} were there from the start (selection), {_number_only(answer.later)} came later"
    return [f"{text} So of {_number_only(answer.raw)} points by length, {parts} (other work, learning or tiring)."]


def _slopes(answer: MarathonAnswer) -> list[str]:
    change = answer.slope.change
    if change.value is None:
        return ["Within sessions: too few sessions, calls or failures for a slope."]
    text = (
        f"Within sessions: {_points(change)} per 100 messages at the same kind of work, over the first 200 messages"
        f"{_unclear(change, 'change')}; {_points(answer.slope_any_work.change)} whatever the work; "
        f"{_points(answer.slope_all.change)} at the same kind of work over all messages."
    )
    against = _contradicting_checks(answer)
    if change.direction == "no_difference":
        return [text]
    if against:
        return [f"{text} It does not hold up ({', '.join(against)}), so it is not counted."]
    return [f"{text} No check speaks against it."]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _number_only(estimate: IntervalEstimate) -> str:
    return format_points(estimate.value) if estimate.value is not None else "-"


def _points(estimate: IntervalEstimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "too little data"
    return (
        f"{format_points(estimate.value)} points (95 % interval {format_points(estimate.low)} to "
        f"{format_points(estimate.high)})"
    )


def _pace(estimate: IntervalEstimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "too little data"
    reach = f"95 % interval {format_points(estimate.low)} to {format_points(estimate.high)}"
    return f"{format_points(estimate.value)} points per 100 messages over the first 200 ({reach})"


def _unclear(estimate: IntervalEstimate, noun: str = "difference") -> str:
    return f", no clear {noun}" if estimate.direction == "no_difference" else ""


# The numbers of the answer
BUCKETS = ("0-50", "51-100", "101+")
"""Lengths of sessions in messages."""
_EDGES = (50, 100)
LONG_ENOUGH = 20
"""Calls of the sessions that one of the checks keeps to."""


class LengthCells(NamedTuple):
    """The cells that the question is asked of: by length, over all messages and over the first 50."""

    buckets: tuple[CellCounts, ...]
    early: tuple[CellCounts, ...]


def bucket_of(messages: Ints) -> Ints:
    """The number of the bucket of every session."""
    return np.searchsorted(np.array(_EDGES), messages, side="left").astype(np.int64)


def add_length_cells(sheet: CellSheet, tally: Tally, chosen: NDArray[np.bool_]) -> LengthCells:
    """Put the cells of the chosen sessions on the sheet."""
    bucket = bucket_of(tally.sessions.messages)
    everyone = np.arange(len(bucket))
    windows = tally.windows
    soon = windows.group < EARLY // WINDOW
    found = [
        (
            sheet.add(name, everyone, tally.totals, chosen & (bucket == number)),
            sheet.add(name, windows.session, windows.counts, soon & (chosen & (bucket == number))[windows.session]),
        )
        for number, name in enumerate(BUCKETS)
    ]
    buckets, early = zip(*found, strict=True)
    return LengthCells(buckets, early)


def answer_marathon(
    agent: str,
    sheet: CellSheet,
    cells: LengthCells,
    regression_sums: RegressionSums,
    strata: Sequence[LengthCells] = (),
) -> Marathon:
    """The answer over some cells and sums; `strata` are the same cells by agent."""
    near = ~regression_sums.far
    fits = (
        fit_slopes(f"first {NEAR} messages, same kind of work", regression_sums, near),
        fit_slopes(f"first {NEAR} messages, any work", regression_sums, near, same_work=False),
        fit_slopes("all messages, same kind of work", regression_sums),
        fit_slopes("without each session's last call", regression_sums, near & ~regression_sums.last),
        fit_slopes(f"sessions of {LONG_ENOUGH} calls or more", regression_sums, near, least_calls=LONG_ENOUGH),
    )
    errors, mistakes = (_answer(measure, cells, fits, strata) for measure in FAILURE_MEASURES)
    return Marathon(
        agent=agent,
        buckets=tuple(map(sheet.cell, cells.buckets)),
        early=tuple(map(sheet.cell, cells.early)),
        errors=errors,
        mistakes=mistakes,
        conclusion=summarise_answers(errors, mistakes),
    )


def _answer(
    measure: FailureMeasure,
    cells: LengthCells,
    fits: Sequence[dict[FailureMeasure, SlopeEstimate]],
    strata: Sequence[LengthCells],
) -> MarathonAnswer:
    short, middle, long = cells.buckets
    soon_short, soon_middle, soon_long = cells.early
    same_work, any_work, whole, *checks = (fit[measure] for fit in fits)
    return add_verdict(
        MarathonAnswer(
            measure=measure,
            raw=rate_difference(long, short, measure),
            middle=rate_difference(middle, short, measure),
            within_agents=stratified_difference([(each.buckets[2], each.buckets[0]) for each in strata], measure),
            selection=rate_difference(soon_long, soon_short, measure),
            selection_hundred=rate_difference(soon_long, join_cells("0-100", soon_short, soon_middle), measure),
            later=rate_difference(long, soon_long, measure),
            slope=same_work,
            slope_any_work=any_work,
            slope_all=whole,
            checks=tuple(checks),
            verdict="too_little_data",
            words=(),
        ),
        tuple(cell.share(measure) for cell in (short, long, soon_short, soon_long)),
    )


def choose_sessions(regression_sums: RegressionSums, chosen: NDArray[np.bool_]) -> RegressionSums:
    """The sums of some sessions only."""
    columns: list[Any] = [column[chosen[regression_sums.session]] for column in regression_sums]
    return RegressionSums(*columns)
