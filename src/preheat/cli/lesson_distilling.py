"""The command `preheat lessons distill`: a person's own agent proposes lessons, which wait for a review."""

import sys
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.progress import Display
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.text import count, duration
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app.distilling import DistillPlan, DistillReport


@click.command(
    "distill",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons distill --with codex                         asks before it runs
  preheat lessons distill --with opencode --budget 8000 --yes
  preheat lessons distill --with http://localhost:8080/v1 --model qwen3
  preheat lessons distill --with codex --dry-run               what it would cost, and nothing else
  preheat lessons review                                       decide on what it proposed

Your own agent (or any OpenAI-compatible endpoint) reads sessions of the project in short, without secrets, and proposes
lessons that cite calls. Each citation is verified; what no call shows, what later calls contradict and what is known
already is thrown away. The rest waits for your review. An agent sends its own instructions on top of the prompt: the
report says what was used. Nothing of this ever runs by itself.""",
)
@click.option("--with", "using", required=True, metavar="AGENT|URL", help="Who is asked: an agent, or an endpoint.")
@click.option("--project", default=".", show_default=True, metavar="TEXT", help="The project (name or path).")
@click.option(
    "--budget", type=click.IntRange(1), default=20_000, show_default=True, metavar="TOKENS", help="In and out."
)
@click.option(
    "--sessions", type=click.IntRange(1), default=30, show_default=True, metavar="N", help="The newest, at most."
)
@click.option("--model", default="", metavar="NAME", help="The model; an endpoint needs it.")
@click.option("--key-variable", default="", metavar="NAME", help="The environment variable with the endpoint's key.")
@click.option("--program", default="", metavar="PATH", help="The agent's program, if it is not on the PATH.")
@click.option(
    "--timeout", type=click.FloatRange(1), default=300.0, show_default=True, metavar="SECONDS", help="For the answer."
)
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost; run nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before it runs.")
@json_option
def distill_command(dry_run: bool, yes: bool, as_json: bool, **options: Any) -> int:
    """Have your own agent propose lessons that cite calls; each is verified, and waits for your review."""
    area = open_archive().distilling
    with Display() as progress:
        plan = area.plan(progress, only_cost=dry_run, **options)
    hint(clean(plan.description))
    if dry_run:
        if as_json:
            print_json({**_plan_json(plan), "missing": plan.missing, "prompt": plan.prompt.text})
        hint(f"Nothing was run.{f' It could not run now: {clean(plan.missing)}.' if plan.missing else ''}")
        return 0
    if not yes:
        if not sys.stdin.isatty():
            raise UserError("nothing was run: without a terminal to ask on, `--yes` says that you want it")
        if not click.confirm("Run it?", default=False, err=True):
            hint("Nothing was run.")
            return 0
    report = area.run(plan)
    if as_json:
        print_json(_report_json(plan, report))
    else:
        _show(plan, report)
    return 0


def _plan_json(plan: "DistillPlan") -> dict[str, Any]:
    return {
        "project": plan.project,
        "with": plan.title,
        "sessions": list(plan.prompt.sessions.values()),
        "budget": plan.request.budget,
        "prompt_tokens": plan.prompt.tokens,
        "answer_tokens": plan.answer_tokens,
    }


def _report_json(plan: "DistillPlan", report: "DistillReport") -> dict[str, Any]:
    return {
        **_plan_json(plan),
        "lessons": report.lessons,
        "rejected": [each._asdict() for each in report.verified.rejected],
        "used": report.used,
        "over_budget": report.over_budget,
        "seconds": round(report.seconds, 3),
    }


def _show(plan: "DistillPlan", report: "DistillReport") -> None:
    for lesson in report.lessons:
        print(f"waits for review  {lesson.id}  {clean(lesson.text)}")
    for rejected in report.verified.rejected:
        print(f"thrown away       {clean(rejected.text)}  ({clean(rejected.why)})")
    used = report.used
    spent = "it does not say how many tokens it used"
    if used is not None:
        put_in = used.input + used.cache_read + used.cache_write
        spent = f"{put_in:,} tokens in ({used.cache_read:,} from its cache), {used.output:,} out"
    over = (
        f"; that is over the budget of {plan.request.budget:,}: an agent's own instructions count too"
        if report.over_budget
        else ""
    )
    hint(
        f"{count(len(report.lessons), 'lesson')} kept, {len(report.verified.rejected):,} thrown away;"
        f" {spent}{over}; {duration(report.seconds)}. `preheat lessons review` decides on them."
    )
