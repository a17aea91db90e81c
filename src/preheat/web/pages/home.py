"""The first page: what was worked and what it cost, what went wrong, when, and what waits for the person."""

import os
from typing import NamedTuple

import msgspec

from preheat.app import Preheat
from preheat.model.cost import Costs
from preheat.model.home import HomeSummary
from preheat.model.listing import SessionFilter
from preheat.model.mistake import Mistakes
from preheat.model.views import Activity
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_DAYS = 60
_MOST_MISTAKES = 5
_KEPT_SECONDS = 600.0


class Waiting(NamedTuple):
    """Something that waits for the person: what it is, where to go, what to do."""

    text: str
    path: str = ""
    command: str = ""


class Totals(NamedTuple):
    """What is added up of the chosen sessions."""

    costs: Costs
    activity: Activity
    mistakes: Mistakes
    waiting: list[Waiting]


def add_up(folder: str, chosen: SessionFilter) -> Totals:
    """Add up the chosen sessions. Slow."""
    home = Preheat(folder)
    return Totals(home.costs(chosen), home.views.activity(chosen), home.views.mistakes(chosen), _list_waiting(home))


def find_totals(site: Site, query: Query) -> Totals | None:
    """What is added up of the sessions that the filters choose; None as long as it is being added up."""
    chosen = query.make_filter(site.home)
    if chosen.since is not None:  # the same value for a while, else nothing would ever be kept
        chosen = msgspec.structs.replace(chosen, since=chosen.since // _KEPT_SECONDS * _KEPT_SECONDS)
    return site.kept.find(add_up, site.home.folder, chosen).value


def summarize(folder: str, where: str) -> HomeSummary:
    """What plain `preheat` shows in a folder. Slow where the archive has changed."""
    return Preheat(folder).home_summary(where)


def _choose_folder(site: Site, query: Query) -> str:
    """The folder whose next session is described: one of the chosen project, else where the pages were started."""
    project = query.text("project")
    if project and site.home.projects.find_key(project):
        return next((each.folder for each in site.home.projects.show(project).folders if each.exists), os.getcwd())
    return os.getcwd()


def show_home(site: Site, query: Query) -> Page:
    """The page; what takes long is filled in later."""
    if not site.home.has_archive():
        return Page("empty.html", "Home", {})
    # First, because it says what to do and is there soonest.
    summary = site.kept.find(summarize, site.home.folder, _choose_folder(site, query)).value
    totals = find_totals(site, query)
    values = {
        "summary": summary, "totals": totals, "sessions": site.views.sessions(query.make_filter(site.home), limit=6),
        "days": _join_days(totals.costs, totals.activity) if totals is not None else [],
        "most_mistakes": _MOST_MISTAKES,
    }  # fmt: skip
    return Page("home.html", "Home", values)


class Day(NamedTuple):
    """What was worked on one day."""

    name: str
    sessions: int
    calls: int
    failed: int
    money: float


def _join_days(costs: Costs, activity: Activity) -> list[Day]:
    """The last days with work, in order."""
    money = {each.name: each.money for each in costs.costs}
    return [Day(*each, money.get(each[0], 0.0)) for each in activity.days[-_DAYS:]]


def _list_waiting(home: Preheat) -> list[Waiting]:
    found = []
    if unanalysed := home.archive.count_unanalysed():
        found.append(Waiting(f"{unanalysed:,} sessions have grown since they were judged", command="preheat sync"))
    lessons = home.lessons()
    if quarantined := sum(each.status == "quarantined" for each in lessons):
        found.append(
            Waiting(f"{quarantined:,} lessons read like instructions and wait for you", "/lessons?show=quarantined")
        )
    if not lessons:
        found.append(Waiting("nothing was learned yet", command="preheat lessons learn"))
    if not home.installation.has_hooks():
        found.append(Waiting("no agent calls Preheat yet", command="preheat install AGENT"))
    return found
