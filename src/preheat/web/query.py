"""The address of a page: which page, which sessions it is about, and what else was asked. Knows no page.

The filters (project, agent, model, time) are part of every address and of every link that a page makes.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote, urlencode

from preheat.app import Preheat
from preheat.errors import UserError
from preheat.model.listing import SessionFilter

FILTERS = ("project", "agent", "model", "since")
KEPT = ("columns",)
"""What else every link keeps: how a list is shown."""
TIMES = {"1d": "last day", "7d": "last 7 days", "30d": "last 30 days", "90d": "last 90 days", "365d": "last year"}
"""What the filter by time offers, beside all and beside a date in the address."""
_LONGEST = 2_000
_DAY = 86400.0


class Query(NamedTuple):
    """The path and the parameters of an address."""

    path: str
    parameters: Mapping[str, str]

    def text(self, name: str, otherwise: str = "") -> str:
        return self.parameters.get(name, otherwise)[:_LONGEST]

    def number(self, name: str, otherwise: int = 0) -> int:
        """A number from 0 on. Raises UserError."""
        value = self.parameters.get(name, "")
        if not value:
            return otherwise
        if not value.isascii() or not value.isdigit() or len(value) > 12:
            raise UserError(f"`{name}` in the address is `{value[:40]}`, which is no number")
        return int(value)

    def require(self, name: str) -> str:
        """A parameter that the page cannot do without. Raises UserError."""
        if not self.text(name):
            raise UserError(f"the address of this page needs `{name}`; go back to the list and choose one")
        return self.text(name)

    @property
    def filters(self) -> dict[str, str]:
        """The filters that are set."""
        return {name: self.text(name) for name in FILTERS if self.text(name)}

    def make_filter(self, home: Preheat) -> SessionFilter:
        """Which sessions the filters choose. Raises UserError."""
        project = self.text("project")
        key = home.projects.find_key(project) if project else ""
        return SessionFilter(
            agent=self.text("agent") or None,
            project=project or None,
            project_key=key,
            model=self.text("model") or None,
            since=read_time(self.text("since")),
        )

    def link(self, path: str, /, **more: object) -> str:
        """The address of a page with the same filters."""
        kept = {name: self.text(name) for name in KEPT if self.text(name)}
        values = {
            **self.filters,
            **kept,
            **{name: str(value) for name, value in more.items() if value not in (None, "")},
        }
        return f"{quote(path)}?{urlencode(values)}" if values else quote(path)

    def change(self, **more: object) -> str:
        """The address of this page with some parameters changed; None takes one out."""
        values = {**dict(self.parameters), **more}
        kept = {name: str(value) for name, value in values.items() if value not in (None, "")}
        return f"{quote(self.path)}?{urlencode(kept)}" if kept else quote(self.path)


def read_time(text: str) -> float | None:
    """The time that a filter names: `7d`, or a date. None for no filter. Raises UserError."""
    if not text:
        return None
    if text[-1:] == "d" and text[:-1].isascii() and text[:-1].isdigit() and len(text) < 7:
        return time.time() - int(text[:-1]) * _DAY
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError) as error:
        raise UserError(f"`{text[:40]}` is not a time; choose one of the list, or write `since=2026-01-31`") from error
