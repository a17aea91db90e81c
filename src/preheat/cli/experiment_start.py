"""`preheat experiment start`: writes a plan down and puts it to work. Knows nothing of how lots are drawn."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.options import AgentName
from preheat.cli.screen import hint, print_json
from preheat.cli.text import short_path
from preheat.errors import UserError
from preheat.model.experiment import ARMS, GUARDRAIL_MARGIN, METRICS
from preheat.model.experiment_report import StartedExperiment


@click.command(
    "start",
    cls=ExampleCommand,
    epilog=f"""\
  preheat experiment start mine                                half warm, half cold; ends when you stop it
  preheat experiment start mine --arms warm,cold,placebo --shares 0.6,0.2,0.2
  preheat experiment start mine --metric success --margin 0.1 --guardrail tokens --stop n=200
  preheat experiment start here --project . --arms warm,note   does the form matter, or the facts?

Arms: warm (what Preheat chose), cold (nothing at the start), placebo (as many tokens, true but useless), note (the same
lessons as prose). Metrics: {", ".join(METRICS)}.
Margins are in the metric's own unit: 0.01 of {METRICS[0]} is one mistake in a hundred calls.""",
)
@click.argument("name")
@click.option(
    "--arms", default="warm,cold", show_default=True, metavar="A,B", help=f"Two or more of {', '.join(reversed(ARMS))}."
)
@click.option("--shares", default="", metavar="X,Y", help="The arms' shares, which add up to 1.  [default: equal]")
@click.option("--metric", default=METRICS[0], show_default=True, metavar="NAME", help="What decides.")
@click.option("--guardrail", "guardrails", multiple=True, metavar="NAME", help="Must not get worse (repeatable).")
@click.option("--margin", type=float, metavar="X", help="The smallest difference that matters.  [default: by metric]")
@click.option("--stop", default="anytime", show_default=True, metavar="RULE", help="`anytime`, or `n=200` sessions.")
@click.option("--agent", type=AgentName(), metavar="NAME", help="Only this agent's sessions.")
@click.option("--project", metavar="PATH", help="Only sessions of this project; `.` is here.")
@click.option("--template", default="", metavar="NAME", help="Warm sessions get this template.")
@json_option
def start_command(
    name: str,
    arms: str,
    shares: str,
    metric: str,
    guardrails: tuple[str, ...],
    margin: float | None,
    stop: str,
    agent: str | None,
    project: str | None,
    template: str,
    as_json: bool,
) -> int:
    """Start an experiment: from then on sessions are assigned to its arms at random.

    The plan is stored with its digest before the first session, and cannot be changed. While it runs, it replaces the holdout.
    """
    found = open_preheat().experiments.start(
        name,
        [each for each in arms.split(",") if each],
        _numbers(shares),
        metric,
        guardrails,
        margin,
        stop,
        agent=agent or "",
        project=project,
        template=template,
    )
    if found.plan.metric in (rail.strip() for rail in guardrails):
        hint(f"{found.plan.metric} decides already, so it is not a guardrail as well.")
    if as_json:
        print_json(with_all_fields({"experiment": found.experiment, "plan": found.plan}))
    else:
        _announce(found)
    return 0


def _announce(found: StartedExperiment) -> None:
    plan = found.plan
    parts = ", ".join(f"{share:.0%} {arm}" for arm, share in zip(plan.arms, plan.shares, strict=True))
    print(f"{plan.name} runs: {parts} of {_scope(plan.agent, plan.project)}.")
    print(
        f"It is decided by {plan.metric}; a difference under {plan.margin:g} does not count. {_ending(plan.sessions, plan.name)}"
    )
    if plan.guardrails:
        print(
            f"Guardrails, which must not get worse by more than {GUARDRAIL_MARGIN:.0%}: {', '.join(plan.guardrails)}."
        )
    print(f"The plan is {found.experiment}; it cannot be changed. `preheat experiment status` shows how it goes.")
    if not found.agents_call:
        print("No agent calls Preheat yet, so no session can be in it: `preheat install AGENT` comes first.")


def _numbers(text: str) -> list[float]:
    try:
        return [float(each) for each in text.split(",") if each.strip()]
    except ValueError:
        raise UserError(f"`{text}` is not a list of shares; write --shares 0.8,0.2") from None


def _scope(agent: str, project: str) -> str:
    whose = f"the sessions of {agent}" if agent else "all sessions"
    return f"{whose} in {short_path(project)}" if project else whose


def _ending(sessions: int | None, name: str) -> str:
    if sessions is None:
        return f"Look as often as you like, and stop it with `preheat experiment stop {name}`."
    return f"It is decided after {sessions:,} sessions."
