"""Templates to HTML: for a browser, or as one file that needs nothing else and can be handed on. Knows no page.

Every text is cleaned of characters that hide or reorder others, then escaped. A file has no script, no form and no link to the
server; its styles are in it.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from preheat import __version__
from preheat.amounts import (
    date_time,
    day,
    duration,
    format_bytes,
    format_count,
    one_line,
    printable,
    short_path,
    time_of_day,
    tokens,
)
from preheat.app.agents import title_of
from preheat.files import read_file
from preheat.web import charts
from preheat.web.query import TIMES, Query

NAVIGATION = (
    ("/", "Home"),
    ("/sessions", "Sessions"),
    ("/mistakes", "Mistakes"),
    ("/lessons", "Lessons"),
    ("/live", "Live"),
    ("/effect", "Does it help?"),
    ("/projects", "Projects"),
    ("/settings", "Settings"),
    ("/health", "Health"),
)
STYLES = ("static/pages.css", "vendored/uplot-1.6.32.min.css")
SCRIPTS = ("vendored/htmx-2.0.11.min.js", "vendored/uplot-1.6.32.min.js", "static/pages.js")


class Page(NamedTuple):
    """What a page shows: its template and the values in it."""

    template: str
    title: str
    values: Mapping[str, Any]
    status: int = 200


def read_asset(name: str) -> bytes:
    """A style or script of the package."""
    return read_file(os.path.join(os.path.dirname(os.path.abspath(__file__)), *name.split("/")))


def make_environment(redact: Callable[[str], str] | None = None) -> Environment:
    """The templates with everything that they may use; `redact` changes every text of a page that is handed on."""

    def clean(value: Any) -> Any:
        """A text without characters that hide or reorder others; what is HTML already stays."""
        if not isinstance(value, str) or isinstance(value, Markup):
            return value
        return printable(value if redact is None else redact(value))

    environment = Environment(
        loader=PackageLoader("preheat.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        count=format_count, tokens=tokens, duration=duration, date_time=date_time, day=day, bytes=format_bytes,
        time_of_day=time_of_day, short_path=short_path, one_line=one_line, agent_title=title_of, money=format_money,
        percent=format_percent, number=lambda value: f"{value:,}", pair=lambda value: (value, value),
        agent_pair=lambda value: (value, title_of(value)),
        describe_day=lambda day: f"{day.name}: {day.calls:,} calls, {day.failed:,} failed, {format_money(day.money)}",
    )  # fmt: skip
    environment.globals.update(
        charts=charts, navigation=NAVIGATION, times=TIMES, version=__version__, styles=STYLES, scripts=SCRIPTS
    )
    return environment


def format_money(dollars: float | None) -> str:
    if dollars is None:
        return "-"
    return f"${dollars:,.2f}" if dollars >= 0.005 or not dollars else "<$0.01"


def format_percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def render_page(environment: Environment, page: Page, query: Query, surroundings: Mapping[str, Any]) -> str:
    """A page as HTML; `surroundings` is what all pages share."""
    values = {
        "title": page.title, "query": query, "link": query.link, "zone": time.strftime("%Z"),
        "is_file": False, **surroundings, **page.values,
    }  # fmt: skip
    return environment.get_template(page.template).render(values)


_SERVER_LINK = re.compile(r' (?:href|action|src)="/[^"]*"')
_HTMX = re.compile(r" hx-[a-z-]+=(?:\"[^\"]*\"|'[^']*')")
_FORM = re.compile(r"<form.*?</form>|<button.*?</button>", re.DOTALL)


def make_file(html: str) -> str:
    """A rendered page as a file: without forms and without links to the server. No text can be mistaken for one: all are
    escaped, quotes too."""
    return _HTMX.sub("", _SERVER_LINK.sub("", _FORM.sub("", html)))


def read_styles() -> Markup:
    """The styles of all pages, to be put into one."""
    return Markup(read_asset(STYLES[0]).decode())  # noqa: S704 - a file of the package
