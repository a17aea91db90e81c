"""The commands `preheat experiment`: comparisons by random assignment.

Knows no formula, and nothing of how sessions are assigned.
"""

from math import ceil

import click
import msgspec

from preheat.cli.command import CommandEntry, ExampleCommand, LazyGroup, json_option
from preheat.cli.experiment_screen import format_metric, show_report, show_report_summary, with_all_fields
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.options import AgentName, RenamedChoice
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import columns, count, day, short_path
from preheat.errors import UserError
from preheat.model.experiment import (
    ARMS,
    EARLIER_METRICS,
    GUARDRAIL_MARGIN,
    METRICS,
    LedgerEntry,
    MetricName,
)
from preheat.model.experiment_report import (
    AdviceEffect,
    LessonEffect,
    LessonUtility,
    OrientationEffect,
    StartedExperiment,
    TemplateEffect,
)


# `preheat experiment status`
@click.command(
    "status",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment status
  preheat experiment status --json""",
)
@json_option
def status_command(as_json: bool) -> int:
    """Show what is being assigned at random now, and what is known so far."""
    found = open_preheat().experiments.status()
    if as_json:
        print_json(with_all_fields({"summary": found.sentence, "reports": found.reports}))
        return 0
    screen = console()
    say(screen, found.sentence)
    for each in found.reports:
        show_report_summary(screen, each)
    if not found.reports:
        hint("There is no archive yet; `preheat sync` makes one.")
    else:
        hint(
            "`preheat experiment report` shows the numbers; `preheat experiment power` says how many sessions are needed."
        )
    return 0


# `preheat experiment start`
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


# `preheat experiment report`
@click.command(
    "report",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment report                     the running one, else the holdout
  preheat experiment report holdout             also while an experiment runs
  preheat experiment report mine --json | jq .estimates

Exit code 1: the arms did not get their planned shares, so no number can be trusted.""",
)
@click.argument("name", default="")
@json_option
def report_command(name: str, as_json: bool) -> int:
    """Show the results of an experiment.

    Every session counts in the arm that it was assigned to, whatever was delivered. Run `preheat` first, or
    let your agent's hooks do it: only sessions that are in the archive and analysed can be compared.
    """
    found = open_preheat().experiments.report(name)
    if as_json:
        print_json(with_all_fields(found))
    else:
        show_report(found)
    return 1 if found.ratios_broken else 0


# `preheat experiment stop`
@click.command(
    "stop",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment stop                       the running one
  preheat experiment stop mine --json""",
)
@click.argument("name", default="")
@json_option
def stop_command(name: str, as_json: bool) -> int:
    """End an experiment, and record its result in the ledger.

    A result is recorded whatever it is, also a null result. The holdout is in effect again.
    """
    found = open_preheat().experiments.stop(name)
    if as_json:
        print_json(with_all_fields(found.entry))
        return 0
    show_report(found.report)
    hint(f"`{found.report.name}` is stopped and recorded in the ledger; `preheat experiment ledger` shows it.")
    return 0


# `preheat experiment power`
@click.command(
    "power",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment power                          to detect one mistake fewer in a hundred calls
  preheat experiment power --margin 0.02 --cold 0.5
  preheat experiment power --metric success --margin 0.15

The archive's sessions are resampled by project many times; one arm is shifted by the difference, and the two are tested as
the experiment will be.""",
)
@click.option(
    "--metric",
    type=RenamedChoice(METRICS, EARLIER_METRICS),
    default=METRICS[0],
    show_default=True,
    help="What decides.",
)
@click.option("--margin", type=float, metavar="X", help="The difference to detect.  [default: by metric]")
@click.option("--cold", "share", type=float, metavar="X", help="The share that starts cold.  [default: the holdout's]")
@click.option(
    "--power",
    "wanted",
    type=float,
    default=0.8,
    show_default=True,
    metavar="X",
    help="The probability of detecting it.",
)
@json_option
def power_command(metric: MetricName, margin: float | None, share: float | None, wanted: float, as_json: bool) -> int:
    """Say how many sessions a comparison needs, from your own sessions."""
    found = open_preheat().experiments.sample_size(metric, margin, share, wanted)
    plan, margin = found.plan, found.margin
    if as_json:
        print_json({"plan": plan, "worse": found.is_loss, "a_week": found.sessions_per_week, "weeks": found.weeks})
        return 0
    screen = console()
    weeks = (
        ""
        if found.weeks is None
        else f", about {count(ceil(found.weeks), 'week')} at {found.sessions_per_week:,.0f} a week"
    )
    say(
        screen,
        f"About {plan.sessions:,} sessions ({plan.arms[0]:,} warm, {plan.arms[1]:,} cold{weeks}) show a difference of"
        f" {format_metric(metric, margin)} in {metric} with {wanted:.0%} probability.",
        "bold",
    )
    say(screen, f"It is {format_metric(metric, plan.base)} now, over {plan.sampled_from[0]:,} sessions.")
    if found.is_loss:
        say(
            screen,
            f"It cannot improve by {format_metric(metric, margin)}, so the plan is to detect that it gets worse.",
        )
    rows = [["  sessions", "detected"], *([f"  {sessions:,}", f"{detected:.0%}"] for sessions, detected in plan.curve)]
    for line in columns(rows, left=1):
        say(screen, line, "dim")
    for remark in plan.remarks:
        say(screen, f"  {clean(remark)}", "dim")
    hint(f"With that many, the interval that may be looked at any day is {found.interval_factor:.1f} times as wide.")
    return 0


# `preheat experiment explain`
@click.command(
    "explain",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment explain r1f3a2b4c          a lesson, by its id
  preheat experiment explain mine               a template
  preheat experiment explain advice             what advice does to the next calls
  preheat experiment explain orientation        what naming files with a prompt does before the next edit
  preheat experiment explain all                every lesson that was withheld from some sessions""",
)
@click.argument("item", default="all", metavar="[LESSON|TEMPLATE|advice|orientation|all]")
@json_option
def explain_command(item: str, as_json: bool) -> int:
    """Show what a lesson, a template, advice or orientation did for the sessions that got it.

    In warm sessions each lesson is withheld at random from one in ten. With few sessions its estimated effect is pulled towards
    that of the other lessons.
    """
    experiments = open_archive().experiments
    if item == "advice":
        advice = experiments.explain_advice()
        if as_json:
            print_json(advice)
        else:
            _show_advice(advice)
        return 0
    if item == "orientation":
        orientation = experiments.explain_orientation()
        if as_json:
            print_json(orientation)
        else:
            _show_orientation(orientation)
        return 0
    templates = experiments.explain_templates(item) if item != "all" else []
    if templates:
        if as_json:
            print_json([_template_json(each) for each in templates])
        else:
            _show_templates(templates)
        return 0
    items = experiments.explain_items("" if item == "all" else item)
    if as_json:
        print_json([_item_json(each) for each in items])
    else:
        _show_items(items)
    return 0


# What a template did
def _show_templates(found: list[TemplateEffect]) -> None:
    screen = console()
    for each in found:
        estimate = each.estimate
        say(screen, f"template {clean(each.template)}", "bold")
        if estimate.difference is None or estimate.always_low is None or estimate.always_high is None:
            say(screen, f"  Too little data: {clean(estimate.why or ' '.join(estimate.remarks))}.")
        else:
            ends = f"{100 * estimate.always_low:+.2f} to {100 * estimate.always_high:+.2f}"
            say(screen, f"  {100 * estimate.difference:+.2f} mistakes per 100 calls (95 %, at any look, {ends})")
        say(
            screen,
            f"  {count(estimate.units[0], 'session')} began with it, {estimate.units[1]:,} at random without it",
            "dim",
        )
        if each.entry is not None:
            say(screen, f"  {each.entry.kind}: {clean(each.entry.sentence)}", "yellow")


def _template_json(each: TemplateEffect) -> dict[str, object]:
    return {"template": each.template, "estimate": each.estimate, "ledger": _ledger_sentence(each.entry)}


def _ledger_sentence(entry: LedgerEntry | None) -> str:
    return "" if entry is None else entry.sentence


# What advice did
def _show_advice(found: AdviceEffect) -> None:
    screen = console()
    estimate = found.estimate
    if estimate.difference is None or estimate.low is None or estimate.high is None:
        say(screen, f"Too little data: {clean(estimate.why)}.", "bold")
    else:
        verdict = "helps" if estimate.high < 0 else "hurts" if estimate.low > 0 else "shows no difference yet"
        say(
            screen,
            f"Advice {verdict}: {100 * estimate.difference:+.1f} mistakes per 100 of the next {found.next_calls} calls (95 %"
            f" {100 * estimate.low:+.1f} to {100 * estimate.high:+.1f}).",
            "bold",
        )
    say(
        screen,
        f"  given {count(estimate.units[0], 'time')}, withheld at random {count(estimate.units[1], 'time')},"
        f" in {count(estimate.clusters, 'session')}",
    )
    without = found.moments_without_calls_after
    if without:
        say(screen, f"  not counted, because the archive has no call after it: {count(without, 'moment')}", "dim")
    for remark in estimate.remarks:
        say(screen, f"  {clean(remark)}", "dim")


# What orientation did
def _show_orientation(found: OrientationEffect) -> None:
    screen = console()
    for estimate, unit in ((found.calls, "calls"), (found.tokens, "tokens")):
        if estimate.difference is None or estimate.low is None or estimate.high is None:
            say(screen, f"Too little data on {unit} before the next edit: {clean(estimate.why)}.", "bold")
            continue
        verdict = "saves" if estimate.high < 0 else "costs" if estimate.low > 0 else "shows no difference yet in"
        say(
            screen,
            f"Orientation {verdict} {unit} before the next edit: {estimate.difference:+,.1f} (95 % {estimate.low:+,.1f} to"
            f" {estimate.high:+,.1f}).",
            "bold",
        )
    given, withheld = found.calls.units
    say(
        screen,
        f"  files named {count(given, 'time')}, withheld at random {count(withheld, 'time')},"
        f" in {count(found.calls.clusters, 'session')}",
    )
    if found.moments_without_edit_after:
        say(
            screen,
            f"  nothing was edited after {count(found.moments_without_edit_after, 'moment')}: all calls up to the next count",
            "dim",
        )
    if found.moments_without_calls_after:
        say(
            screen,
            f"  not counted, because the archive has no call after it: {count(found.moments_without_calls_after, 'moment')}",
            "dim",
        )


# What lessons did
def _show_items(found: list[LessonEffect]) -> None:
    from preheat.app.experiments.comparisons import ITEM_MARGIN  # noqa: PLC0415 - comparisons take longer to load than a completion

    screen = console()
    for each in sorted(found, key=lambda one: _sort_key(one.utility)):
        utility = each.utility
        say(screen, f"{utility.item}  {clean(each.text or '(no longer learned)')}", "bold")
        say(screen, f"  {_sentence(utility)}")
        say(screen, f"  given in {count(utility.shown, 'session')}, withheld at random in {utility.withheld:,}", "dim")
        if each.entry is not None:
            say(screen, f"  {each.entry.kind}: {clean(each.entry.sentence)}", "yellow")
    if not found:
        hint("No lesson was withheld at random yet: that begins with the first warm session after `preheat install`.")
    else:
        hint(
            f"A lesson pays if it avoids more than {100 * ITEM_MARGIN:.1f} mistakes per 100 calls; one that does "
            "not is withdrawn."
        )


def _sort_key(each: LessonUtility) -> tuple[bool, float, str]:
    return each.effect is None, each.effect or 0.0, each.item


def _sentence(each: LessonUtility) -> str:
    if each.effect is None or each.low is None or each.high is None or each.raw is None:
        return "Too little data: it takes ten sessions with it and ten without."
    return (
        f"{each.verdict.capitalize()}: {100 * each.effect:+.2f} mistakes per 100 calls (95 % {100 * each.low:+.2f} to"
        f" {100 * each.high:+.2f}; unadjusted {100 * each.raw:+.2f})."
    )


def _item_json(each: LessonEffect) -> dict[str, object]:
    return {**msgspec.to_builtins(each.utility), "text": each.text, "ledger": _ledger_sentence(each.entry)}


# `preheat experiment list`
@click.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment list
  preheat experiment list --json""",
)
@json_option
def list_command(as_json: bool) -> int:
    """List the experiments."""
    plans = open_preheat().experiments.plans()
    if as_json:
        print_json(with_all_fields(plans))
        return 0
    if not plans:
        hint(
            "No experiment yet; `preheat experiment start NAME` begins one. The holdout has no plan and is not listed."
        )
        return 0
    rows = [["name", "since", "until", "arms", "metric", "verdict"]]
    for each in plans:
        plan, stopped = each.plan, each.stopped
        verdict = each.verdict if each.verdict is not None else "runs" if stopped is None else ""
        until = day(stopped) if stopped is not None else ""
        rows.append([plan.name, day(plan.at), until, ", ".join(plan.arms), plan.metric, verdict])
    for line in columns(rows, left=6):
        say(console(), clean(line))
    return 0


_COMMANDS = {
    "lab": CommandEntry(
        "lab:lab_group",
        "Compare arms on tasks of your own: does starting warm help, how much of it, and in which form?",
    ),
    "ledger": CommandEntry(
        "ledger:ledger_command", "Show every finished experiment and its result, null results included."
    ),
}


@click.group(
    "experiment",
    cls=LazyGroup,
    table=_COMMANDS,
    epilog="""\
  preheat experiment status                     does starting warm help here?
  preheat experiment power --margin 0.01        how many sessions a comparison needs
  preheat experiment start mine --arms warm,cold --shares 0.5,0.5
  preheat experiment report mine
  preheat experiment stop mine                  its result goes into the ledger, whatever it is""",
)
def experiment_group() -> None:
    """Find out by random assignment whether Preheat helps.

    One session in five starts without Preheat's context: the holdout, so that there is always something to compare with.
    While an experiment runs, its plan replaces the holdout. A plan names its arms, its metric and its end before the first
    session.
    """


for _command in (
    status_command,
    start_command,
    report_command,
    stop_command,
    power_command,
    explain_command,
    list_command,
):
    experiment_group.add_command(_command)
