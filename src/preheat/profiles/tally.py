"""Adds up judged calls by session as they stream past.

Knows nothing of rates or intervals. Memory grows with the sessions (and the tools, activities and places each of them has),
never with the calls.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preheat.model.outcome import CAUSES, FAILURES, JUDGED, STATUSES
from preheat.model.profile import CallFact, SessionFact

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CHUNK = 1 << 13
"""Calls that are objects at once: few enough for the collector of garbage to pass over quickly."""
WINDOW = 25
"""Messages in a window of places."""
WINDOWS = 20
TENTHS = 10
EARLY = 50
"""The first messages in which long and short sessions are compared: a whole number of windows."""
NEAR = 200
"""The places that one of the checks of the slope keeps to."""

CALLS, FAILED, MISTAKES, FINDINGS, ENVIRONMENT, UNKNOWN, UNJUDGED = range(COLUMNS := 7)
"""Columns of `Table.counts`: judged calls, failures, failures by cause, calls in no rate."""

_WORKTREE = re.compile(r"[/\\](?:\.[^/\\]+[/\\])?\.?worktrees[/\\].*")


class NameNumbers(dict[str, int]):
    """Small numbers for names, in the order of first sight."""

    def __missing__(self, name: str) -> int:
        self[name] = code = len(self)
        return code

    def of(self, names: Iterable[str], length: int) -> Ints:
        return np.fromiter(map(self.__getitem__, names), np.int64, length)


class Table(NamedTuple):
    """Counts by session and group, one row for each pair that occurs."""

    session: Ints
    group: Ints
    counts: Ints


class RegressionSums(NamedTuple):
    """What a regression within sessions needs, by session, activity, and whether the row holds the session's last call
    or calls past the first 200 messages. Places are in hundreds of messages."""

    session: Ints
    activity: Ints
    last: NDArray[np.bool_]
    far: NDArray[np.bool_]
    calls: Floats
    place: Floats
    place_squared: Floats
    failed: Floats
    mistakes: Floats
    place_failed: Floats
    place_mistakes: Floats


class Sessions(NamedTuple):
    """What is known of the sessions themselves, in one order for all arrays; names by code."""

    messages: Ints
    agent: Ints
    model: Ints
    project: Ints
    source: Ints
    """The project, or the agent where no project is recorded: what weighs the same when projects do."""
    agents: tuple[str, ...]
    models: tuple[str, ...]
    projects: tuple[str, ...]


class Tally(NamedTuple):
    """Everything that the population's measures are made of."""

    sessions: Sessions
    totals: Ints
    """Counts by session: rows as in `sessions`, columns as in `Table`."""
    tools: Table
    activities: Table
    windows: Table
    tenths: Table
    regression_sums: RegressionSums
    tool_names: tuple[str, ...]
    activity_names: tuple[str, ...]
    statuses: Counter[str]
    bookkeeping: int


class _Sums:
    """Sums by key over chunks. A key that comes in several chunks is put together at the end."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._keys: list[Ints] = []
        self._sums: list[Floats] = []

    def add(self, keys: Ints, values: Floats) -> None:
        if not len(keys):
            return
        distinct, place = np.unique(keys, return_inverse=True)
        self._keys.append(distinct)
        self._sums.append(
            np.stack([np.bincount(place, values[:, column], len(distinct)) for column in range(self._width)], axis=1)
        )

    def finish(self) -> tuple[Ints, Floats]:
        if len(self._keys) > 1:
            parts, sums = np.concatenate(self._keys), np.concatenate(self._sums)
            self._keys, self._sums = [], []
            self.add(parts, sums)
        if not self._keys:
            return np.zeros(0, np.int64), np.zeros((0, self._width))
        return self._keys[0], self._sums[0]


class _Rows(NamedTuple):
    """Calls as columns."""

    session: Ints
    message: Ints
    tool: Ints
    activity: Ints
    counts: Floats

    def where(self, chosen: NDArray[np.bool_] | slice) -> "_Rows":
        return _Rows(
            self.session[chosen], self.message[chosen], self.tool[chosen], self.activity[chosen], self.counts[chosen]
        )

    def after(self, other: "_Rows") -> "_Rows":
        columns: list[Any] = [np.concatenate(pair) for pair in zip(other, self, strict=True)]
        return _Rows(*columns)


def tally_calls(sessions: Iterable[SessionFact], calls: Iterable[CallFact]) -> Tally:
    """Add up the calls, which come in the order of their sessions; calls of other sessions than these are left out."""
    known, place = _sessions(sessions)
    adding = _Adding(known.messages)
    stream = iter(calls)
    while chunk := list(islice(stream, CHUNK)):
        adding.add(chunk, place)
    return adding.finish(known)


def _sessions(facts: Iterable[SessionFact]) -> tuple[Sessions, dict[int, int]]:
    agents, models, projects, sources = NameNumbers(), NameNumbers(), NameNumbers(), NameNumbers()
    place: dict[int, int] = {}
    rows: list[tuple[int, int, int, int, int]] = []
    for fact in sorted(facts, key=attrgetter("key")):  # the same draws, in whichever order they were stored
        place[fact.session] = len(rows)
        project = _WORKTREE.sub("", fact.project)
        source = sources[project or f"\0{fact.agent}"]
        rows.append((fact.messages, agents[fact.agent], models[fact.model], projects[project], source))
    messages, agent, model, project_code, source_code = np.array(rows, np.int64).reshape(-1, 5).T
    names = (tuple(agents), tuple(models), tuple(projects))
    return Sessions(messages, agent, model, project_code, source_code, *names), place


class _Adding:
    """The sums, while the calls stream past."""

    def __init__(self, messages: Ints) -> None:
        self._messages = messages
        self._tool_codes, self._activity_codes = NameNumbers(), NameNumbers()
        self._totals = np.zeros((len(messages), COLUMNS), np.int64)
        self._tables = {name: _Sums(COLUMNS) for name in ("tools", "activities", "windows", "tenths")}
        self._regression = _Sums(7)
        self._held: _Rows | None = None
        self._statuses: Counter[str] = Counter()
        self._bookkeeping = 0

    def add(self, chunk: list[CallFact], place: dict[int, int]) -> None:
        kept = [fact for fact in chunk if not fact.bookkeeping and fact.session in place]
        self._bookkeeping += sum(1 for fact in chunk if fact.bookkeeping and fact.session in place)
        if not kept:
            return
        columns = dict(zip(CallFact._fields, zip(*kept, strict=True), strict=True))
        length = len(kept)
        self._statuses.update(columns["status"])
        session = np.fromiter(map(place.__getitem__, columns["session"]), np.int64, length)
        rows = _Rows(
            session,
            np.array(columns["message"], np.int64),
            self._tool_codes.of(columns["tool"], length),
            self._activity_codes.of(columns["activity"], length),
            _counts(columns["status"], columns["cause"]),
        )
        self._count(rows)
        self._regress(rows.where(rows.counts[:, CALLS] > 0))

    def _count(self, rows: _Rows) -> None:
        first, last = int(rows.session.min()), int(rows.session.max())  # no more than a chunk has
        for column in range(COLUMNS):
            added = np.bincount(rows.session - first, rows.counts[:, column], last - first + 1)
            self._totals[first : last + 1, column] += added.astype(np.int64)
        messages = np.maximum(self._messages[rows.session], 1)
        before = np.maximum(rows.message, 1) - 1
        groups = {
            "tools": rows.tool,
            "activities": rows.activity,
            "windows": np.minimum(before // WINDOW, WINDOWS - 1),
            "tenths": np.minimum(TENTHS * before // messages, TENTHS - 1),
        }
        for name, group in groups.items():
            self._tables[name].add((rows.session << 32) | group, rows.counts)

    def _regress(self, rows: _Rows) -> None:
        """Of judged calls; the last is held back until it is known whether its session goes on."""
        if self._held is not None:
            rows = rows.after(self._held)
        if not len(rows.session):
            return
        self._held = rows.where(slice(-1, None))
        self._add_regression(rows.where(slice(0, -1)), rows.session[1:] != rows.session[:-1])

    def _add_regression(self, rows: _Rows, last: NDArray[np.bool_]) -> None:
        place = rows.message.astype(np.float64)  # whole numbers: their sums are exact, however the stream is cut
        failed, mistakes = rows.counts[:, FAILED], rows.counts[:, MISTAKES]
        flags = last.astype(np.int64) * 2 + (rows.message > NEAR)
        values = [np.ones(len(place)), place, place * place, failed, mistakes, place * failed, place * mistakes]
        self._regression.add((rows.session << 32) | (rows.activity << 2) | flags, np.stack(values, axis=1))

    def finish(self, known: Sessions) -> Tally:
        if self._held is not None:
            self._add_regression(self._held, np.ones(1, np.bool_))
        keys, sums = self._regression.finish()
        low = keys & 0xFFFFFFFF
        columns = (sums / np.array([1, 100, 10_000, 1, 1, 100, 100])).T
        regression_sums = RegressionSums(keys >> 32, low >> 2, (low & 2) > 0, (low & 1) > 0, *columns)
        tables = {name: _table(*sums.finish()) for name, sums in self._tables.items()}
        return Tally(
            sessions=known,
            totals=self._totals,
            regression_sums=regression_sums,
            tool_names=tuple(self._tool_codes),
            activity_names=tuple(self._activity_codes),
            statuses=self._statuses,
            bookkeeping=self._bookkeeping,
            **tables,
        )


def _table(keys: Ints, sums: Floats) -> Table:
    return Table(keys >> 32, keys & 0xFFFFFFFF, np.rint(sums).astype(np.int64))


def _kinds() -> Iterator[tuple[tuple[str, str | None], tuple[int, ...]]]:
    for status in STATUSES:
        for cause in (None, *CAUSES):
            judged, failed = status in JUDGED, status in FAILURES
            by_cause = tuple(int(failed and cause == each) for each in CAUSES)
            yield (status, cause), (int(judged), int(failed), *by_cause, int(not judged))


def _counts(statuses: tuple[str, ...], causes: tuple[str | None, ...]) -> Floats:
    """A row of counts for each call: looked up, because there are few kinds of verdict."""
    kinds = dict(_kinds())
    codes = {verdict: code for code, verdict in enumerate(kinds)}
    places = np.fromiter(map(codes.__getitem__, zip(statuses, causes, strict=True)), np.int64, len(statuses))
    return np.array(list(kinds.values()), np.float64)[places]
