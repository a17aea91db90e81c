"""The marathon question: do calls fail less in longer sessions, and is that learning or selection?

Three parts. (a) The rate by length of session. (b) The same first 50 messages of sessions that ended there and of sessions
that went on: a difference there was made before anything could be learned. (c) The slope within the first 200 messages of
sessions, the session and the kind of work held fixed. Knows nothing of where the counts come from; the words are in `verdict`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preheat.model.population import FAILURE_MEASURES, FailureMeasure, Marathon, MarathonAnswer, SlopeEstimate
from preheat.profiles.cells import CellCounts, CellSheet, join_cells, rate_difference, stratified_difference
from preheat.profiles.gathering import EARLY, NEAR, WINDOW, Ints, RegressionSums, Tally
from preheat.profiles.slope import fit_slopes
from preheat.profiles.verdict import add_verdict, summarise_answers

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
