"""The commands `preheat experiment lab`: the same tasks in several arms, and the report of their comparison.

Knows no formula, and nothing of how agents are run.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from preheat.app.lab.labs import METRICS, LabPlan, LabRequest, Labs, Suite
from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.exit_codes import print_failure
from preheat.cli.experiment_screen import format_metric, with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.interrupts import stop_code
from preheat.cli.options import AgentName, SessionName
from preheat.cli.progress import RunProgress
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import columns, count, day
from preheat.errors import NotFound
from preheat.model.experiment import EffectEstimate

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.app.lab.labs import ArmLevel, Report

# The report on a terminal
_COLOURS = {"helps": "green", "hurts": "red"}


def show_lab_report(found: "Report") -> None:
    screen = console()
    plan = found.plan
    say(screen, clean(found.sentence), _COLOURS.get(found.verdict, "bold"))
    for sentence in filter(None, (found.dose_sentence, *(strategy.sentence + "." for strategy in found.strategies))):
        say(screen, clean(sentence))
    say(screen)
    about = f"{found.runs} of {count(found.planned, 'run')}, {count(len(plan.tasks), 'task')}, {plan.repeats} each"
    say(screen, clean(f"{found.name} (since {day(plan.at)}): {about}, by {plan.agent} with {plan.model}"))
    place = "before the prompt" if plan.give == "prompt" else "as a file"
    decision = f"decided by {plan.metric}, margin {format_metric(plan.metric, plan.margin)}"
    say(screen, f"  {decision}; seed {plan.seed}; contexts are given {place}", "dim")
    for sentence in describe_limits(plan):
        say(screen, f"  {sentence}", "dim")
    _show_levels(screen, found)
    _show_comparisons(screen, found)
    _show_doses(screen, found)
    _show_endings(screen, found)


def describe_limits(plan: LabPlan) -> list[str]:
    """The limits of a run, and which of them are not enforced."""
    found = []
    for most, noun in ((plan.turns, "turn"), (plan.tokens, "token")):
        if most:
            remark = f": not enforced, with {plan.agent} only measured" if f"{noun}s" in plan.unenforced else ""
            found.append(f"at most {count(most, noun)} a run{remark}")
    return found


def _show_levels(screen: "Console", found: "Report") -> None:
    arms: dict[str, dict[str, ArmLevel]] = {}
    for each in found.levels:
        arms.setdefault(each.arm, {})[each.metric] = each
    rows = [["  arm", "given", "runs", *METRICS]]
    for arm, by in arms.items():
        runs = max(each.runs for each in by.values())
        rows.append([f"  {arm}", found.contexts.get(arm, ""), str(runs), *(_level(by[metric]) for metric in METRICS)])
    say(screen)
    for line in columns(rows, left=2):
        say(screen, clean(line))


def _level(each: "ArmLevel") -> str:
    if each.value is None:
        return "-"
    if each.low is None or each.high is None:
        return format_metric(each.metric, each.value)
    low, high = (format_metric(each.metric, end).removesuffix(" %").removesuffix(" s") for end in (each.low, each.high))
    return f"{format_metric(each.metric, each.value)} ({low} to {high})"


def _show_comparisons(screen: "Console", found: "Report") -> None:
    rows = [["  difference", "arms (tasks)", "", "95 %", "p, by sign flips", "p, corrected", "verdict"]]
    for each in found.comparisons:
        estimate = each.estimate
        rows.append([*_estimate_row(estimate), _p_value(each.flips_p), _p_value(each.corrected_p), each.verdict])
    rows += ([*_estimate_row(estimate), "", "", ""] for estimate in found.others)
    say(screen)
    for index, line in enumerate(columns(rows, left=2)):
        say(screen, clean(line), "" if index and index <= len(found.comparisons) else "dim")
    for each in found.comparisons[1:]:
        say(screen, f"  {clean(each.sentence)}")
    for guard in found.guardrails:
        say(screen, f"  guardrail {clean(guard.sentence)}", "red" if guard.state == "broken" else "")


def _estimate_row(estimate: EffectEstimate) -> list[str]:
    metric = estimate.metric
    interval = "-"
    if estimate.low is not None and estimate.high is not None:
        interval = (
            f"{format_metric(metric, estimate.low, sign=True)} to {format_metric(metric, estimate.high, sign=True)}"
        )
    pair = f"{estimate.arm} - {estimate.against} ({estimate.clusters})"
    return [f"  {metric}", pair, format_metric(metric, estimate.difference, sign=True), interval]


def _p_value(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else "<0.001"


def _show_doses(screen: "Console", found: "Report") -> None:
    if found.doses is None or not found.doses.doses:
        return
    metric = found.plan.metric
    rows = [["  items", metric, "fitted", "95 %"]]
    for dose in found.doses.doses:
        interval = f"{format_metric(metric, dose.low)} to {format_metric(metric, dose.high)}"
        rows.append(
            [f"  {dose.items}", format_metric(metric, dose.level), format_metric(metric, dose.fitted), interval]
        )
    say(screen)
    for line in columns(rows, left=1):
        say(screen, clean(line))


def _show_endings(screen: "Console", found: "Report") -> None:
    say(screen)
    for group, arms in found.groups.items():
        say(screen, clean(f"  {group}: " + ", ".join(f"{arm} {share} passed" for arm, share in arms.items())))
    for kind, counts in found.endings.items():
        say(screen, clean(f"  {kind}: " + ", ".join(f"{times} {arm}" for arm, times in counts.items())))
    say(screen, f"  {clean(found.delivered)}")
    for problem in found.problems:
        say(screen, f"  ! {clean(problem)}", "yellow")


# `preheat experiment lab run`
class LabAgent(AgentName):
    """An agent that the lab can run, or `chat`, a plain loop of Preheat."""

    def __init__(self) -> None:
        super().__init__(lambda: open_preheat().lab.agents(), "the lab can run")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return "chat" if str(value).lower() == "chat" else super().convert(value, param, ctx)


@click.command(
    "run",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment lab run suite.yaml --endpoint http://127.0.0.1:8080/v1 --model NAME
  preheat experiment lab run suite.yaml --agent NAME --arms cold,warm,placebo,note --template mine --repeats 3
  preheat experiment lab run suite.yaml --arms cold,k=1,2,4,8 --lessons .         how few lessons are enough?
  preheat experiment lab run suite.yaml --arms none,mask,headtail,markers --session ID
  preheat experiment lab run suite.yaml --dry-run                                 the contexts, and the order of the runs
  preheat experiment lab run suite.yaml -- --an-option-of-the-agent

A suite, in YAML or JSON; it can also hold most of the options:

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

Arms: cold (nothing), warm (what Preheat would give), placebo (as many useless tokens), note (the same facts as prose),
k=N (the N best lessons), and of a past session none, mask, headtail, markers (compressed by that strategy).
`setup` and `verify` are shell commands that run as you; the agent gets its own home folder and none of your settings, but
this is not a sandbox: run only suites that you have read. The model may cost money. An interrupted lab continues when the same
command is run again. Exit code 1: done, but the report names problems.""",
)
@click.argument("suite_path", metavar="SUITE", type=click.Path())
@click.argument("options", nargs=-1, metavar="[-- AGENT'S OPTIONS]")
@click.option("--name", metavar="NAME", help="The name of this lab.  [default: the suite's name]")
@click.option(
    "--agent",
    type=LabAgent(),
    metavar="NAME",
    help="The agent that does the tasks.  [default: chat, a plain loop of Preheat]",
)
@click.option("--program", default="", metavar="PATH", help="The agent's program, where it is not on the PATH.")
@click.option("--endpoint", default="", metavar="URL", help="An OpenAI-compatible server, up to `/v1`.")
@click.option("--model", default="", metavar="NAME", help="The model, as the server calls it.")
@click.option("--api-key-env", "key", default="", metavar="VAR", help="The environment variable that holds the key.")
@click.option("--arms", default="", metavar="A,B", help="The arms to compare.  [default: cold,warm]")
@click.option("--template", default="", metavar="NAME", help="Warm runs get this template.")
@click.option("--lessons", default="", metavar="PROJECT", help="Warm runs get this project's lessons.  [default: here]")
@click.option("--context", default="", type=click.Path(), metavar="FILE", help="Warm runs get the text of this file.")
@click.option(
    "--placebo", default="", metavar="FILE|template:NAME|project:NAME",
    help="What a placebo is made from.  [default: general facts]",
)  # fmt: skip
@click.option("--session", type=SessionName(), metavar="ID", help="The past session that the strategies compress.")
@click.option("--budget", type=click.IntRange(50), metavar="N", help="Tokens of a context.  [default: 2000]")
@click.option(
    "--give",
    type=click.Choice(["prompt", "file"]),
    help="Give the context before the prompt, or in the agent's own file.",
)
@click.option("--project", default="", type=click.Path(), metavar="FOLDER", help="Work in copies of this folder.")
@click.option(
    "--repeats", type=click.IntRange(1, 100), metavar="N", help="Runs of each task in each arm.  [default: 1]"
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="The seed of the random order.  [default: 0]")
@click.option("--metric", default="", metavar="NAME", help=f"What decides: {', '.join(METRICS)}.")
@click.option(
    "--margin", type=click.FloatRange(0, min_open=True), metavar="X", help="The smallest difference that matters."
)
@click.option(
    "--timeout", type=click.FloatRange(1), default=600, show_default=True, metavar="S", help="Seconds per task."
)
@click.option("--turns", type=click.IntRange(1), metavar="N", help="Turns per run, where the agent supports a limit.")
@click.option("--max-tokens", "tokens", type=click.IntRange(1), metavar="N", help="Tokens per run.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N tasks.")
@click.option("--restart", is_flag=True, help="Start over; earlier runs are moved aside.")
@click.option("--keep-work", is_flag=True, help="Keep the folders of the runs.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@json_option
def run_command(suite_path: str, name: str | None, limit: int | None, as_json: bool, **settings: Any) -> int:
    """Run a suite of tasks in every arm, and compare the arms.

    Every task is done in every arm, in random order. `verify` decides whether a run succeeded; mistakes, calls and tokens are
    measured from the transcript, which goes into the archive marked as Preheat's own.
    """
    labs = open_preheat().lab
    suite = labs.read_suite(suite_path, limit)
    restart, dry, keep = (settings.pop(each) for each in ("restart", "dry_run", "keep_work"))
    request = _make_request(settings)
    if dry:
        return _show_plan(labs, suite, request, name or suite.name, as_json)
    return _run(labs, suite, request, name or suite.name, restart, keep, as_json)


def _make_request(settings: dict[str, Any]) -> LabRequest:
    arms = tuple(part for part in settings.pop("arms").split(",") if part.strip())
    texts: dict[str, Any] = {each: settings.pop(each) or "" for each in ("agent", "session", "give")}
    paths: dict[str, Any] = {
        each: os.path.abspath(os.path.expanduser(value))
        for each in ("context", "project")
        if (value := settings.pop(each))
    }
    return LabRequest(arms=arms, options=tuple(settings.pop("options")), **texts, **paths, **settings)


def _run(labs: Labs, suite: Suite, request: LabRequest, name: str, restart: bool, keep: bool, as_json: bool) -> int:
    try:
        with _work_folder(keep) as folder, RunProgress(as_json) as progress:
            found = labs.run(suite, request, name, restart, folder, progress)
    except KeyboardInterrupt as stop:
        try:
            so_far = labs.summary(name)
        except NotFound:  # before anything was run
            raise stop from None
        return print_failure(
            f"interrupted: {so_far.runs} of {count(so_far.planned, 'run')} are done; the same command continues,"
            f" `preheat experiment lab report {name}` shows the results so far",
            stop_code(stop),
        )
    if as_json:
        print_json(with_all_fields(found))
    else:
        show_lab_report(found)
    return 1 if found.problems else 0


@contextmanager
def _work_folder(keep: bool) -> Iterator[str]:
    """A folder that keeps the folders of the runs and is printed at the end; empty if they are not to be kept."""
    if not keep:
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


def _show_plan(labs: Labs, suite: Suite, request: LabRequest, name: str, as_json: bool) -> int:
    plan = labs.plan(suite, request, name)
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
    say(screen, f"  decided by {plan.metric}, margin {plan.margin:g}; random order from seed {plan.seed}")
    for sentence in describe_limits(plan):
        say(screen, f"  {sentence}")
    for arm in plan.arms:
        for task in plan.tasks:
            each = plan.contexts[arm][task.id]
            size = f"{each.tokens:,} tokens" if each.context else f"nothing{f' ({each.why})' if each.why else ''}"
            say(screen, clean(f"  {arm:<9} {task.id}: {size}"))
    for identity, text in plan.texts.items():
        say(screen)
        say(screen, f"{identity}:", "bold")
        say(screen, clean(text))
    return 0


# `preheat experiment lab report`
@click.command(
    "report",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment lab report shop
  preheat experiment lab report path/to/a/lab
  preheat experiment lab report shop --json | jq '.run_results[] | select(.arm == "warm")'

Exit code 1: the report names problems.""",
)
@click.argument("name", metavar="NAME|FOLDER")
@json_option
def report_command(name: str, as_json: bool) -> int:
    """Show the results of a lab.

    The unit is the task: one that was run several times counts once, with its mean. A run counts in its arm, whatever the agent
    did with its context.
    """
    found = open_preheat().lab.report(name)
    if as_json:
        print_json(with_all_fields(found))
    else:
        show_lab_report(found)
    return 1 if found.problems else 0


# `preheat experiment lab list`
@click.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment lab list
  preheat experiment lab list --json""",
)
@json_option
def list_command(as_json: bool) -> int:
    """List the labs."""
    found = open_preheat().lab.labs()
    for problem in found.damaged:
        hint(f"preheat: {clean(problem)}")
    if as_json:
        print_json(
            [
                {
                    "name": lab.name,
                    "folder": lab.folder,
                    "at": lab.plan.at,
                    "agent": lab.plan.agent,
                    "model": lab.plan.model,
                    "arms": lab.plan.arms,
                    "tasks": len(lab.plan.tasks),
                    "runs": lab.runs,
                    "planned": lab.planned,
                }
                for lab in found.labs
            ]
        )
    elif found.labs:
        rows = [["name", "since", "agent", "model", "arms", "runs"]]
        for lab in found.labs:
            plan, done = lab.plan, f"{lab.runs} of {lab.planned}"
            rows.append([lab.name, day(plan.at), plan.agent, plan.model, ", ".join(plan.arms), done])
        for line in columns(rows, left=5):
            say(console(), clean(line))
    elif not found.damaged:
        hint("No lab yet; `preheat experiment lab run SUITE` starts one.")
    return 1 if found.damaged else 0


@click.group(
    "lab",
    cls=ExampleGroup,
    epilog="""\
  preheat experiment lab run suite.yaml --endpoint http://127.0.0.1:8080/v1 --model NAME
  preheat experiment lab run suite.yaml --arms cold,warm,placebo,note --repeats 3
  preheat experiment lab report suite
  preheat experiment lab list""",
)
def lab_group() -> None:
    """Compare arms on tasks of your own: does starting warm help, how much of it, and in which form?

    An agent does every task in every arm, with a model at an endpoint of your choice. The contexts of the arms are made before
    the first run and never change; the order of the runs is random, from a seed.
    """


for _command in (run_command, report_command, list_command):
    lab_group.add_command(_command)
