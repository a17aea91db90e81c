"""The commands `preheat start` and `preheat templates test`: the context of a session for its task.

No table, colour or database library, because a session waits for this. Knows nothing of how a context is chosen.
"""

import os
import shlex
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from preheat.app import Preheat
from preheat.app import open as open_home
from preheat.app.context import TASK_CHARACTERS, estimate_tokens, formats
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.options import AgentName
from preheat.cli.screen import print_json
from preheat.cli.text import columns, count, printable
from preheat.model.context import TOKEN_BUDGET, Context, RenderedContext, RenderedMessage, Renderer, StartedSession

# What `warm start` and `warm test` have in common
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
                    help="The form of the output, explained below.",
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


def tokens_of(message: RenderedMessage) -> int:
    return estimate_tokens(message.model_text)


def summarize_context(context: Context) -> str:
    """The context in one line."""
    if not context.items and not context.addendum:
        advice = "" if context.considered or context.template else "; `preheat sync`, then `preheat lessons learn`"
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


# `preheat start`
@click.command(
    "start",
    cls=ExampleCommand,
    epilog=f"""\
  preheat start --task "fix the login test"
  preheat start --task "fix the login test" --explain        why these lessons, and why not others
  preheat start --task - --format openai < task.txt          messages for a program
  preheat start --task "any work here" --format agents-md --output AGENTS.md
  preheat start --task "any work here" --format skill --output skills

Forms:
{list_forms()}

If nothing is close enough to the task, nothing is printed, and a line on the error stream says why.""",
)
@click.option(
    "--task", required=True, metavar="TEXT|-", help="What the session is to do; `-` reads it from standard input."
)
@context_options("text")
@click.option("--template", metavar="NAME", help="Use this template instead of all that was learned.")
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Write there instead of to the screen.")
@click.option(
    "--print", "only_print", is_flag=True, help="Print a session instead of adding it to the agent's sessions."
)
@click.option("--force", is_flag=True, help="Overwrite a file that Preheat did not write.")
@click.option("--explain", is_flag=True, help="Say why each lesson was chosen, instead of printing it.")
@json_option
def start_command(
    task: str,
    agent: str | None,
    project: str | None,
    budget: int,
    form: str,
    template: str | None,
    output: str | None,
    only_print: bool,
    force: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """Print what a new session should know, for a task."""
    home, renderer = open_home(), find_form(form)
    context = make_context(home, read_task(task), renderer, agent, project, budget, template)
    rendered = home.render(context, renderer)
    written = home.write_rendered(rendered, renderer, output, force) if output and output != "-" else ""
    started = None
    if renderer.can_start_session and rendered.text and not (output or only_print or explain):
        started = home.begin_session(renderer, rendered, _folder(project))
    if as_json:
        added = {**({"written": written} if written else {}), **({"begun": started} if started else {})}
        print_json({**context_json(context, rendered), **added})
    elif explain:
        print("\n".join(explain_context(context)))
    elif started:
        _print_started(started, context)
    elif written:
        print(f"Wrote `{printable(written)}`: {printable(summarize_context(context))}.")
    else:
        _print(rendered, context)
    if context.template and not template:
        print_note(
            f"from `{context.template}`, which is loaded for this project; `preheat templates load --none` unloads it"
        )
    if context.template and not explain:
        home.record_use(context)
    return 0


def _folder(project: str | None) -> str:
    """The folder in which the session is to work: `project` if it is a folder, else this one."""
    named = os.path.abspath(os.path.expanduser(project)) if project else ""
    return named if named and os.path.isdir(named) else os.getcwd()


def _print_started(started: StartedSession, context: Context) -> None:
    print(
        f"Session {printable(started.session)} waits in `{printable(started.store)}`: {printable(summarize_context(context))}."
    )
    print(f"  continue it     {printable(shlex.join(started.resume))}")
    print(f"  delete it       {printable(shlex.join(started.undo))}")


def _print(rendered: RenderedContext, context: Context) -> None:
    if rendered.text:
        sys.stdout.write(rendered.text.rstrip("\n") + "\n")
    if not context.items:
        print_note(summarize_context(context))


# `preheat templates test`
@click.command(
    "test",
    cls=ExampleCommand,
    epilog="""\
  preheat templates test mine "fix the login test"
  preheat templates test mine "fix the login test" --format anthropic --budget 800
  preheat templates test mine@-1 "fix the login test" --json           of the version before

`preheat start --help` explains the forms. Tokens are estimated offline; the estimate is seldom too low.""",
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
        print_json(context_json(context, rendered))
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
