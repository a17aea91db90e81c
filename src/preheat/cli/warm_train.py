"""`preheat warm train`: runs a suite of tasks with a real agent, and keeps what it learned as a template.

The work is done by `preheat.app.lab.training`; this reads the options and shows how it goes.
"""

import os
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from preheat.cli.home import home
from preheat.cli.interrupts import ending_is_interrupting
from preheat.cli.lab_progress import RunProgress
from preheat.cli.options import AgentName, Examples, json_option
from preheat.cli.screen import console, hint, print_json, print_table
from preheat.cli.text import count, printable

if TYPE_CHECKING:
    from preheat.app.lab.training import Outcome

_STRATEGIES = ("none", "mask", "headtail", "markers")
_GOOD = 10
"""Fewer tasks teach little that holds elsewhere."""


@click.command(
    "train",
    cls=Examples,
    epilog="""\
  preheat warm train basics --suite tasks.yaml --agent NAME
  preheat warm train basics --suite tasks.yaml --agent NAME --project . --limit 3
  preheat warm train basics --suite tasks.yaml --agent NAME --model MODEL -- --an-option-of-the-agent

A suite, in YAML or JSON:

  name: basics
  tasks:
    - id: failing-test
      prompt: The test fails. Find out why and repair it.
      setup: git clone -q ~/code/example . && git checkout -q broken
      verify: python -m pytest -q
      timeout: 300

`setup` and `verify` are shell commands of yours, and the agent works with the permissions it has without a terminal: run
suites that you have read. Each task has a folder of its own that is thrown away. Your agent's model is asked, and may cost.
One that was interrupted goes on where it stopped when it is started again in the same way.""",
)
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[-- AGENT'S OPTIONS]")
@click.option("--suite", "path", required=True, type=click.Path(), metavar="FILE", help="The tasks, as YAML or JSON.")
@click.option(
    "--agent",
    required=True,
    type=AgentName(lambda: home().training.agents(), "Preheat can start"),
    metavar="NAME",
    help="Which agent does them.",
)
@click.option("--program", metavar="PATH", help="The agent's program, where it is not on the PATH.")
@click.option("--model", default="", metavar="NAME", help="The model, as the agent calls it.")
@click.option(
    "--project", type=click.Path(), metavar="FOLDER", help="Work in copies of this folder, not in empty ones."
)
@click.option(
    "--strategy", type=click.Choice(_STRATEGIES), default="markers", show_default=True,
    help="How the sessions are made shorter before they are kept.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first so many tasks.")
@click.option(
    "--timeout", type=click.FloatRange(1), default=600, show_default=True, metavar="S",
    help="Seconds for a task that does not say.",
)  # fmt: skip
@click.option("--keep-work", is_flag=True, help="Leave the folders of the tasks where they are.")
@json_option
def train_command(name: str, path: str, limit: int | None, strategy: str, as_json: bool, **given: Any) -> int:
    """Run a suite of tasks with a real agent, and keep what it learned.

    The sessions go into the archive, are made shorter so that what the agent learned remains, and become a version of
    the template NAME. Tasks that do not end well are left out; if none does, nothing is kept.
    """
    training = home().training
    suite = training.suite(path, limit)
    given = {each: value or "" if each in ("program", "project") else value for each, value in given.items()}
    with RunProgress(as_json) as progress, ending_is_interrupting():
        outcome = training.train(name, suite, strategy=strategy, progress=progress, **given)
    if as_json:
        print_json(_figures(name, outcome, strategy))
    else:
        _show(name, outcome, given["keep_work"])
    return 0 if all(ran.good for ran in outcome.ran) else 1


def _figures(name: str, outcome: "Outcome", strategy: str) -> dict[str, Any]:
    return {
        "name": name,
        "digest": outcome.digest,
        "strategy": strategy,
        "tasks": [
            {
                "id": ran.task,
                "status": ran.status,
                "seconds": ran.seconds,
                "sessions": outcome.sessions.get(ran.task, []),
                **({"note": ran.note} if ran.note else {}),
            }
            for ran in outcome.ran
        ],
        "tokens_before": outcome.before,
        "tokens_after": outcome.after,
        "markers": {sort: {"kept": each.kept, "total": each.total} for sort, each in outcome.markers.items()},
        "lessons": len(outcome.template.lessons),
        "examples": sum(lesson.example is not None for lesson in outcome.template.lessons),
        "left_out": outcome.left_out,
    }


def _show(name: str, outcome: "Outcome", keep_work: bool) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title in ("task", "", "seconds", "session"):
        table.add_column(title, justify="right" if title == "seconds" else "left")
    for ran in outcome.ran:
        keys = ", ".join(outcome.sessions.get(ran.task, []))
        table.add_row(ran.task, ran.status, f"{ran.seconds:.0f}", printable(keys or ran.note[-80:]))
    print_table(console(), table)
    kept = {sort: each for sort, each in outcome.markers.items() if each.total}
    told = ", ".join(f"{each.kept} of {each.total} {sort}" for sort, each in kept.items())
    share = f" ({outcome.after / outcome.before:.0%})" if outcome.before else ""
    print(f"\nMade shorter: {outcome.before:,} tokens to {outcome.after:,}{share}; kept {told or 'nothing to keep'}.")
    lessons = outcome.template.lessons
    shown = sum(lesson.example is not None for lesson in lessons)
    print(f"Kept `{name}@{outcome.digest[:12]}`: {count(len(lessons), 'lesson')}, {shown} of them examples.")
    if keep_work:
        print(
            f"The folders of the tasks are below `{printable(os.path.dirname(os.path.dirname(outcome.ran[0].folder)))}`."
        )
    if len(outcome.ran) < _GOOD:
        hint(
            f"{count(len(outcome.ran), 'task')}: with ten or more of different sorts, what is learned holds more widely."
        )
    hint(f'`preheat warm test {name} "a task"` shows what a session would be told.')
