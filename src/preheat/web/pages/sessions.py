"""The list of sessions: filtered, searched as one types, ordered, loaded in parts."""

from preheat.amounts import format_count
from preheat.model.listing import SessionFilter
from preheat.model.views import SESSION_ORDERS, SessionOrder
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_AT_ONCE = 100
_RISING = ("agent", "project", "model")
"""Orders that begin with the smallest."""


def list_sessions(site: Site, query: Query) -> Page:
    """The page of sessions; with `part` only further rows."""
    if not site.home.has_archive():
        return Page("empty.html", "Sessions", {})
    order = _order_of(query)
    descending = query.text("down", "0" if order in _RISING else "1") == "1"
    words = query.text("words")
    if words.strip() and not any(letter.isalnum() for letter in words):
        words = ""
    found = site.views.sessions(query.make_filter(site.home), words, order, descending, query.number("start"), _AT_ONCE)
    values = {
        "page": found, "words": words, "order": order, "descending": descending, "orders": SESSION_ORDERS,
        "rising": _RISING, "counted": _count(found.total, found.is_whole, words),
        "whole": found.total or site.views.sessions(SessionFilter(), limit=0).total,
    }  # fmt: skip
    return Page("session_rows.html" if query.text("part") else "sessions.html", "Sessions", values)


def _order_of(query: Query) -> SessionOrder:
    return next((each for each in SESSION_ORDERS if each == query.text("order")), "started")


def _count(total: int, is_whole: bool, words: str) -> str:
    if not words:
        return format_count(total, "session")
    return (
        f"{format_count(total, 'session')} with these words" if is_whole else f"the newest {total:,} with these words"
    )
