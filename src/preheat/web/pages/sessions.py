"""The list of sessions: filtered, searched as one types, ordered, loaded in parts."""

from preheat.amounts import format_count
from preheat.model.listing import SessionFilter
from preheat.model.views import SESSION_ORDERS, SessionOrder
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_AT_ONCE = 100
COLUMNS = {
    "started": "began", "agent": "agent", "project": "folder", "model": "model", "prompts": "prompts", "calls": "calls",
    "failed": "failed", "tokens": "tokens", "length": "lasted", "compactions": "compactions",
}  # fmt: skip
"""The columns that can be chosen, with their headings."""
_USUAL = ("started", "agent", "project", "model", "prompts", "calls", "failed", "tokens")
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
    columns = _columns_of(query)
    values = {
        "columns": columns, "titles": COLUMNS, "is_usual": columns == _USUAL,
        "toggles": {name: _toggle(columns, name) for name in COLUMNS},
        "page": found, "words": words, "order": order, "descending": descending, "orders": SESSION_ORDERS,
        "rising": _RISING, "counted": _count(found.total, found.is_whole, words),
        "whole": found.total or site.views.sessions(SessionFilter(), limit=0).total,
    }  # fmt: skip
    return Page("session_rows.html" if query.text("part") else "sessions.html", "Sessions", values)


def _columns_of(query: Query) -> tuple[str, ...]:
    """The columns that the address names, in our order; without any the usual ones."""
    wanted = query.text("columns").split(",")
    return tuple(name for name in COLUMNS if name in wanted) or _USUAL


def _toggle(columns: tuple[str, ...], name: str) -> str:
    """What the address says with one column more, or less."""
    return ",".join(each for each in COLUMNS if (each in columns) != (each == name))


def _order_of(query: Query) -> SessionOrder:
    return next((each for each in SESSION_ORDERS if each == query.text("order")), "started")


def _count(total: int, is_whole: bool, words: str) -> str:
    if not words:
        return format_count(total, "session")
    return (
        f"{format_count(total, 'session')} with these words" if is_whole else f"the newest {total:,} with these words"
    )
