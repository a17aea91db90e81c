"""The first page: what was worked and what it cost, what went wrong, when, and what waits for the person."""

from collections.abc import Sequence
from typing import NamedTuple

from preheat.app import Preheat
from preheat.model.cost import Costs
from preheat.model.listing import SessionFilter
from preheat.model.mistake import Mistakes
from preheat.model.views import Activity
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_DAYS = 60
_MOST_MISTAKES = 5


class Waiting(NamedTuple):
    """Something that waits for the person: what it is, where to go, what to do."""

    text: str
    path: str = ""
    command: str = ""


def show_home(site: Site, query: Query) -> Page:
    """The page; what takes long is filled in later."""
    if not site.home.has_archive():
        return Page("empty.html", "Home", {})
    chosen = query.make_filter(site.home)
    home = site.home
    costs = site.kept.find(("costs", _name(query)), lambda: home.costs(chosen))
    activity = site.kept.find(("activity", _name(query)), lambda: site.views.activity(chosen))
    mistakes = site.kept.find(("mistakes", _name(query)), lambda: load_mistakes(home, chosen))
    waiting = site.kept.find("waiting", lambda: _list_waiting(home))
    values = {
        "costs": costs.value, "activity": activity.value, "mistakes": mistakes.value, "waiting": waiting.value,
        "is_ready": all(each.is_ready for each in (costs, activity, mistakes, waiting)),
        "sessions": site.views.sessions(chosen, limit=6),
        "days": _join_days(costs.value, activity.value), "most_mistakes": _MOST_MISTAKES,
    }  # fmt: skip
    return Page("home.html", "Home", values)


def _name(query: Query) -> tuple[tuple[str, str], ...]:
    """The filters as a name under which a value is kept."""
    return tuple(sorted(query.filters.items()))


def load_mistakes(home: Preheat, chosen: SessionFilter) -> Mistakes:
    """Repeated mistakes by the time that they cost."""
    return home.reliability.without_analysing().mistakes(chosen, by="minutes")


class Day(NamedTuple):
    """What was worked on one day."""

    name: str
    sessions: int
    calls: int
    failed: int
    money: float


def _join_days(costs: Costs | None, activity: Activity | None) -> list[Day]:
    """The last days with work, in order."""
    if activity is None:
        return []
    money = {each.name: each.money for each in costs.costs} if costs is not None else {}
    return [Day(*each, money.get(each[0], 0.0)) for each in activity.days[-_DAYS:]]


def _list_waiting(home: Preheat) -> Sequence[Waiting]:
    found = []
    if unanalysed := home.archive.count_unanalysed():
        found.append(Waiting(f"{unanalysed:,} sessions have grown since they were judged", command="preheat sync"))
    lessons = home.lessons()
    if quarantined := sum(each.status == "quarantined" for each in lessons):
        found.append(
            Waiting(f"{quarantined:,} lessons read like instructions and wait for you", "/lessons?show=waiting")
        )
    if not lessons:
        found.append(Waiting("nothing was learned yet", command="preheat learn"))
    if not home.installation.has_hooks():
        found.append(Waiting("no agent calls Preheat yet", command="preheat install AGENT"))
    return found
