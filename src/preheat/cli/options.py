"""Options that several commands share, and their types. Knows no command."""

import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from preheat.app.agents import agent_names, resolve_session_name, title_of
from preheat.cli.home import open_preheat
from preheat.cli.text import date_time, one_line
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.model.listing import SessionFilter

F = TypeVar("F", bound=Callable[..., Any])
_UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400, "m": 30 * 86400, "y": 365 * 86400}


class AgentName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """An agent by its name or title, in any spelling, or the beginning of either."""

    name = "agent"

    def __init__(self, offered: Callable[[], Sequence[str]] = agent_names, introduction: str = "Preheat knows") -> None:
        """`offered`: the agents that the command can use; `introduction` comes before their names in an error."""
        self._offered = offered
        self._introduction = introduction

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        wanted = str(value).lower().replace("-", "_").replace(" ", "_")
        found = [agent for agent in agent_names() if agent == wanted] or [
            agent
            for agent in agent_names()
            if agent.startswith(wanted) or title_of(agent).lower().replace(" ", "_").startswith(wanted)
        ]
        if len(found) != 1:
            self.fail(f"no agent `{value}`; {self._introduction} {', '.join(self._offered())}", param, ctx)
        return found[0]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [
            CompletionItem(agent, help=title_of(agent) if agent in agent_names() else None)
            for agent in self._offered()
            if agent.startswith(incomplete)
        ]


class RenamedChoice(click.Choice):  # type: ignore[type-arg] # not generic in older releases
    """A choice that also takes the names of version 0.1.0, which it does not show."""

    def __init__(self, choices: Sequence[str], earlier: Mapping[str, str]) -> None:
        super().__init__(choices)
        self._earlier = earlier

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(self._earlier.get(value, value), param, ctx)


class DateOption(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A time: an ISO date or time (local), or an age such as `7d`, `2w`, `12h`."""

    name = "date"

    def __init__(self, end_of_day: bool = False) -> None:
        self._end_of_day = end_of_day

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip().lower()
        if text[-1:] in _UNITS and text[:-1].isdigit():
            return time.time() - int(text[:-1]) * _UNITS[text[-1]]
        days = {"today": 0, "yesterday": 1}
        try:
            if text in days:
                at = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days[text])
            else:
                at = datetime.fromisoformat(str(value).strip())
            if self._end_of_day and (text in days or len(text) == 10):
                at += timedelta(days=1, microseconds=-1)
            return at.timestamp()
        except (ValueError, OverflowError):
            self.fail(f"`{value}` is not a date; write 2026-01-31, 2026-01-31T14:00, 7d, 2w or yesterday", param, ctx)


class SessionName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A session by its id, the beginning of it, or `latest`."""

    name = "session"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return resolve_session_name(str(value))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from preheat.cli.home import open_archive  # noqa: PLC0415 - only for completion
        from preheat.model.listing import SessionFilter  # noqa: PLC0415 - loads msgspec

        try:
            found = open_archive().archive.sessions(SessionFilter(subagents=False), 500)
        except (UserError, sqlite3.Error):
            return []
        items = [
            CompletionItem(
                each.session, help=f"{date_time(each.started_at)} {one_line(each.title or each.opening, 50)}"
            )
            for each in found
            if each.session.startswith(incomplete)
        ]
        return [CompletionItem("latest", help="the newest one"), *items] if "latest".startswith(incomplete) else items


def filter_options(function: F) -> F:
    """Add the options that choose sessions."""
    for option in reversed(
        (
            click.option("--agent", type=AgentName(), metavar="NAME", help="Only this agent's sessions."),
            click.option(
                "--project",
                metavar="TEXT",
                help="Only this project (`.` is here), or those with this in their path.",
            ),
            click.option("--model", metavar="TEXT", help="Only models with this in their name."),
            click.option(
                "--since", type=DateOption(), metavar="DATE", help="Only sessions that ended after: 2026-01-31, 7d, 2w."
            ),
            click.option(
                "--until", type=DateOption(end_of_day=True), metavar="DATE", help="Only sessions that began before."
            ),
            click.option(
                "--min-messages", type=click.IntRange(0), metavar="N", help="Only sessions with at least N messages."
            ),
            click.option(
                "--max-messages", type=click.IntRange(0), metavar="N", help="Only sessions with at most N messages."
            ),
            click.option("--no-subagents", is_flag=True, help="Leave out subagents' sessions."),
        )
    ):
        function = option(function)
    return function


def make_filter(options: dict[str, Any]) -> "SessionFilter":
    """The filter that the options of `filter_options` make; they are removed from `options`."""
    from preheat.model.listing import SessionFilter  # noqa: PLC0415 - loads msgspec

    project = options.pop("project")
    if project and (project[0] in ".~" or os.sep in project):
        project = os.path.abspath(os.path.expanduser(project)) if project[0] in ".~" else project.rstrip(os.sep)
    names = ("agent", "model", "since", "until", "min_messages", "max_messages")
    return SessionFilter(
        project=project,
        project_key=open_preheat().projects.require_key(project) if project else "",
        subagents=not options.pop("no_subagents"),
        **{name: options.pop(name) for name in names},
    )
