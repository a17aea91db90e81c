"""One session: calls in a ribbon, context over time, signals with their arithmetic, transcript; and two side by side."""

from collections.abc import Sequence

from preheat.app import Preheat
from preheat.errors import UserError
from preheat.model.live import CallEvent
from preheat.model.views import SessionView
from preheat.web.charts import thin
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_AT_ONCE = 60
_DRAWN = ("trust", "focus", "debt", "pressure", "progress", "drift")
"""Signals that are drawn over time, where the session has them."""
_MOST_IN_FILE = 2_000
"""Entries of a transcript in a file."""


def show_session(site: Site, query: Query) -> Page:
    """The page of one session."""
    view = site.views.session(query.require("name"))
    failures = [each.seq for each in view.calls if each.is_failure]
    causes: dict[str, int] = {}
    for each in view.calls:
        if each.is_failure:
            causes[each.cause or "unknown"] = causes.get(each.cause or "unknown", 0) + 1
    summary = view.summary
    values = {
        "view": view, "summary": summary, "failures": failures, "causes": causes,
        "sizes": thin([each.tokens for each in view.contexts]),
        "lost_seconds": sum(each.lost_seconds for each in view.calls if each.is_failure),
        "lost_tokens": sum(each.lost_tokens for each in view.calls if each.is_failure),
        "lasted": None if summary.started_at is None or summary.ended_at is None else summary.ended_at - summary.started_at,
        "errors_only": bool(query.text("errors")), "at_call": query.text("call"), "at_line": query.text("line"),
    }  # fmt: skip
    if site.makes_files:
        part = site.views.transcript(summary.key, 0, _MOST_IN_FILE, bool(query.text("errors")))
        values |= {"part": part, "name": summary.key, "start": 0}
    return Page("session.html", summary.title or summary.opening or summary.key, values)


def show_transcript(site: Site, query: Query) -> Page:
    """A part of the transcript: from an entry on, from a call on, or from a line on."""
    name = query.require("name")
    start = query.number("start")
    if query.text("call"):
        start = max(0, site.views.find_entry(name, seq=query.number("call")) - 2)
    elif query.text("line"):
        start = max(0, site.views.find_entry(name, line=query.number("line")) - 1)
    errors_only = bool(query.text("errors"))
    part = site.views.transcript(name, start, _AT_ONCE, errors_only)
    values = {"part": part, "name": name, "errors_only": errors_only, "start": start, "at_call": query.text("call")}
    return Page("transcript.html", "Transcript", values)


def show_entry(site: Site, query: Query) -> Page:
    """The whole text of one entry."""
    name, number = query.require("name"), query.number("number")
    text = site.views.entry_text(name, number)
    return Page("entry.html", f"Entry {number + 1}", {"text": text, "name": name, "number": number})


def show_signals(site: Site, query: Query) -> Page:
    """The signals of a session over time, and their arithmetic after one turn."""
    found = site.home.live.replay(query.require("name"))
    timeline = found.timeline
    moments = [each for each in timeline.moments if isinstance(each.event, CallEvent)]
    if not moments:
        return Page("signals.html", "Signals", {"moments": (), "name": query.text("name")})
    turn = query.number("turn", timeline.turns)
    curves: dict[str, list[float]] = {}
    for moment in moments:
        for each in moment.readings:
            if each.signal in _DRAWN:
                curves.setdefault(each.signal, []).append(each.value)
    explained = found.explain(min(max(turn, 1), timeline.turns))
    advice = [(moment.turn, each) for moment in timeline.moments for each in moment.advisories]
    phases = [(moment.turn, moment.phase, moment.reason) for moment in moments if moment.reason]
    values = {
        "moments": moments, "name": query.text("name"), "curves": curves, "explained": explained, "advice": advice,
        "phases": phases, "turns": timeline.turns,
        "bands": _phase_bands([each.phase for each in moments]),
        "advised": [place for place, each in enumerate(moments) if each.advisories],
    }  # fmt: skip
    return Page("signals.html", "Signals", values)


def _phase_bands(phases: Sequence[str]) -> list[tuple[str, int, int]]:
    """Runs of one phase: its name, where it begins, how long it lasts."""
    bands: list[tuple[str, int, int]] = []
    for place, phase in enumerate(phases):
        if bands and bands[-1][0] == phase:
            bands[-1] = (phase, bands[-1][1], bands[-1][2] + 1)
        else:
            bands.append((phase, place, 1))
    return bands


def compare_two(site: Site, query: Query) -> Page:
    """Two sessions side by side."""
    a, b = query.require("a"), query.text("b")
    first = site.views.session(a)
    if not b:
        others = site.views.sessions(query.make_filter(site.home), query.text("words"), limit=40).sessions
        values = {"first": first, "others": [each for each in others if each.key != first.summary.key]}
        return Page("choose_second.html", "Compare with", values)
    second = site.views.session(b)
    return Page(
        "two_sessions.html",
        "Two sessions",
        {"sides": (first, second), "comparison": _compare(site.home, first, second)},
    )


def _compare(home: Preheat, first: SessionView, second: SessionView) -> object:
    """The comparison of two sessions; in words, why there is none."""
    try:
        return home.reliability.without_analysing().compare_sessions(first.summary.key, second.summary.key)
    except UserError as error:
        return str(error)
