"""What `warm start` and `warm test` have in common: options, the forms, the context itself, and how it is told to a person.

No table, colour or database library: a session waits for this. Knows nothing of how a context is made.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from preheat.app import Preheat
from preheat.app.context.provisioning import TASK_CHARACTERS, estimate_tokens, formats
from preheat.cli.options import AgentName
from preheat.cli.text import columns, count, printable
from preheat.model.context import TOKEN_BUDGET, Context
from preheat.model.rendering import RenderedContext, RenderedMessage, Renderer

F = TypeVar("F", bound=Callable[..., Any])
FORMS = formats()
_LONGEST_TASK = 10_000_000


def context_options(default: str) -> Callable[[F], F]:
    """The options for whom a context is, and in which form."""

    def add(function: F) -> F:
        for option in reversed(
            (
                click.option("--agent", type=AgentName(), metavar="NAME", help="The agent that gets it."),
                click.option("--project", metavar="NAME|FOLDER", help="The project that it works on.  [default: here]"),
                click.option(
                    "--budget", type=click.IntRange(1), default=TOKEN_BUDGET, show_default=True, metavar="N", help="Tokens."
                ),
                click.option(
                    "--format", "form", type=click.Choice([each.name for each in FORMS]), default=default, show_default=True,
                    help="The form of the output; the list is below.",
                ),
            )
        ):  # fmt: skip
            function = option(function)
        return function

    return add


def list_forms() -> str:
    """The forms with their descriptions, for a help page."""
    return "\n".join(f"  {line}" for line in columns([(each.name, each.description) for each in FORMS], left=2))


def find_form(name: str) -> Renderer:
    return next(each for each in FORMS if each.name == name)


def read_task(text: str) -> str:
    """The task as typed, or from standard input for `-`."""
    task = sys.stdin.buffer.read(_LONGEST_TASK).decode("utf-8", "replace") if text == "-" else text
    if not task.strip():
        raise click.UsageError("the task is empty; say in a few words what the session is to do")
    if len(task) > TASK_CHARACTERS:
        print_note(f"the task has {len(task):,} characters; the first {TASK_CHARACTERS:,} were used to choose")
    return task


def make_context(
    home: Preheat,
    task: str,
    renderer: Renderer,
    agent: str | None,
    project: str | None,
    budget: int,
    template: str | None,
) -> Context:
    """The context of a session: from the named template, else the one loaded for the project, else from all lessons. The
    use of the template is not recorded."""
    if project and (project[0] in ".~" or os.sep in project):
        project = os.path.abspath(os.path.expanduser(project))
    return home.provision(
        task,
        agent=agent or renderer.agent,
        project=project or "",
        budget=budget,
        template=template or "",
        examples=renderer.uses_messages,
        loaded=True,
        record=False,
    )


def print_note(text: str) -> None:
    """Print on the error stream, because the output is for a model."""
    print(f"preheat: {printable(text)}", file=sys.stderr)


def print_context_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def context_json(context: Context, rendered: RenderedContext) -> dict[str, Any]:
    """The context and its messages, for JSON."""
    return {
        "context": context,
        "format": rendered.format,
        "document": rendered.document,
        "messages": [
            {"role": each.role, "text": each.model_text, "tokens": tokens_of(each)} for each in rendered.messages
        ],
    }


def tokens_of(said: RenderedMessage) -> int:
    return estimate_tokens(said.model_text)


def summarize_context(context: Context) -> str:
    """The context in one line."""
    if not context.items and not context.addendum:
        advice = "" if context.considered or context.template else "; `preheat sync`, then `preheat learn`"
        return f"nothing given: {context.reason}{advice}"
    found = f"{count(len(context.items), 'lesson')}, about {context.tokens:,} of {context.budget:,} tokens"
    return f"{found}; {context.reason}" if context.reason else found


def explain_context(context: Context) -> list[str]:
    """Lines that say why each lesson was chosen, and what was left out."""
    lines = [f"Context {context.id}: {summarize_context(context)}"]
    for item in context.items:
        lines += (
            f"  {item.lesson}  {item.kind}  value {item.value:.2f} = {item.why}",
            f"    {item.tokens} tokens: {item.text}",
        )
    lines += describe_left_out(context)
    return [printable(line) for line in lines]


def describe_left_out(context: Context) -> list[str]:
    if not context.left_out:
        return []
    total = sum(context.left_out.values())
    reasons = sorted(context.left_out.items(), key=lambda each: (-each[1], each[0]))
    return [
        f"Left out {total:,} of {context.considered:,}:",
        *(f"  {number:,}  {reason}" for reason, number in reasons),
    ]
