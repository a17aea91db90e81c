"""Measures many sessions in one pass: rates by length, tool, work, agent, model, project and place, and the marathon question.

Knows nothing of the archive: facts stream in, a frozen value comes out. Every interval is from whole sessions drawn anew.
"""

from collections.abc import Iterable

import numpy as np

from preheat.amounts import format_count
from preheat.model.outcome import STATUSES
from preheat.model.population import (
    MOST_CELLS,
    FailureMeasure,
    IntervalEstimate,
    Marathon,
    Population,
    PopulationGroup,
    ProjectMean,
)
from preheat.model.profile import CallFact, SessionFact
from preheat.profiles.cells import MEASURE_COLUMNS, CellCounts, CellSheet
from preheat.profiles.marathon import (
    BUCKETS,
    add_length_cells,
    answer_marathon,
    bucket_of,
    choose_sessions,
    direction_within_sessions,
)
from preheat.profiles.tally import (
    CALLS,
    ENVIRONMENT,
    FAILED,
    FINDINGS,
    MISTAKES,
    TENTHS,
    WINDOW,
    WINDOWS,
    Ints,
    Table,
    Tally,
    tally_calls,
)
from preheat.statistics.intervals import RESAMPLES, difference_with_interval, resample

LEAST_PROJECTS = 5
_LEAST_PROJECT_CALLS = 10
"""A project with fewer calls in a bucket has no rate worth a full vote."""


class _Grouping:
    """The cells of one grouping: the largest ones, and how much was left out."""

    def __init__(self, sheet: CellSheet, names: tuple[str, ...], table: Table, top: int | None) -> None:
        calls = np.bincount(table.group, table.counts[:, CALLS], len(names)).astype(np.int64)
        order = [int(code) for code in np.argsort(-calls, kind="stable") if calls[code]]
        kept = order if top is None else order[:top]
        rows = np.argsort(table.group, kind="stable")
        edges = np.searchsorted(table.group[rows], np.arange(len(names) + 1))
        self.counted = [
            sheet.add(names[code], table.session[chosen], table.counts[chosen])
            for code in kept
            for chosen in [rows[edges[code] : edges[code + 1]]]
        ]
        self.left_out = len(order) - len(kept)
        self.left_out_calls = int(sum(calls[code] for code in order[len(kept) :]))

    def group(self, sheet: CellSheet) -> PopulationGroup:
        return PopulationGroup(tuple(map(sheet.cell, self.counted)), self.left_out, self.left_out_calls)


def measure_population(
    sessions: Iterable[SessionFact], calls: Iterable[CallFact], top: int | None = MOST_CELLS
) -> Population:
    """Measure; calls come in the order of their sessions. `top` limits the groupings, None gives every cell."""
    sums = tally_calls(sessions, calls)
    known = sums.sessions
    everyone = np.arange(len(known.messages))
    sheet = CellSheet(len(everyone))
    overall = sheet.add("all", everyone, sums.totals)
    groupings = {
        "tools": _Grouping(sheet, sums.tool_names, sums.tools, top),
        "activities": _Grouping(sheet, sums.activity_names, sums.activities, top),
        "agents": _Grouping(sheet, known.agents, Table(everyone, known.agent, sums.totals), top),
        "models": _Grouping(sheet, known.models, Table(everyone, known.model, sums.totals), top),
        "projects": _Grouping(sheet, known.projects, Table(everyone, known.project, sums.totals), top),
    }
    windows = _places(sheet, sums.windows, _window_names())
    tenths = _places(sheet, sums.tenths, [f"{10 * place}-{10 * place + 10} %" for place in range(TENTHS)])
    pooled = add_length_cells(sheet, sums, np.ones(len(everyone), np.bool_))
    by_agent = {code: add_length_cells(sheet, sums, known.agent == code) for code in _by_size(known.agent, sums.totals)}
    sheet.resample()
    sheet.weigh(overall)
    answers = tuple(
        answer_marathon(known.agents[code], sheet, cells, choose_sessions(sums.regression_sums, known.agent == code))
        for code, cells in by_agent.items()
    )
    whole = answer_marathon("", sheet, pooled, sums.regression_sums, list(by_agent.values()))
    groups = {name: grouping.group(sheet) for name, grouping in groupings.items()}
    even = tuple(_even_bucket(name, sums, bucket) for bucket, name in enumerate(("all", *BUCKETS), start=-1))
    return Population(
        sessions=len(everyone),
        calls=sum(sums.statuses.values()),
        bookkeeping_calls=sums.bookkeeping,
        statuses={status: sums.statuses[status] for status in STATUSES if sums.statuses[status]},
        causes=_causes(overall),
        overall=sheet.cell(overall),
        even=even,
        windows=tuple(map(sheet.cell, windows)),
        tenths=tuple(map(sheet.cell, tenths)),
        marathon=whole,
        by_agent=answers,
        resamples=RESAMPLES,
        too_little=tuple(_too_little(overall, whole, answers, even)),
        **groups,
    )


def _by_size(agent: Ints, totals: Ints) -> list[int]:
    """The agents that made calls, the most calls first."""
    calls = np.bincount(agent, totals[:, CALLS]) if len(agent) else np.zeros(0)
    return [int(code) for code in np.argsort(-calls, kind="stable") if calls[code]]


def _window_names() -> list[str]:
    spans = [f"{WINDOW * place + 1}-{WINDOW * place + WINDOW}" for place in range(WINDOWS - 1)]
    return [*spans, f"{WINDOW * (WINDOWS - 1) + 1}+"]


def _places(sheet: CellSheet, table: Table, names: list[str]) -> list[CellCounts]:
    """One cell for each place, as far as there are any calls."""
    cells = [sheet.add(name, table.session, table.counts, table.group == place) for place, name in enumerate(names)]
    while cells and not cells[-1].calls:
        cells.pop()
    return cells


def _causes(overall: CellCounts) -> dict[str, int]:
    mistakes, findings, environment = (int(overall.totals[column]) for column in (MISTAKES, FINDINGS, ENVIRONMENT))
    untold = int(overall.totals[FAILED]) - mistakes - findings - environment
    found = {"mistake": mistakes, "finding": findings, "environment": environment}
    return {**found, "unknown": untold} if untold else found


def _even_bucket(name: str, sums: Tally, bucket: int) -> ProjectMean:
    """The mean of the projects' rates over one bucket (all of them for -1)."""
    chosen = np.ones(len(sums.totals), np.bool_)
    if bucket >= 0:
        chosen = bucket_of(sums.sessions.messages) == bucket
    source, totals = sums.sessions.source[chosen], sums.totals[chosen]
    by_source = np.stack([np.bincount(source, totals[:, column]) for column in range(3)], axis=1)
    by_source = by_source[by_source[:, CALLS] >= _LEAST_PROJECT_CALLS]
    projects = len(by_source)
    if projects < LEAST_PROJECTS:
        return ProjectMean(name, projects, IntervalEstimate(), IntervalEstimate())
    shares = by_source[:, [FAILED, MISTAKES]] / by_source[:, [CALLS]]
    draws = resample(shares) / projects
    measures: tuple[FailureMeasure, FailureMeasure] = ("errors", "mistakes")
    errors, mistakes = (
        difference_with_interval(
            float(shares[:, MEASURE_COLUMNS[measure] - FAILED].mean()),
            draws[:, MEASURE_COLUMNS[measure] - FAILED],
            projects,
        )
        for measure in measures
    )
    return ProjectMean(name, projects, errors, mistakes)


def _too_little(
    overall: CellCounts, whole: Marathon, answers: tuple[Marathon, ...], even: tuple[ProjectMean, ...]
) -> Iterable[str]:
    if not overall.enough:
        yield f"All together: {_amount(overall.sessions, overall.calls)}."
    for cell in whole.buckets:
        if not cell.has_enough_data:
            yield f"Sessions of {cell.name} messages: {_amount(cell.sessions, cell.errors.total)}."
    few = [
        "in all" if each.name == "all" else f"{each.name} messages" for each in even if each.projects < LEAST_PROJECTS
    ]
    if few:
        yield f"Every project alike ({', '.join(few)}): fewer than {LEAST_PROJECTS} projects with {_LEAST_PROJECT_CALLS} calls."
    silent = sum(direction_within_sessions(answer.errors) == "too_little_data" for answer in answers)
    if silent:
        yield f"The slope within sessions: too few long sessions or failures for {silent} of {len(answers)} agents."


def _amount(sessions: int, calls: int) -> str:
    return f"only {format_count(sessions, 'session')} with {format_count(calls, 'judged call')}"
