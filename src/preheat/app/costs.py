"""What sessions cost in tokens and money: by day, project, model, agent or session.

Knows nothing of how it is shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import NamedTuple

from preheat.app.project_assignment import assign_archive
from preheat.archive.connect import connect
from preheat.archive.costs import ResponseTokens, load_response_tokens
from preheat.archive.projects import load_session_projects
from preheat.model.cost import Cost, CostGrouping, Costs
from preheat.model.listing import SessionFilter
from preheat.model.session import Usage
from preheat.prices import price_list, price_usage

UNDATED = "without a date"
NO_PROJECT = "no project"
_PAUSE = 300.0
"""Seconds without a response from which on nobody worked."""


class _Sum:
    """What a group costs while it is added up."""

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.responses = 0
        self.usage = Usage()
        self.money = self.failed_money = self.repeated_money = self.seconds = 0.0
        self.unpriced = 0

    def add(self, response: ResponseTokens, money: float | None, seconds: float) -> None:
        self.seconds += seconds
        self.sessions.add(response.session)
        self.responses += 1
        self.usage += response.usage
        if money is None:
            self.unpriced += response.usage.total
        else:
            self.money += money
            self.failed_money += money * response.failed_share
            self.repeated_money += money * response.repeated_share

    def close(self, name: str) -> Cost:
        return Cost(
            name=name, sessions=len(self.sessions), responses=self.responses, usage=self.usage, money=self.money,
            failed_money=self.failed_money, repeated_money=self.repeated_money, seconds=self.seconds,
            unpriced=self.unpriced,
        )  # fmt: skip


def add_up_costs(folder: str, chosen: SessionFilter, by: CostGrouping) -> Costs:
    """What the chosen sessions cost, by one grouping."""
    with closing(connect(folder)) as connection:
        responses = list(load_response_tokens(connection, chosen))
        if by == "project":
            assign_archive(connection)
        projects = load_session_projects(connection) if by == "project" else {}
    return _add_up(responses, by, _naming(by, projects))


class PeriodCosts(NamedTuple):
    """What everything cost, and what some spans of time did."""

    periods: list[Cost]
    """In the order in which they were asked for."""
    total: Cost
    price_list: str


def add_up_periods(
    folder: str, periods: Sequence[tuple[float, float]], chosen: SessionFilter | None = None
) -> PeriodCosts:
    """What sessions cost (all, or the chosen ones), and what they cost in each span of time, from and before the given times."""
    with closing(connect(folder)) as connection:
        responses = list(load_response_tokens(connection, chosen or SessionFilter()))
    found = [
        _add_up(
            (each for each in responses if each.at is not None and start <= each.at < end), "day", lambda _: ""
        ).total
        for start, end in periods
    ]
    return PeriodCosts(found, _add_up(responses, "day", lambda _: "").total, price_list())


def _count_seconds(before: float | None, at: float | None) -> float:
    """The time between two responses of a session, if it is no pause."""
    passed = at - before if before is not None and at is not None else 0.0
    return passed if passed <= _PAUSE else 0.0


def _naming(by: CostGrouping, projects: Mapping[str, str]) -> Callable[[ResponseTokens], str]:
    """The name of the group that a response belongs to; `projects` has the name of each session's project by its key."""
    if by == "day":
        return lambda each: UNDATED if each.at is None else datetime.fromtimestamp(each.at).strftime("%Y-%m-%d")
    if by == "project":
        return lambda each: projects.get(each.session) or each.project or NO_PROJECT
    if by == "model":
        return lambda each: each.model or "unknown model"
    return lambda each: each.agent if by == "agent" else each.session


def _add_up(responses: Iterable[ResponseTokens], by: CostGrouping, name_of: Callable[[ResponseTokens], str]) -> Costs:
    groups: dict[str, _Sum] = {}
    total = _Sum()
    unpriced: Counter[str] = Counter()
    last: dict[str, float] = {}
    for each in sorted(responses, key=lambda each: each.at or 0.0):
        if not each.usage.total:
            continue
        money = price_usage(each.model, each.usage, each.at)
        if money is None:
            unpriced[each.model or "unknown model"] += each.usage.total
        seconds = _count_seconds(last.get(each.session), each.at)
        if each.at is not None:
            last[each.session] = each.at
        total.add(each, money, seconds)
        groups.setdefault(name_of(each), _Sum()).add(each, money, seconds)
    costs = [group.close(name) for name, group in groups.items()]
    if by == "day":
        costs.sort(key=lambda cost: (cost.name != UNDATED, cost.name), reverse=True)
    else:
        costs.sort(key=lambda cost: (-cost.money, -cost.usage.total, cost.name))
    return Costs(
        by=by, costs=tuple(costs), total=total.close("total"), price_list=price_list(),
        unpriced_models=tuple(model for model, _ in unpriced.most_common()),
    )  # fmt: skip
