"""`preheat warm test`: what exactly a session would be sent with a template, message by message, and what it costs.

What is chosen and how it is worded is `preheat.provisioning`.
"""

import click

from preheat.app import open as open_home
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.text import count, printable
from preheat.cli.warming import (
    context_json,
    context_options,
    describe_left_out,
    find_form,
    make_context,
    print_context_json,
    read_task,
    summarize_context,
    tokens_of,
)
from preheat.model.context import Context
from preheat.model.rendering import RenderedContext


@click.command(
    "test",
    cls=ExampleCommand,
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
    home, renderer = open_home(), find_form(form)
    context = make_context(home, read_task(task), renderer, agent, project, budget, name)
    rendered = home.render(context, renderer)
    if as_json:
        print_context_json(context_json(context, rendered))
    else:
        print("\n".join(_lines(context, rendered)))
    return 0


def _lines(context: Context, rendered: RenderedContext) -> list[str]:
    lines: list[str] = []
    for number, message in enumerate(rendered.messages, 1):
        about = (
            f" calls {message.call.tool} ({message.call.id})" if message.call and message.role == "assistant" else ""
        )
        about = f" answers {message.call.id}" if message.call and message.role == "tool" else about
        head = f"[{number}] {message.role}{about}: {tokens_of(message):,} tokens"
        lines += (head, _indent(message.text or message.model_text), "")
    total = sum(map(tokens_of, rendered.messages))
    size = f"{count(len(rendered.messages), 'message')}, {total:,} tokens"
    lines.append(f"{size} ({summarize_context(context)})" if rendered.messages else summarize_context(context))
    return [*map(printable, lines), *describe_left_out(context)]


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
