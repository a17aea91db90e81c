"""The weekly digest as text for a terminal, as Markdown, and as a page: the same sections in all three.

What is quoted of sessions is data: on the page it is escaped, in Markdown it marks nothing up. Knows nothing of how the
numbers are found.
"""

import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from preheat.amounts import duration, format_count, tokens
from preheat.model.cost import Cost
from preheat.model.digest import MistakeTrend, WeeklyDigest
from preheat.reports.charts import tag
from preheat.reports.documents import clean_text, escape_markdown, make_page

_NARROWEST = 20
_LEAST_MONEY = 0.01


class Section(NamedTuple):
    """A heading and the lines below it."""

    title: str
    lines: list[str]


def list_sections(digest: WeeklyDigest) -> Iterator[Section]:
    """The sections in their order; one with nothing to say says so."""
    yield Section("What it cost", [*_describe_costs(digest)])
    yield Section("New mistakes", _describe_trends(digest.new) or ["none"])
    yield Section("Worse than the week before", _describe_trends(digest.worse) or ["nothing"])
    yield Section("Better than the week before", _describe_trends(digest.better) or ["nothing"])
    yield Section("Prevented, by random assignment", list(digest.prevented) or [f"not shown: {digest.not_shown}"])
    yield Section(
        "Seen to happen, not proved", list(digest.seen) or ["nothing: no session was told anything this week"]
    )
    more = digest.learned_in_all - len(digest.learned)
    learned = [f"{fact.text}{f' ({fact.project})' if fact.project else ''}" for fact in digest.learned]
    learned += [f"and {more:,} more: `preheat lessons list`"] if more > 0 else []
    yield Section("Learned", learned or ["nothing new"])
    yield Section("Waits for you", list(digest.waiting) or ["nothing"])


def title_of_digest(digest: WeeklyDigest) -> str:
    """Which week and which project."""
    days = [time.strftime("%Y-%m-%d", time.localtime(at)) for at in (digest.since, digest.until)]
    span = "" if digest.is_current else ", the last one with sessions"
    return f"The week from {days[0]} to {days[1]}{f' in {digest.project}' if digest.project else ''}{span}"


def _describe_costs(digest: WeeklyDigest) -> Iterator[str]:
    yield f"This week: {_describe_cost(digest.week)}"
    yield f"The week before: {_describe_cost(digest.before)}"
    if digest.week.failed_money + digest.week.repeated_money >= _LEAST_MONEY:
        failed, repeated = digest.week.failed_money, digest.week.repeated_money
        yield f"Of this week ${failed:,.2f} for calls that failed, ${repeated:,.2f} for calls made before"
    unknown = f"; {tokens(digest.week.unpriced)} tokens have no known price" if digest.week.unpriced else ""
    yield f"List prices of {digest.price_list}{unknown}"


def _describe_cost(cost: Cost) -> str:
    if not cost.responses:
        return "no session with tokens"
    sessions = format_count(cost.sessions, "session")
    return f"{sessions}, {duration(cost.seconds)} of work, {tokens(cost.usage.total)} tokens, ${cost.money:,.2f}"


def _describe_trends(trends: Sequence[MistakeTrend]) -> list[str]:
    return [
        f"{format_count(each.calls, 'call')}{f', {each.calls_before:,} before' if each.calls_before else ''}: {each.title}"
        f"{f'; it works {each.repair}' if each.repair else ''}"
        for each in trends
    ]


def render_digest_text(digest: WeeklyDigest, width: int) -> str:
    """For a terminal of this width."""
    lines = textwrap.wrap(clean_text(title_of_digest(digest)), max(_NARROWEST, width))
    for section in list_sections(digest):
        lines += ["", section.title]
        for line in section.lines:
            flat = " ".join(clean_text(line).split())
            lines += textwrap.wrap(flat, max(_NARROWEST, width), initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def render_digest_markdown(digest: WeeklyDigest) -> str:
    lines = [f"# {escape_markdown(title_of_digest(digest))}"]
    for section in list_sections(digest):
        lines += ["", f"## {section.title}", "", *(f"- {escape_markdown(line)}" for line in section.lines)]
    return "\n".join(lines) + "\n"


def render_digest_page(digest: WeeklyDigest) -> str:
    title = title_of_digest(digest)
    sections = (
        tag("section", tag("h2", section.title), tag("ul", *(tag("li", line) for line in section.lines)))
        for section in list_sections(digest)
    )
    return make_page(title, tag("main", tag("h1", title), *sections))
