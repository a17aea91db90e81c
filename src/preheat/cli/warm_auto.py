"""`preheat warm auto`: a template for each project, from its best sessions. What makes one of the best is in
`preheat.templates.choice`."""

from typing import Any

import click

from preheat.amounts import by_reason
from preheat.app.templates.building import Group, Made
from preheat.app.templates.library import Best
from preheat.cli.home import analysed
from preheat.cli.options import AgentName, Examples, When, json_option
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.template_making import made_value, say_made
from preheat.cli.template_names import filter_of
from preheat.cli.text import count

_SHOWN = 5


@click.command(
    cls=Examples,
    epilog="""\
  preheat warm auto                          every project that has three good sessions
  preheat warm auto --project . --dry-run    which ones they would be, and why the others are not
  preheat warm auto --max-mistakes 0.15      take in sessions with some more mistakes

A session is one of the best if it has enough calls, the upper end of the 95 % interval of its mistake rate is low (so a short
session must be cleaner than a long one), and the last test, build, lint or type check in it passed.""",
)
@click.option("--agent", type=AgentName(), metavar="NAME", help="Only this agent's sessions.")
@click.option("--project", metavar="TEXT", help="Only where the project's path holds this; `.` is here.")
@click.option("--since", type=When(), metavar="DATE", help="Only what ended after: 2026-01-31, 7d, 2w.")
@click.option("--min-calls", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="So many calls.")
@click.option(
    "--max-mistakes", "--max-misuse", "max_mistakes", type=click.FloatRange(0, 1), default=0.1, show_default=True,
    metavar="SHARE", help="The highest mistake rate a session may have, by the upper end of its interval.",
)  # fmt: skip
@click.option(
    "--min-sessions", type=click.IntRange(1), default=3, show_default=True, metavar="N",
    help="So many good sessions make a template.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only say which sessions it would be.")
@json_option
def command(
    min_calls: int, max_mistakes: float, min_sessions: int, dry_run: bool, as_json: bool, **options: Any
) -> int:
    """Make a template for each project from its best sessions."""
    rule = Best(min_calls=min_calls, max_mistakes=max_mistakes, min_sessions=min_sessions)
    library = analysed().library
    groups = library.find_best(filter_of(options), rule)
    made = [] if dry_run else library.build_best(groups, rule)
    if as_json:
        print_json({"templates": [made_value(each) for each in made], "projects": [_value(each) for each in groups]})
    else:
        _show(groups, made, rule, dry_run)
    return 0


def _value(group: Group) -> dict[str, Any]:
    return {
        "project": group.project,
        "enough": group.enough,
        "sessions": [
            {"key": each.key, "calls": each.profile.calls, "mistakes": each.profile.mistakes}
            for each in group.choice.chosen
        ],
        "skipped": group.choice.skipped,
    }


def _show(groups: list[Group], made: list[Made], rule: Best, dry_run: bool) -> None:
    screen = console()
    results = iter(made)
    for group in groups:
        if not group.choice.chosen:
            continue
        sessions = count(len(group.choice.chosen), "good session")
        say(
            screen,
            f"{clean(group.project)}: {sessions}" + ("" if group.enough else f", {rule.min_sessions} are wanted"),
        )
        if not group.enough and not group.choice.skipped:
            continue
        if not group.enough:
            say(screen, f"  the others: {by_reason(group.choice.skipped)}", "dim")
            continue
        for each in group.choice.chosen[:_SHOWN]:
            rate = each.profile.mistakes
            facts = f"{count(each.profile.calls, 'call')}, {rate.count} mistakes (at most {rate.high:.0%}), last check passed"
            say(screen, f"  {each.key}  {facts}", "dim")
        if len(group.choice.chosen) > _SHOWN:
            say(screen, f"  and {len(group.choice.chosen) - _SHOWN} more", "dim")
        if not dry_run:
            result = next(results)
            if result.kept.digest:
                say_made(result, "Built")
            else:
                say(screen, "  they taught nothing that is worth a template", "yellow")
    if without := sum(not group.choice.chosen for group in groups):
        say(screen, f"{count(without, 'project')} without any good session (`--json` says why)", "dim")
    if not any(group.enough for group in groups):
        hint(f"No project has {rule.min_sessions} sessions that are good enough; `--max-mistakes 0.2` asks for less.")
