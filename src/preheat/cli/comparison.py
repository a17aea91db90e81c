"""`preheat sessions compare` and `preheat report compactions`: two sessions or sets, and before and after compactions.

Compares nothing itself.
"""

import sys
from typing import Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive, open_archive
from preheat.cli.options import AgentName, DateOption, SessionName, filter_options, make_filter
from preheat.cli.progress import Display
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count, printable
from preheat.errors import UserError
from preheat.model.listing import SessionFilter

# `preheat sessions compare`
ALL = "all"
_TYPES: dict[str, Any] = {
    "agent": AgentName(),
    "project": click.STRING,
    "model": click.STRING,
    "since": DateOption(),
    "until": DateOption(end_of_day=True),
    "min-messages": click.IntRange(0),
    "max-messages": click.IntRange(0),
    "subagents": click.BOOL,
}


@click.command(
    "compare",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions compare 0f3c1a2b 7a7b7c7d                    two sessions
  preheat sessions compare model=opus model=sonnet              two sets of sessions
  preheat sessions compare project=.,since=30d project=.,until=30d
  preheat sessions compare project=. all                        this project against all the others

A set is written KEY=VALUE, or several with commas: agent, project, model, since, until, min-messages, max-messages,
subagents=no; they mean what the options of `preheat sessions list` mean. `all` is every session. A session that is in both
sets counts in the smaller one only. Nothing here was randomised: it compares, it does not prove a cause.""",
)
@click.argument("a", type=SessionName(), metavar="A")
@click.argument("b", type=SessionName(), metavar="B")
@json_option
@click.pass_context
def compare_command(context: click.Context, a: str, b: str, as_json: bool) -> int:
    """Compare two sessions, or two sets of sessions.

    Error, mistake and recovery rates, repeated calls and reads, time and tokens lost: each with the difference, its 95 %
    interval and a test.
    """
    if _is_set(a) != _is_set(b):
        raise UserError(
            f"`{a}` and `{b}` are a session and a set; compare two sessions, or two sets (KEY=VALUE, or `all`)"
        )
    sets = [(text, _filter(text, context)) for text in (a, b) if _is_set(text)]
    reliability = open_analysed_archive().reliability.without_analysing()
    found = reliability.compare_sets(sets[0], sets[1]) if sets else reliability.compare_sessions(a, b)
    if as_json:
        print_json(found)
    else:
        from preheat.cli.comparison_screen import show_comparison  # noqa: PLC0415 - rich takes longer than a completion

        show_comparison(found)
    return 0


def _is_set(text: str) -> bool:
    return text == ALL or "=" in text


def _filter(text: str, context: click.Context) -> SessionFilter:
    """The filter that a set such as `model=opus,since=30d` means."""
    options: dict[str, Any] = {name.replace("-", "_"): None for name in _TYPES if name != "subagents"}
    options["no_subagents"] = False
    for part in text.split(",") if text != ALL else ():
        name, equals, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not value or name not in _TYPES:
            raise UserError(f"`{part}` in `{text}` is not KEY=VALUE; the keys are {', '.join(_TYPES)}")
        try:
            converted = _TYPES[name].convert(value, None, context)
        except click.BadParameter as error:
            raise UserError(f"`{part}`: {error.message}") from error
        if name == "subagents":
            options["no_subagents"] = not converted
        else:
            options[name.replace("-", "_")] = converted
    return make_filter(options)


# `preheat report compactions`
_LIMIT = 10


@click.command(
    "compactions",
    cls=ExampleCommand,
    epilog="""\
  preheat report compactions                      every compaction in the archive
  preheat report compactions latest               one session
  preheat report compactions --agent NAME --since 30d
  preheat report compactions --margin 0.5         half as many errors again still counts as preserved

Compares the last 30 calls before a compaction with the first 30 after it, because work changes as a session goes on.
Preserved: with 95 % confidence, the rate after is at most 1.2 times the rate before (`--margin 0.2`). Not preserved: with the
same confidence it is more. Anything else is too little data, and the command says roughly how much would be enough.""",
)
@click.argument("session", type=SessionName(), required=False)
@filter_options
@click.option(
    "--margin", type=click.FloatRange(0.0, 10.0, min_open=True), default=0.2, show_default=True, metavar="X",
    help="An error rate up to this much higher counts as preserved.",
)  # fmt: skip
@click.option(
    "--window", "size", type=click.IntRange(1), default=30, show_default=True, metavar="N", help="Calls on each side."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=_LIMIT,
    show_default=True,
    metavar="N",
    help="How many compactions to list.",
)
@json_option
def compactions_command(
    session: str | None, margin: float, size: int, limit: int, as_json: bool, **options: Any
) -> int:
    """Say whether agents work as well after a compaction as before.

    Without SESSION, over all sessions that match the filters.
    """
    filters = [name for name, value in options.items() if value]
    if session is not None and filters:
        raise click.UsageError(f"name a session or filter them, not both (`--{filters[0].replace('_', '-')}`)")
    home = open_archive()
    with Display() as progress:
        found = home.reliability.check_compactions(
            make_filter(options) if session is None else session, margin, size, progress
        )
    for problem in found.unreadable[:3]:
        print(f"preheat: left out: {printable(problem)}", file=sys.stderr)
    checked = found.check
    if as_json:
        print_json(checked)
        return 0
    if not checked.boundaries:
        which = f"`{session}` has" if session else "These sessions have"
        hint(f"{which} no compaction, so there is nothing to compare.")
        return 0
    from preheat.cli.comparison_screen import VERDICT_ORDER, show_compaction_check  # noqa: PLC0415 - rich takes longer than a completion

    shown = sorted(checked.boundaries, key=lambda each: VERDICT_ORDER[each.verdict])[:limit]
    keys = [key for each in shown for key in (each.session, each.child) if key]
    show_compaction_check(checked, shown, home.archive.short_names(keys))
    if len(shown) < len(checked.boundaries):
        hint(f"{len(shown):,} of {count(len(checked.boundaries), 'compaction')} listed; --limit lists more.")
    return 0
