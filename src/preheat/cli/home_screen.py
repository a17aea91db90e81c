"""The screen of plain `preheat`: reads what is new, then shows costs, mistakes to mend, the next session and the next step.

Finds nothing out itself.
"""

import sys
import textwrap
from typing import TYPE_CHECKING

from preheat.app.agents import title_of
from preheat.cli.exit_codes import NOT_DONE, print_failure
from preheat.cli.home import open_preheat
from preheat.cli.progress import Display
from preheat.cli.screen import clean, console, has_unicode, print_json, say
from preheat.cli.sync_report import exit_code, problem_lines
from preheat.cli.text import count, day, duration, one_line, short_path, tokens
from preheat.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.model.cost import Cost
    from preheat.model.home import HomeMistake, HomeSummary

_WIDEST = 110
"""Columns beyond which lines are hard to read."""
_NARROWEST = 20


def show_home(as_json: bool) -> int:
    """Read what is new, and show the first screen."""
    home = open_preheat()
    report, problem = None, ""
    try:
        with Display(quiet=as_json) as progress:
            report = home.read_news(progress)
    except UserError as error:  # what is there can be shown all the same
        if not home.has_archive():
            raise
        problem = str(error)
    found = home.home_summary()
    if problem:
        print_failure(f"nothing new was read: {problem}", NOT_DONE)
    if as_json:
        print_json(found)
    else:
        _show(_Page(console()), found)
    lines = problem_lines(report) if report is not None else []
    if lines and not as_json:
        print(lines[0], file=sys.stderr)
        if len(lines) > 1:
            print("preheat: not everything could be read; `preheat admin doctor` lists it", file=sys.stderr)
    return exit_code(report) if report is not None else 0


class _Page:
    """Lines that are wrapped to the window, each with an indent of its own."""

    def __init__(self, screen: "Console") -> None:
        self._screen = screen
        self.width = max(_NARROWEST, min(screen.width, _WIDEST))
        self.dot, self.arrow = ("·", "→") if has_unicode() else ("-", ">")

    def write(self, text: str = "", style: str = "", indent: int = 0, hang: int | None = None) -> None:
        """Print a text; the lines after the first are indented by `hang`."""
        room = max(10, self.width - indent)
        following = " " * (indent if hang is None else hang)
        lines = textwrap.wrap(
            clean(text), room + indent, initial_indent=" " * indent, subsequent_indent=following,
            break_long_words=True, break_on_hyphens=False,
        )  # fmt: skip
        for line in lines or [""]:
            say(self._screen, line, style)

    def write_command(self, text: str, indent: int) -> None:
        """Print a command as it is, on one line: it is copied."""
        say(self._screen, f"{' ' * indent}{clean(text)}", "green")


def _show(page: _Page, found: "HomeSummary") -> None:
    if found.archive is None or not found.archive.sessions:
        _show_nothing(page, found)
        return
    span = (
        f", {day(found.archive.first)} to {day(found.archive.last)}"
        if found.archive.first is not None and found.archive.last is not None
        else ""
    )
    page.write(f"Preheat knows {count(found.archive.sessions, 'session')} of your agents{span}", "bold")
    _show_costs(page, found)
    _show_mistakes(page, found)
    _show_next_session(page, found)
    if found.untrusted:
        page.write()
        page.write(found.untrusted, "yellow", hang=2)
    page.write()
    page.write(f"Did it help?  {found.effect}", hang=2)
    page.write()
    page.write(f"Next: {found.next_step.why}", "bold", hang=2)
    page.write_command(found.next_step.command, 2)


def _show_nothing(page: _Page, found: "HomeSummary") -> None:
    page.write("Preheat found no sessions of a coding agent.", "bold")
    page.write()
    page.write("It looked in:")
    for agent in found.agents:
        for place in agent.places:
            page.write(f"{short_path(place)}  ({agent.title})", "dim", indent=2, hang=4)
    page.write()
    page.write("Sessions that are elsewhere can be read, too:")
    page.write_command("preheat sync FOLDER", 2)
    page.write(f"Next: {found.next_step.why}", "bold", hang=2)
    page.write_command(found.next_step.command, 2)


# Costs
def _show_costs(page: _Page, found: "HomeSummary") -> None:
    page.write()
    if found.week is None:
        page.write("No tokens are recorded in the last sessions.")
    else:
        title = "This week" if found.week_is_current else f"The last week with sessions, to {day(found.week_until)}"
        page.write(f"{title}: {_describe_cost(page, found.week)}", "bold", hang=2)
        wasted = _describe_waste(found.week)
        if wasted:
            page.write(wasted, indent=2)
    if found.week_before is not None:
        page.write(f"The week before: {_describe_cost(page, found.week_before)}", "dim", indent=2, hang=4)
    if found.total is not None and found.total.responses:
        page.write(f"In all: {_describe_cost(page, found.total)}", "dim", indent=2, hang=4)
        unknown = f"; {tokens(found.total.unpriced)} tokens have no known price" if found.total.unpriced else ""
        page.write(f"List prices of {found.price_list}{unknown}.", "dim", indent=2, hang=4)


def _describe_cost(page: _Page, cost: "Cost") -> str:
    money = f"${cost.money:,.2f}" if cost.money or not cost.unpriced else "price not known"
    parts = [count(cost.sessions, "session"), f"{duration(cost.seconds)} of work", f"{tokens(cost.usage.total)} tokens"]
    return f" {page.dot} ".join([*parts, money])


def _describe_waste(cost: "Cost") -> str:
    parts = []
    if cost.failed_money >= 0.005:
        parts.append(f"${cost.failed_money:,.2f} for calls that failed")
    if cost.repeated_money >= 0.005:
        parts.append(f"${cost.repeated_money:,.2f} for calls made before")
    return f"Of it {' and '.join(parts)}." if parts else ""


# Mistakes
def _show_mistakes(page: _Page, found: "HomeSummary") -> None:
    page.write()
    if not found.repeated:
        page.write("No mistake was made in several sessions of the last month.", "bold")
        return
    amount = count(found.repeated, "mistake")
    page.write(
        f"{amount} came again within a month, in {count(found.repeated_calls, 'failed call')}; to mend first:"
        if found.mistakes
        else f"{amount} came again within a month; no way out of them stands out yet.",
        "bold",
        hang=2,
    )
    for number, mistake in enumerate(found.mistakes, 1):
        _show_mistake(page, number, mistake)
    if found.repeated > len(found.mistakes):
        page.write("`preheat mistakes` shows them all.", "dim", indent=2)


def _show_mistake(page: _Page, number: int, mistake: "HomeMistake") -> None:
    page.write(f"{number}  {one_line(mistake.title, 2 * page.width)}", indent=2, hang=5)
    cost = [f"{count(mistake.calls, 'call')} in {count(mistake.sessions, 'session')}"]
    cost += [duration(mistake.seconds)] if mistake.seconds >= 1 else []
    cost += [f"{tokens(mistake.tokens)} tokens"] if mistake.tokens else []
    page.write(f" {page.dot} ".join(cost), "dim", indent=5)
    page.write(f"It works {mistake.repair} ({mistake.worked} of {mistake.calls} times).", indent=5)
    page.write_command(mistake.command, 5)


# The next session
def _show_next_session(page: _Page, found: "HomeSummary") -> None:
    page.write()
    following = found.next_session
    place = short_path(following.folder)
    if not following.sentences:
        page.write(f"The next session in {place} would be told nothing", "bold", hang=2)
        page.write(following.reason or "nothing was learned here yet", "dim", indent=2)
        return
    page.write(f"The next session in {place} would be told (about {following.tokens} tokens)", "bold", hang=2)
    for sentence in following.sentences:
        page.write(f"{page.dot} {one_line(sentence, 3 * page.width)}", indent=2, hang=4)
    if not found.installed:
        agents = ", ".join(map(title_of, found.installable)) or "an agent with hooks"
        page.write(f"It is not, yet: nothing calls Preheat. It can be installed in {agents}.", "dim", indent=2)
