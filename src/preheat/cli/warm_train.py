"""`preheat warm train`: runs a suite of tasks with a real agent, and keeps what it learned as a template.

The work is done by `preheat.app.lab.training`; this reads the options and shows how it goes.
"""

import os
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.interrupts import interrupt_on_terminate
from preheat.cli.lab_progress import RunProgress
from preheat.cli.options import AgentName
from preheat.cli.screen import console, hint, plain_table, print_json, print_table
from preheat.cli.text import count, printable

if TYPE_CHECKING:
    from preheat.app.lab.training import TrainingResult

_STRATEGIES = ("none", "mask", "headtail", "markers")
_ENOUGH_TASKS = 10
"""With fewer tasks, little of what is learned holds elsewhere."""


@click.command(
    "train",
    cls=ExampleCommand,
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
    with RunProgress(as_json) as progress, interrupt_on_terminate():
        outcome = training.train(name, suite, strategy=strategy, progress=progress, **settings)
    if as_json:
        print_json(_training_json(name, outcome, strategy))
    else:
        _show_training(name, outcome, settings["keep_work"])
    return 0 if all(ran.is_good for ran in outcome.runs) else 1


def _training_json(name: str, outcome: "TrainingResult", strategy: str) -> dict[str, Any]:
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
            for ran in outcome.runs
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
    for ran in outcome.runs:
        keys = ", ".join(outcome.sessions.get(ran.task, []))
        table.add_row(ran.task, ran.status, f"{ran.seconds:.0f}", printable(keys or ran.note[-80:]))
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
    hint(f'`preheat warm test {name} "a task"` shows what a session would get.')
