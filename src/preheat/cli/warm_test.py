"""`preheat warm test`: what exactly a session would be sent with a template, message by message, and what it costs.

What is chosen and how it is worded is `preheat.provisioning`.
"""

import click

from preheat.app import open as open_home
from preheat.cli.command import Examples, json_option
from preheat.cli.text import count, printable
from preheat.cli.warming import (
    as_document,
    context_for,
    context_options,
    form_of,
    left_out,
    print_document,
    summary,
    task_of,
    tokens_of,
)
from preheat.model.context import Context
from preheat.model.rendering import Rendered


@click.command(
    "test",
    cls=Examples,
    epilog="""\
  preheat warm test mine "fix the login test"
  preheat warm test mine "fix the login test" --format anthropic --budget 800
  preheat warm test mine@-1 "fix the login test" --json           of the version before

The forms are those of `preheat warm start`. Tokens are estimated offline; the estimate is seldom too low.""",
)
@click.argument("name")
@click.argument("task")
@context_options("openai")
@json_option
def test_command(
    name: str, task: str, agent: str | None, project: str | None, budget: int, form: str, as_json: bool
) -> int:
    """Show the exact messages that a template gives for a task."""
    home, renderer = open_home(), form_of(form)
    context = context_for(home, task_of(task), renderer, agent, project, budget, name)
    rendered = home.render(context, renderer)
    if as_json:
        print_document(as_document(context, rendered))
    else:
        print("\n".join(_lines(context, rendered)))
    return 0


def _lines(context: Context, rendered: Rendered) -> list[str]:
    lines: list[str] = []
    for number, message in enumerate(rendered.said, 1):
        about = (
            f" calls {message.call.tool} ({message.call.id})" if message.call and message.role == "assistant" else ""
        )
        about = f" answers {message.call.id}" if message.call and message.role == "tool" else about
        head = f"[{number}] {message.role}{about}: {tokens_of(message):,} tokens"
        lines += (head, _indent(message.text or message.read), "")
    total = sum(map(tokens_of, rendered.said))
    size = f"{count(len(rendered.said), 'message')}, {total:,} tokens"
    lines.append(f"{size} ({summary(context)})" if rendered.said else summary(context))
    return [*map(printable, lines), *left_out(context)]


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
