"""`preheat compare`: two sessions, or two sets of sessions, side by side.

The comparison is made by `preheat.profiles.comparison`.
"""

from typing import Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive
from preheat.cli.options import AgentName, DateOption, SessionName, make_filter
from preheat.cli.screen import print_json
from preheat.errors import UserError
from preheat.model.listing import SessionFilter

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
  preheat compare 0f3c1a2b 7a7b7c7d                    two sessions
  preheat compare model=opus model=sonnet              two sets of sessions
  preheat compare project=.,since=30d project=.,until=30d
  preheat compare project=. all                        this project against all the others

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
        from preheat.cli.comparing import show_comparison  # noqa: PLC0415 - rich takes longer than a completion

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
