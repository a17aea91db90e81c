"""Repeated mistakes: what they cost, why, what cures them, how they develop; every occurrence of one."""

import time
from collections import Counter

from preheat.errors import NotFound
from preheat.model.mistake import Mistake, Mistakes
from preheat.web.pages.home import find_totals
from preheat.web.pages.proposal import propose
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_WEEKS = 16
_WEEK = 7 * 86400.0
_AT_ONCE = 100


def _find(site: Site, query: Query) -> Mistakes | None:
    """The repeated mistakes of the chosen sessions; None while they are being added up."""
    totals = find_totals(site, query)
    return totals.mistakes if totals is not None else None


def list_mistakes(site: Site, query: Query) -> Page:
    """All repeated mistakes, those that cost most time first."""
    if not site.home.has_archive():
        return Page("empty.html", "Mistakes", {})
    found = _find(site, query)
    start = query.number("start")
    shown = found.mistakes[start : start + _AT_ONCE] if found is not None else ()
    values = {
        "found": found, "shown": shown, "start": start, "at_once": _AT_ONCE,
        "trends": {each.id: count_weeks(each) for each in shown},
    }  # fmt: skip
    return Page("mistakes.html", "Mistakes", values)


def count_weeks(mistake: Mistake) -> list[int]:
    """How often it was made in each of the last weeks up to its last occurrence."""
    times = [each.at for each in mistake.occurrences if each.at is not None]
    if not times:
        return []
    last = max(times)
    weeks = Counter(int((last - at) // _WEEK) for at in times)
    return [weeks.get(back, 0) for back in range(_WEEKS - 1, -1, -1)]


def show_mistake(site: Site, query: Query) -> Page:
    """One mistake with every occurrence, and what would go into `AGENTS.md`."""
    wanted = query.require("id")
    found = _find(site, query)
    if found is None:
        return Page("still_adding.html", "Mistake", {})
    mistake = next((each for each in found.mistakes if each.id == wanted), None)
    if mistake is None:
        raise NotFound(f"no mistake `{wanted[:60]}` in these sessions; take the filters out, or choose one of the list")
    start = query.number("start")
    lessons = [each for each in site.home.lessons() if not frozenset(each.signatures).isdisjoint(mistake.signatures)][
        :5
    ]
    project = next((each.scope.project for each in lessons if each.scope.project), "")
    values = {
        "mistake": mistake, "occurrences": mistake.occurrences[start : start + _AT_ONCE], "start": start, "at_once": _AT_ONCE,
        "trend": count_weeks(mistake), "lessons": lessons, "project": project,
        "proposal": propose(site, project) if site.makes_files and project else None,
        "is_recent": mistake.last_seen is not None and time.time() - mistake.last_seen < 4 * _WEEK,
    }  # fmt: skip
    return Page("mistake.html", mistake.title, values)
