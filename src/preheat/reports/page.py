"""The report over many sessions as one page: no network, no script, light and dark, wide and narrow.

Knows only measured values and the names to show them by; everything that goes in is escaped by `charts`.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from preheat.model.mistake import Mistake
from preheat.model.outcome import RUNGS
from preheat.model.population import (
    IntervalEstimate,
    Marathon,
    MarathonAnswer,
    Population,
    PopulationCell,
    PopulationGroup,
)
from preheat.reports.charts import Html, axis_end, cause_bar, curve, interval_chart, interval_text, join, percent, tag

MISTAKES = 15
_RUNGS = {
    "flag": "the agent's program said so itself",
    "exit_code": "an exit code",
    "structure": "a value in the result that says so",
    "text": "a line of the result that can only mean this",
    "none": "nothing: no verdict",
}
_LEFT_OUT = {"denied": "refused by a person or a rule", "interrupted": "cut off", "unknown": "nothing tells"}


class PageContext(NamedTuple):
    """What the page needs beside the measures: its origin, the mistakes, and functions that give names."""

    made_by: str
    """What made the page, and when."""
    about: str
    """Which sessions, in words; empty for all."""
    mistakes: Sequence[Mistake]
    rungs: Mapping[str, int]
    agent: Callable[[str], str] = str
    project: Callable[[str], str] = str


def render_page(measured: Population, context: PageContext) -> str:
    """The whole document."""
    style = files("preheat.reports").joinpath("report.css").read_text(encoding="utf-8")
    about = f" · {context.about}" if context.about else ""
    body = tag(
        "main",
        tag("h1", "How reliable were the agents?"),
        tag("p", f"{context.made_by}{about}", class_="soft"),
        _tiles(measured),
        tag(
            "div",
            tag("p", tag("b", "Do agents get better within a session? "), measured.marathon.conclusion),
            class_="say",
        ),
        _lengths(measured),
        _places(measured),
        _tools(measured),
        _mistakes(context),
        _marathon(measured, context),
        _groups(measured, context),
        _judging(measured, context),
        tag("footer", "Written by Preheat on this machine. The page needs no network and contains no script."),
    )
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>How reliable were the agents?</title><style>\n{style}</style></head>"
    )
    return f"{head}<body>{body}</body></html>\n"


def _section(title: str, *inside: object) -> Html:
    return tag("section", tag("h2", title), *inside)


def _soft(*inside: object) -> Html:
    return tag("p", *inside, class_="soft")


def _tiles(measured: Population) -> Html:
    errors, mistakes = measured.overall.errors, measured.overall.mistakes

    def tile(value: str, *lines: str) -> Html:
        return tag("div", tag("b", value), *(tag("span", each) for each in lines), class_="tile")

    def bounds(low: float | None, high: float | None) -> str:
        return f"95 % interval {interval_text(low, high)} %" if low is not None else "too little data for an interval"

    return tag(
        "div",
        tile(percent(errors.value), "of calls failed", bounds(errors.low, errors.high)),
        tile(percent(mistakes.value), "by the agent's own mistake", bounds(mistakes.low, mistakes.high)),
        tile(f"{measured.sessions:,}", "sessions", f"{measured.overall.sessions:,} with judged calls"),
        tile(f"{measured.calls:,}", "calls", f"{errors.total:,} judged"),
        class_="tiles",
    )


def _key(*kinds: tuple[str, str]) -> Html:
    return tag("div", *(tag("span", tag("i", class_=kind), label) for kind, label in kinds), class_="key")


_BOTH = _key(("all", "all failures"), ("mistake", "the agent's own mistakes"))


def _lengths(measured: Population) -> Html:
    return _section(
        "By length of session",
        _soft("Sessions by their number of messages. The dot is the rate, the line its 95 % interval."),
        _BOTH,
        _rates("messages", measured.marathon.buckets, str),
        _soft(
            "With every project weighing the same, because a few hold most calls: ",
            "; ".join(
                f"{each.name} {percent(each.errors.value)}{_reach(each.errors)} failed, {percent(each.mistakes.value)} mistakes, "
                f"{each.projects} projects"
                if each.errors.value is not None
                else f"{each.name} too little data ({each.projects} projects)"
                for each in measured.even[1:]
            ),
            ".",
        ),
    )


def _reach(estimate: IntervalEstimate) -> str:
    return f" ({interval_text(estimate.low, estimate.high)})" if estimate.low is not None else ""


def _rates(title: str, cells: Sequence[PopulationCell], name_of: Callable[[str], str]) -> Html:
    top = axis_end([rate for cell in cells for rate in (cell.errors, cell.mistakes)])
    head = tag(
        "tr", tag("th", title), tag("th", f"0 to {percent(top)}", class_="chart"), _th("failed"), _th("95 %"),
        _th("mistakes"), _th("95 %", "less"), _th("calls", "less"), _th("sessions", "less"),
    )  # fmt: skip
    rows = [
        tag(
            "tr",
            tag("td", name_of(cell.name), class_="name"),
            tag("td", interval_chart(cell, top), class_="chart"),
            *_numbers(cell),
            class_="" if cell.has_enough_data else "few",
        )
        for cell in cells
    ]
    return tag("table", head, *rows)


def _th(title: str, more: str = "") -> Html:
    return tag("th", title, class_=f"number {more}".strip())


def _td(value: str, more: str = "") -> Html:
    return tag("td", value, class_=f"number {more}".strip())


def _numbers(cell: PopulationCell) -> list[Html]:
    few = "" if cell.has_enough_data else "too few" if cell.errors.total else "none"
    return [
        _td(percent(cell.errors.value)), _td(few or interval_text(cell.errors.low, cell.errors.high)),
        _td(percent(cell.mistakes.value)), _td(interval_text(cell.mistakes.low, cell.mistakes.high), "less"),
        _td(f"{cell.errors.total:,}", "less"), _td(f"{cell.sessions:,}", "less"),
    ]  # fmt: skip


def _places(measured: Population) -> Html:
    if len(measured.windows) < 2:
        return Html("")
    last = measured.windows[-1].name
    middle = measured.windows[len(measured.windows) // 2].name
    return _section(
        "By place in the session",
        _soft(
            "Every call by the message at which it was made, 25 messages a step, over all sessions. Sessions that end drop out "
            "to the right, so this mixes change with selection; the answer further down does not."
        ),
        _BOTH,
        tag(
            "figure",
            curve(
                measured.windows, "Rates by place in messages", (f"message {measured.windows[0].name}", middle, last)
            ),
        ),
        tag("h3", "As a share of the session"),
        tag("figure", curve(measured.tenths, "Rates by tenth of the session", ("beginning", "middle", "end"))),
    )


def _tools(measured: Population) -> Html:
    cells = measured.tools.cells
    top = axis_end([cell.errors for cell in cells])
    kinds = [("mistake", "mistake"), ("finding", "finding (failing test and the like)"), ("environment", "environment")]
    if measured.causes.get("unknown"):
        kinds.append(("unknown", "unknown"))
    head = tag(
        "tr", tag("th", "tool"), tag("th", f"0 to {percent(top)}", class_="chart"), _th("failed"), _th("95 %"),
        _th("mistakes"), _th("95 %", "less"), _th("calls", "less"), _th("sessions", "less"),
    )  # fmt: skip
    rows = [
        tag(
            "tr",
            tag("td", tag("code", cell.name or "(no name)"), class_="name"),
            tag("td", cause_bar(cell, top), class_="chart"),
            *_numbers(cell),
            class_="" if cell.has_enough_data else "few",
        )
        for cell in cells
    ]
    return _section(
        "By tool", _soft("Failures split by cause."), _key(*kinds), tag("table", head, *rows), _rest(measured.tools)
    )


def _rest(group: PopulationGroup) -> Html:
    if not group.left_out:
        return Html("")
    return _soft(f"And {group.left_out:,} more with {group.left_out_calls:,} calls.")


def _groups(measured: Population, context: PageContext) -> Html:
    parts: list[Html] = []
    for title, group, name_of in (
        ("agent", measured.agents, context.agent),
        ("model", measured.models, lambda name: name or "(no model recorded)"),
        ("project", measured.projects, lambda name: context.project(name) if name else "(no project recorded)"),
        ("kind of work", measured.activities, str),
    ):
        parts += [_rates(title, group.cells, name_of), _rest(group)]
    return _section("By agent, model, project and kind of work", _BOTH, *parts)


# The marathon question.
def _marathon(measured: Population, context: PageContext) -> Html:
    pooled = measured.marathon
    answers = [answer for answer in measured.by_agent if answer.errors.verdict != "too_little_data"]
    too_small = len(measured.by_agent) - len(answers)
    return _section(
        "Do agents get better within a session?",
        tag("h3", "All failures"),
        tag("ul", *(tag("li", sentence) for sentence in pooled.errors.words)),
        tag("h3", "The agent's own mistakes"),
        tag("ul", *(tag("li", sentence) for sentence in pooled.mistakes.words)),
        tag("h3", "In numbers"),
        _parts(pooled),
        *_by_agent(answers, context),
        _soft(f"{too_small} more with too few sessions, calls or failures to say anything.")
        if too_small and answers
        else "",
    )


def _parts(pooled: Marathon) -> Html:
    rows: list[tuple[str, Callable[[MarathonAnswer], IntervalEstimate]]] = [
        ("(a) over 100 messages against up to 50", lambda answer: answer.raw),
        ("(a) 51 to 100 messages against up to 50", lambda answer: answer.middle),
        ("(a) over 100 against up to 50, inside each agent", lambda answer: answer.within_agents),
        ("(b) first 50 messages: over 100 against up to 50", lambda answer: answer.selection),
        ("(b) first 50 messages: over 100 against up to 100", lambda answer: answer.selection_hundred),
        ("(b) long sessions: all messages against the first 50", lambda answer: answer.later),
        ("(c) per 100 messages, over the first 200, same session and work", lambda answer: answer.slope.change),
        ("(c) the same, whatever the work", lambda answer: answer.slope_any_work.change),
        ("(c) per 100 messages, over all of them, same session and work", lambda answer: answer.slope_all.change),
    ]
    rows += [
        (f"(c) check: {check.name}", lambda answer, place=place: answer.checks[place].change)  # type: ignore[misc]
        for place, check in enumerate(pooled.errors.checks)
    ]
    head = tag("tr", tag("th", "difference in points (95 % interval)"), _th("all failures"), _th("mistakes"))
    body = [
        tag("tr", tag("td", title), *(_td(str(part(each))) for each in (pooled.errors, pooled.mistakes)))
        for title, part in rows
    ]
    return tag("table", head, *body, class_="wrap")


def _by_agent(answers: Sequence[Marathon], context: PageContext) -> list[Html]:
    if not answers:
        return []
    head = tag("tr", tag("th", "agent"), _th("all failures"), _th("mistakes"))
    rows = [
        tag(
            "tr",
            tag("td", context.agent(answer.agent), class_="name"),
            _td(str(answer.errors.slope.change)),
            _td(str(answer.mistakes.slope.change)),
        )
        for answer in answers
    ]
    words = [tag("li", tag("b", context.agent(answer.agent)), ": ", answer.conclusion) for answer in answers]
    title = "Change per 100 messages by agent (over the first 200, same work)"
    return [tag("h3", title), tag("table", head, *rows, class_="wrap"), tag("ul", *words)]


# What goes wrong, and how it is known.
def _mistakes(context: PageContext) -> Html:
    title = "Mistakes that come back"
    if not context.mistakes:
        return _section(title, _soft("No mistake was met in more than one session."))
    head = tag(
        "tr",
        tag("th", "what the tool said"),
        _th("calls"),
        _th("sessions"),
        _th("time lost", "less"),
        tag("th", "usual repair", class_="less repair"),
    )
    rows = [
        tag(
            "tr",
            tag("td", tag("code", _cut(each.title, 160)), tag("div", f"{each.family} · {each.cause}", class_="soft")),
            _td(f"{each.calls:,}"),
            _td(f"{len(each.sessions):,}"),
            _td(_minutes(each.seconds), "less"),
            tag("td", _repair(each), class_="less repair"),
        )
        for each in context.mistakes[:MISTAKES]
    ]
    more = len(context.mistakes) - len(rows)
    return _section(
        title,
        _soft(
            "Failures with the same message in several sessions, numbers, paths and names masked. "
            "Failing tests are work, not mistakes."
        ),
        tag("table", head, *rows),
        _soft(f"And {more:,} more; ", tag("code", "preheat mistakes"), " shows them with their sessions.")
        if more
        else "",
    )


def _repair(mistake: Mistake) -> Html:
    if mistake.repair is None:
        return tag("span", "none seen", class_="soft")
    worked = f"in {mistake.repair.count:,} of {mistake.calls:,} cases"
    return join([tag("code", _cut(mistake.repair.form, 90)), tag("div", worked, class_="soft")])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def _minutes(seconds: float) -> str:
    return "–" if seconds < 1 else f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:,.0f} min"


def _judging(measured: Population, context: PageContext) -> Html:
    total = sum(context.rungs.values())
    rungs = [
        tag("li", f"{_RUNGS[rung]}: {context.rungs[rung]:,} calls ({100 * context.rungs[rung] / total:.0f} %)")
        for rung in RUNGS
        if context.rungs.get(rung)
    ]
    left_out = [
        f"{measured.statuses[status]:,} {words}" for status, words in _LEFT_OUT.items() if status in measured.statuses
    ]
    return _section(
        "How this is known",
        tag("p", "Every call is judged by the best evidence there is, never by a word somewhere in its output:"),
        tag("ul", *rungs) if rungs else "",
        tag(
            "p",
            f"In no rate: {', '.join(left_out) or 'no call'}; {measured.bookkeeping_calls:,} calls that are the agent's notes "
            "to itself.",
        ),
        tag(
            "p",
            f"Intervals are for whole sessions drawn anew ({measured.resamples:,} times), because calls of one "
            "session are alike. Slopes are least squares within sessions, robust for the same reason. Sessions were observed, "
            "not randomised: differences between agents, models or tools are also differences of the work they were given.",
        ),
        tag("h3", "Too little data"),
        tag("ul", *(tag("li", sentence) for sentence in measured.too_little))
        if measured.too_little
        else _soft("Nothing was left unsaid for want of data."),
        _soft("Rates in italics rest on fewer than 5 sessions or 30 judged calls; they have no interval."),
    )
