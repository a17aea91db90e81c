"""The commands that make templates: `preheat templates extract`, `build`, `auto` and `train`.

Knows nothing of how lessons are chosen.
"""

import os
from typing import TYPE_CHECKING, Any

import click

from preheat.amounts import format_reasons
from preheat.app.templates.library import BestRule, Request, SessionRule
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive, open_preheat
from preheat.cli.options import AgentName, DateOption, SessionName
from preheat.cli.progress import RunProgress
from preheat.cli.screen import clean, console, hint, plain_table, print_json, print_table, say
from preheat.cli.template_names import count_by_kind, make_template_filter
from preheat.cli.text import count, day, printable

if TYPE_CHECKING:
    from preheat.app.lab.training import TrainingResult
    from preheat.app.templates.build import BuiltTemplate, Group


# The report of a template that was made
def template_json(made: "BuiltTemplate") -> dict[str, Any]:
    """The template and what was left out, for JSON."""
    template = made.built.template
    return {
        "name": template.name,
        "digest": made.kept.digest,
        "new": made.kept.new,
        "lessons": len(template.lessons),
        "extraction": template.extraction,
        "left_out": made.built.left_out,
    }


def show_built_template(made: "BuiltTemplate", verb: str) -> None:
    """Print what was made, from which sessions, and what was left out."""
    screen, template = console(), made.built.template
    version = f"`{template.name}` {made.kept.short}"
    facts = template.extraction
    if not made.kept.new:
        say(screen, f"Nothing changed: {version} has all of it already.")
    else:
        say(screen, f"{verb} {version}: {count(len(template.lessons), 'lesson')} ({count_by_kind(template)})", "bold")
    rates = f", {facts.mistake_rate:.1%} mistakes" if facts.mistake_rate is not None else ""
    say(screen, f"  from {count(facts.sessions, 'session')}, {count(facts.calls, 'call')}{rates}")
    if facts.skipped:
        say(screen, f"  sessions left out: {format_reasons(facts.skipped)}", "dim")
    if made.built.left_out:
        say(screen, f"  lessons left out: {format_reasons(made.built.left_out)}", "dim")
    if made.kept.new:
        hint(f"`preheat templates show {template.name}` shows it.")


# `preheat templates extract`
@click.command(
    "extract",
    cls=ExampleCommand,
    epilog="""\
  preheat templates extract latest --name login
  preheat templates extract 0f3c1a2b --name login --description "how the login tests are run"

One session is little evidence; its lessons are included all the same, because you chose the session.""",
)
@click.argument("session", type=SessionName())
@click.option("--name", metavar="NAME", help="The template's name.  [default: from the project and the session's id]")
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@click.option("--addendum", default="", metavar="TEXT", help="Your own text, placed before everything else.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by (repeatable).")
@json_option
def extract_command(
    session: str, name: str | None, description: str, addendum: str, tags: tuple[str, ...], as_json: bool
) -> int:
    """Make a template from one session.

    SESSION is an id, the beginning of one, or `latest`.
    """
    made = open_analysed_archive().library.extract(session, name or "", description, addendum, tags)
    if as_json:
        print_json(template_json(made))
    else:
        show_built_template(made, "Extracted")
    return 0


# `preheat templates build`
@click.command(
    "build",
    cls=ExampleCommand,
    epilog="""\
  preheat templates build mine --project .                   from the sessions of this project
  preheat templates build mine --project . --since 30d --max-error-rate 0.2
  preheat templates build long --min-messages 100 --max-sessions 20 --tag terminal

Building again changes nothing if nothing is new; else the name gets a new version, and the old one stays in its history.""",
)
@click.argument("name")
@click.option("--agent", type=AgentName(), metavar="NAME", help="Only this agent's sessions.")
@click.option("--project", metavar="TEXT", help="Only projects with this in their path; `.` is here.")
@click.option("--since", type=DateOption(), metavar="DATE", help="Only sessions that ended after: 2026-01-31, 7d, 2w.")
@click.option(
    "--min-messages",
    type=click.IntRange(0),
    default=30,
    show_default=True,
    metavar="N",
    help="The fewest messages a session may have.",
)
@click.option(
    "--max-sessions", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="Only the newest N."
)
@click.option(
    "--max-error-rate", type=click.FloatRange(0, 1), default=0.5, show_default=True, metavar="SHARE",
    help="Leave out sessions in which more of the calls failed.",
)  # fmt: skip
@click.option("--weak", is_flag=True, help="Include lessons with little evidence, too.")
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@click.option("--addendum", default="", metavar="TEXT", help="Your own text, placed before everything else.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by (repeatable).")
@json_option
def build_command(
    name: str,
    min_messages: int,
    max_sessions: int,
    max_error_rate: float,
    weak: bool,
    description: str,
    addendum: str,
    tags: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Make a template from many sessions."""
    filters = {key: day(value) if key == "since" else value for key, value in options.items() if value}
    request = Request(name=name, description=description, addendum=addendum, tags=tags, weak=weak, filters=filters)
    rule = SessionRule(min_messages=min_messages, max_sessions=max_sessions, max_error_rate=max_error_rate)
    made = open_analysed_archive().library.build(request, make_template_filter(options), rule)
    if as_json:
        print_json(template_json(made))
    else:
        show_built_template(made, "Built")
    return 0


# `preheat templates auto`
_SHOWN = 5


@click.command(
    "auto",
    cls=ExampleCommand,
    epilog="""\
  preheat templates auto                          every project that has three good sessions
  preheat templates auto --project . --dry-run    which sessions it would use, and why not the others
  preheat templates auto --max-mistakes 0.15      also use sessions with some more mistakes

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


# `preheat templates train`
_STRATEGIES = ("none", "mask", "headtail", "markers")
_ENOUGH_TASKS = 10
"""With fewer tasks, little of what is learned holds elsewhere."""


@click.command(
    "train",
    cls=ExampleCommand,
    epilog="""\
  preheat templates train basics --suite tasks.yaml --agent NAME
  preheat templates train basics --suite tasks.yaml --agent NAME --project . --limit 3
  preheat templates train basics --suite tasks.yaml --agent NAME --model MODEL -- --an-option-of-the-agent

A suite, in YAML or JSON:

  name: basics
  tasks:
    - id: failing-test
      prompt: The test fails. Find out why and repair it.
      setup: git clone -q ~/code/example . && git checkout -q broken
      verify: python -m pytest -q
      timeout: 300

`setup` and `verify` are shell commands that run as you, and the agent has the permissions that it has without a terminal: run
only suites that you have read. Each task has a temporary folder of its own. Your agent's model may cost money. An interrupted
training continues when the same command is run again.""",
)
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[-- AGENT'S OPTIONS]")
@click.option("--suite", "path", required=True, type=click.Path(), metavar="FILE", help="The tasks, as YAML or JSON.")
@click.option(
    "--agent",
    required=True,
    type=AgentName(lambda: open_preheat().training.agents(), "Preheat can start"),
    metavar="NAME",
    help="The agent that does the tasks.",
)
@click.option("--program", metavar="PATH", help="The agent's program, where it is not on the PATH.")
@click.option("--model", default="", metavar="NAME", help="The model, as the agent calls it.")
@click.option(
    "--project", type=click.Path(), metavar="FOLDER", help="Work in copies of this folder, not in empty ones."
)
@click.option(
    "--strategy", type=click.Choice(_STRATEGIES), default="markers", show_default=True,
    help="How the sessions are compressed before they are stored.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N tasks.")
@click.option(
    "--timeout", type=click.FloatRange(1), default=600, show_default=True, metavar="S",
    help="Seconds for a task without its own timeout.",
)  # fmt: skip
@click.option("--keep-work", is_flag=True, help="Keep the folders of the tasks.")
@json_option
def train_command(name: str, path: str, limit: int | None, strategy: str, as_json: bool, **settings: Any) -> int:
    """Run a suite of tasks with a real agent, and keep what it learned.

    The sessions go into the archive, are compressed so that what the agent learned remains, and become a version of the
    template NAME. Tasks that fail are left out; if all fail, nothing is stored.
    """
    training = open_preheat().training
    suite = training.read_suite(path, limit)
    settings = {each: value or "" if each in ("program", "project") else value for each, value in settings.items()}
    with RunProgress(as_json) as progress:
        outcome = training.train(name, suite, strategy=strategy, progress=progress, **settings)
    if as_json:
        print_json(_training_json(name, outcome, strategy))
    else:
        _show_training(name, outcome, settings["keep_work"])
    return 0 if all(run.is_good for run in outcome.runs) else 1


def _training_json(name: str, outcome: "TrainingResult", strategy: str) -> dict[str, Any]:
    return {
        "name": name,
        "digest": outcome.digest,
        "strategy": strategy,
        "tasks": [
            {
                "id": run.task,
                "status": run.status,
                "seconds": run.seconds,
                "sessions": outcome.sessions.get(run.task, []),
                **({"note": run.note} if run.note else {}),
            }
            for run in outcome.runs
        ],
        "tokens_before": outcome.before,
        "tokens_after": outcome.after,
        "markers": {sort: {"kept": each.kept, "total": each.total} for sort, each in outcome.markers.items()},
        "lessons": len(outcome.template.lessons),
        "examples": sum(lesson.example is not None for lesson in outcome.template.lessons),
        "left_out": outcome.left_out,
    }


def _show_training(name: str, outcome: "TrainingResult", keep_work: bool) -> None:
    table = plain_table(padding=(0, 3, 0, 0))
    for title in ("task", "", "seconds", "session"):
        table.add_column(title, justify="right" if title == "seconds" else "left")
    for run in outcome.runs:
        keys = ", ".join(outcome.sessions.get(run.task, []))
        table.add_row(run.task, run.status, f"{run.seconds:.0f}", printable(keys or run.note[-80:]))
    print_table(console(), table)
    kept = {sort: each for sort, each in outcome.markers.items() if each.total}
    markers = ", ".join(f"{each.kept} of {each.total} {sort}" for sort, each in kept.items())
    share = f" ({outcome.after / outcome.before:.0%})" if outcome.before else ""
    print(f"\nCompressed: {outcome.before:,} tokens to {outcome.after:,}{share}; kept {markers or 'no marker'}.")
    lessons = outcome.template.lessons
    examples = sum(lesson.example is not None for lesson in lessons)
    print(f"Kept `{name}@{outcome.digest[:12]}`: {count(len(lessons), 'lesson')}, {examples} of them examples.")
    if keep_work:
        print(
            f"The folders of the tasks are below `{printable(os.path.dirname(os.path.dirname(outcome.runs[0].folder)))}`."
        )
    if len(outcome.runs) < _ENOUGH_TASKS:
        hint(
            f"{count(len(outcome.runs), 'task')}: with ten or more of different kinds, what is learned holds more widely."
        )
    hint(f'`preheat templates test {name} "a task"` shows what a session would get.')
