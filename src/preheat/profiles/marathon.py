"""The marathon question: do calls fail less in longer sessions, and is that learning or selection?

Three parts. (a) The rate by length of session. (b) The same first 50 messages of sessions that ended there and of sessions
that went on: a difference there was made before anything could be learned. (c) The slope within the first 200 messages of
sessions, the session and the kind of work held fixed. Knows nothing of where the counts come from; the words are in `verdict`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preheat.model.population import MEASURES, Answer, Marathon, Measure, Slope
from preheat.profiles.cells import Counted, Sheet, less, stratified, together
from preheat.profiles.gathering import EARLY, NEAR, WINDOW, Ints, Moments, Tally
from preheat.profiles.slope import slopes
from preheat.profiles.verdict import concluded, plain

BUCKETS = ("0-50", "51-100", "101+")
"""Lengths of sessions in messages."""
_EDGES = (50, 100)
LONG_ENOUGH = 20
"""Calls of the sessions that one of the checks keeps to."""


class Lengths(NamedTuple):
    """The cells that the question is asked of: by length, over all messages and over the first 50."""

    buckets: tuple[Counted, ...]
    early: tuple[Counted, ...]


def bucket_of(messages: Ints) -> Ints:
    """The number of the bucket of every session."""
    return np.searchsorted(np.array(_EDGES), messages, side="left").astype(np.int64)


def lengths(sheet: Sheet, tally: Tally, chosen: NDArray[np.bool_]) -> Lengths:
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
    return Lengths(buckets, early)


def marathon(agent: str, sheet: Sheet, cells: Lengths, moments: Moments, strata: Sequence[Lengths] = ()) -> Marathon:
    """The answer over some cells and sums; `strata` are the same cells by agent."""
    near = ~moments.far
    fits = (
        slopes(f"first {NEAR} messages, same kind of work", moments, near),
        slopes(f"first {NEAR} messages, any work", moments, near, same_work=False),
        slopes("all messages, same kind of work", moments),
        slopes("without each session's last call", moments, near & ~moments.last),
        slopes(f"sessions of {LONG_ENOUGH} calls or more", moments, near, least_calls=LONG_ENOUGH),
    )
    errors, mistakes = (_answer(measure, cells, fits, strata) for measure in MEASURES)
    return Marathon(
        agent=agent,
        buckets=tuple(map(sheet.cell, cells.buckets)),
        early=tuple(map(sheet.cell, cells.early)),
        errors=errors,
        mistakes=mistakes,
        conclusion=plain(errors, mistakes),
    )


def _answer(
    measure: Measure, cells: Lengths, fits: Sequence[dict[Measure, Slope]], strata: Sequence[Lengths]
) -> Answer:
    short, middle, long = cells.buckets
    soon_short, soon_middle, soon_long = cells.early
    same_work, any_work, whole, *checks = (fit[measure] for fit in fits)
    return concluded(
        Answer(
            measure=measure,
            raw=less(long, short, measure),
            middle=less(middle, short, measure),
            within_agents=stratified([(each.buckets[2], each.buckets[0]) for each in strata], measure),
            selection=less(soon_long, soon_short, measure),
            selection_hundred=less(soon_long, together("0-100", soon_short, soon_middle), measure),
            later=less(long, soon_long, measure),
            slope=same_work,
            slope_any_work=any_work,
            slope_all=whole,
            checks=tuple(checks),
            verdict="too_little_data",
            words=(),
        ),
        tuple(cell.share(measure) for cell in (short, long, soon_short, soon_long)),
    )


def of_sessions(moments: Moments, chosen: NDArray[np.bool_]) -> Moments:
    """The sums of some sessions only."""
    columns: list[Any] = [column[chosen[moments.session]] for column in moments]
    return Moments(*columns)
