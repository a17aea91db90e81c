"""`preheat lab run`: reads the options, shows how it goes, and prints the report. The work is done by `preheat.app.lab.labs`."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from preheat.app.lab.labs import Labs, Suite, Wanted
from preheat.cli.experiment_cards import whole
from preheat.cli.guard import INTERRUPTED, fail
from preheat.cli.home import home
from preheat.cli.interrupts import ending_is_interrupting
from preheat.cli.lab_cards import limits, show_report
from preheat.cli.lab_progress import RunProgress
from preheat.cli.options import AgentName, Examples, SessionName, json_option
from preheat.cli.screen import clean, console, print_json, say
from preheat.cli.text import count
from preheat.errors import NotFound


class LabAgent(AgentName):
    """An agent, or our own plain loop."""

    def __init__(self) -> None:
        super().__init__(lambda: home().lab.agents(), "the lab can run")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return "chat" if str(value).lower() == "chat" else super().convert(value, param, ctx)


@click.command(
    cls=Examples,
    epilog="""\
  preheat lab run suite.yaml --endpoint http://127.0.0.1:8080/v1 --model NAME
  preheat lab run suite.yaml --agent NAME --arms cold,warm,placebo,note --template mine --repeats 3
  preheat lab run suite.yaml --arms cold,k=1,2,4,8 --lessons .         how few items are enough?
  preheat lab run suite.yaml --arms none,mask,headtail,markers --session ID
  preheat lab run suite.yaml --dry-run                                 what would be given, and in which order
  preheat lab run suite.yaml -- --an-option-of-the-agent

A suite, in YAML or JSON; every option below but a few can stand in it:

  name: shop
  endpoint: http://127.0.0.1:8080/v1
  model: NAME
  arms: [cold, warm, note]
  repeats: 2
  defaults: {timeout: 300, verify: make -s check}
  tasks:
    - id: discount
      prompt: Make the discount work.
      setup: git clone -q ~/code/shop . && git checkout -q before-discount
    - id: greeting
      prompt: Make a file greeting.txt that says hello.
      verify: grep -q hello greeting.txt
      group: small

Arms: cold (nothing), warm (what Preheat would give), placebo (as many tokens of no use), note (the same facts as prose),
k=N (the N best items), and of a past session none, mask, headtail, markers (made shorter by that strategy).
`setup` and `verify` are shell commands of yours and run as you; the agent has a home of its own and no settings of yours, but
it is no sandbox against malice: run suites that you have read. The model is asked, and may cost. One that was interrupted goes
on where it stopped when it is started again in the same way. Exit code 1: done, but the report names problems.""",
)
@click.argument("suite_path", metavar="SUITE", type=click.Path())
@click.argument("options", nargs=-1, metavar="[-- AGENT'S OPTIONS]")
@click.option("--name", metavar="NAME", help="What this lab is called.  [default: the suite's name]")
@click.option(
    "--agent", type=LabAgent(), metavar="NAME", help="Who does the tasks.  [default: chat, our own plain loop]"
)
@click.option("--program", default="", metavar="PATH", help="The agent's program, where it is not on the PATH.")
@click.option("--endpoint", default="", metavar="URL", help="An OpenAI-compatible server, up to `/v1`.")
@click.option("--model", default="", metavar="NAME", help="The model, as the server calls it.")
@click.option("--api-key-env", "key", default="", metavar="VAR", help="The environment variable that holds the key.")
@click.option("--arms", default="", metavar="A,B", help="What is compared.  [default: cold,warm]")
@click.option("--template", default="", metavar="NAME", help="Warm runs are given from this template.")
@click.option("--lessons", default="", metavar="PROJECT", help="… from what was learned there.  [default: here]")
@click.option("--context", default="", type=click.Path(), metavar="FILE", help="… this text.")
@click.option(
    "--placebo", default="", metavar="FILE|template:NAME|project:NAME",
    help="What a placebo is made from.  [default: general facts]",
)  # fmt: skip
@click.option("--session", type=SessionName(), metavar="ID", help="The past session that strategies make shorter.")
@click.option("--budget", type=click.IntRange(50), metavar="N", help="Tokens of a context.  [default: 2000]")
@click.option("--give", type=click.Choice(["prompt", "file"]), help="Before the prompt, or in the agent's own file.")
@click.option("--project", default="", type=click.Path(), metavar="FOLDER", help="Work in copies of this folder.")
@click.option(
    "--repeats", type=click.IntRange(1, 100), metavar="N", help="How often each task in each arm.  [default: 1]"
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="What the order is drawn by.  [default: 0]")
@click.option("--metric", default="", metavar="NAME", help="What decides: success, mistakes, errors, seconds, tokens.")
@click.option("--margin", type=click.FloatRange(0, min_open=True), metavar="X", help="A smaller difference is none.")
@click.option(
    "--timeout", type=click.FloatRange(1), default=600, show_default=True, metavar="S", help="Seconds a task."
)
@click.option("--turns", type=click.IntRange(1), metavar="N", help="Turns a run may take, where the agent can be told.")
@click.option("--max-tokens", "tokens", type=click.IntRange(1), metavar="N", help="Tokens a run may take.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first so many tasks.")
@click.option("--restart", is_flag=True, help="Begin anew, and put aside what there is.")
@click.option("--keep-work", is_flag=True, help="Leave the folders of the runs where they are.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@json_option
def command(suite_path: str, name: str | None, limit: int | None, as_json: bool, **given: Any) -> int:
    """Run a suite of tasks in every arm, and say what differs.

    Every task is done in every arm, in an order that is drawn. `verify` decides whether a run succeeded; mistakes, calls and
    tokens are measured from the transcript, which goes into the archive marked as Preheat's own.
    """
    labs = home().lab
    suite = labs.suite(suite_path, limit)
    restart, dry, keep = (given.pop(each) for each in ("restart", "dry_run", "keep_work"))
    wanted = _wanted(given)
    if dry:
        return _show_plan(labs, suite, wanted, name or suite.name, as_json)
    return _run(labs, suite, wanted, name or suite.name, restart, keep, as_json)


def _wanted(given: dict[str, Any]) -> Wanted:
    arms = tuple(part for part in given.pop("arms").split(",") if part.strip())
    texts: dict[str, Any] = {each: given.pop(each) or "" for each in ("agent", "session", "give")}
    paths: dict[str, Any] = {
        each: os.path.abspath(os.path.expanduser(value))
        for each in ("context", "project")
        if (value := given.pop(each))
    }
    return Wanted(arms=arms, options=tuple(given.pop("options")), **texts, **paths, **given)


def _run(labs: Labs, suite: Suite, wanted: Wanted, name: str, restart: bool, keep: bool, as_json: bool) -> int:
    try:
        with _kept(keep) as folder, RunProgress(as_json) as progress, ending_is_interrupting():
            found = labs.run(suite, wanted, name, restart, folder, progress)
    except KeyboardInterrupt:
        try:
            far = labs.summary(name)
        except NotFound:  # before anything was run
            raise KeyboardInterrupt from None
        return fail(
            f"interrupted: {far.runs} of {count(far.planned, 'run')} are over; the same command goes on,"
            f" `preheat lab report {name}` shows what there is",
            INTERRUPTED,
        )
    if as_json:
        print_json(whole(found))
    else:
        show_report(found)
    return 1 if found.problems else 0


@contextmanager
def _kept(wanted: bool) -> Iterator[str]:
    """A folder for the folders of the runs, and where they are said at the end; empty where nobody wants them."""
    if not wanted:
        yield ""
        return
    folder = os.path.realpath(tempfile.mkdtemp(prefix="preheat-lab-"))
    try:
        yield folder
    finally:
        with suppress(OSError):
            os.rmdir(folder)  # nothing was run
        if os.path.exists(folder):
            print(f"preheat: the folders of the runs are below `{os.path.join(folder, 'runs')}`", file=sys.stderr)


def _show_plan(labs: Labs, suite: Suite, wanted: Wanted, name: str, as_json: bool) -> int:
    plan = labs.plan(suite, wanted, name)
    cells = labs.order(plan)
    if as_json:
        print_json({"plan": plan, "order": [cell._asdict() for cell in cells]})
        return 0
    screen = console()
    say(
        screen,
        f"{count(len(cells), 'run')}: {count(len(plan.tasks), 'task')} in {count(len(plan.arms), 'arm')},"
        f" {count(plan.repeats, 'time')} each",
        "bold",
    )
    say(screen, f"  decided by {plan.metric}, margin {plan.margin:g}; order drawn by seed {plan.seed}")
    for sentence in limits(plan):
        say(screen, f"  {sentence}")
    for arm in plan.arms:
        for task in plan.tasks:
            each = plan.given[arm][task.id]
            told = f"{each.tokens:,} tokens" if each.context else f"nothing{f' ({each.why})' if each.why else ''}"
            say(screen, clean(f"  {arm:<9} {task.id}: {told}"))
    for identity, text in plan.texts.items():
        say(screen)
        say(screen, f"{identity}:", "bold")
        say(screen, clean(text))
    return 0
