"""`preheat warm auto`: a template for each project, from its best sessions. What makes one of the best is in
`preheat.templates.choice`."""

from typing import TYPE_CHECKING, Any

import click

from preheat.amounts import format_reasons
from preheat.app.templates.library import BestRule
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive
from preheat.cli.options import AgentName, DateOption
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.template_making import show_built_template, template_json
from preheat.cli.template_names import make_template_filter
from preheat.cli.text import count

if TYPE_CHECKING:  # what takes SQLAlchemy to load
    from preheat.app.templates.building import BuiltTemplate, Group

_SHOWN = 5


@click.command(
    "auto",
    cls=ExampleCommand,
    epilog="""\
  preheat warm auto                          every project that has three good sessions
  preheat warm auto --project . --dry-run    which sessions it would use, and why not the others
  preheat warm auto --max-mistakes 0.15      also use sessions with some more mistakes

A session is one of the best if it has enough calls, the upper end of the 95 % interval of its mistake rate is low (so a
short session must be cleaner than a long one), and its last test, build, lint or type check passed.""",
)
@click.option("--agent", type=AgentName(), metavar="NAME", help="Only this agent's sessions.")
@click.option("--project", metavar="TEXT", help="Only projects with this in their path; `.` is here.")
@click.option("--since", type=DateOption(), metavar="DATE", help="Only sessions that ended after: 2026-01-31, 7d, 2w.")
@click.option(
    "--min-calls",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="The fewest calls a session may have.",
)
@click.option(
    "--max-mistakes", type=click.FloatRange(0, 1), default=0.1, show_default=True, metavar="SHARE",
    help="The highest mistake rate a session may have, by the upper end of its interval.",
)  # fmt: skip
@click.option("--max-misuse", "old_name", type=click.FloatRange(0, 1), hidden=True)
@click.option(
    "--min-sessions", type=click.IntRange(1), default=3, show_default=True, metavar="N",
    help="The fewest good sessions a template needs.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show which sessions it would use.")
@json_option
def auto_command(
    min_calls: int,
    max_mistakes: float,
    old_name: float | None,
    min_sessions: int,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Make a template for each project from its best sessions."""
    highest = max_mistakes if old_name is None else old_name  # `--max-misuse` was the name in version 0.1
    rule = BestRule(min_calls=min_calls, max_mistakes=highest, min_sessions=min_sessions)
    library = open_analysed_archive().library
    groups = library.find_best_sessions(make_template_filter(options), rule)
    made = [] if dry_run else library.build_from_best(groups, rule)
    if as_json:
        print_json(
            {"templates": [template_json(each) for each in made], "projects": [_group_json(each) for each in groups]}
        )
    else:
        _show_best(groups, made, rule, dry_run)
    return 0


def _group_json(group: "Group") -> dict[str, Any]:
    return {
        "project": group.project,
        "enough": group.enough,
        "sessions": [
            {"key": each.key, "calls": each.profile.calls, "mistakes": each.profile.mistakes}
            for each in group.choice.chosen
        ],
        "skipped": group.choice.skipped,
    }


def _show_best(groups: "list[Group]", made: "list[BuiltTemplate]", rule: BestRule, dry_run: bool) -> None:
    screen = console()
    results = iter(made)
    for group in groups:
        if not group.choice.chosen:
            continue
        sessions = count(len(group.choice.chosen), "good session")
        say(
            screen,
            f"{clean(group.project)}: {sessions}" + ("" if group.enough else f", {rule.min_sessions} are needed"),
        )
        if not group.enough and not group.choice.skipped:
            continue
        if not group.enough:
            say(screen, f"  the others: {format_reasons(group.choice.skipped)}", "dim")
            continue
        for each in group.choice.chosen[:_SHOWN]:
            rate = each.profile.mistakes
            calls, mistakes = count(each.profile.calls, "call"), count(rate.count, "mistake")
            facts = f"{calls}, {mistakes} (at most {rate.high:.0%}), last check passed"
            say(screen, f"  {each.key}  {facts}", "dim")
        if len(group.choice.chosen) > _SHOWN:
            say(screen, f"  and {len(group.choice.chosen) - _SHOWN} more", "dim")
        if not dry_run:
            result = next(results)
            if result.kept.digest:
                show_built_template(result, "Built")
            else:
                say(screen, "  they taught nothing worth a template", "yellow")
    if without := sum(not group.choice.chosen for group in groups):
        say(screen, f"{count(without, 'project')} without any good session (`--json` says why)", "dim")
    if not any(group.enough for group in groups):
        hint(f"No project has {rule.min_sessions} sessions that are good enough; `--max-mistakes 0.2` accepts more.")
