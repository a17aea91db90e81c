"""`preheat warm start`: what a new session should know for its task, in the form that its agent takes.

What is chosen and how it is worded is `preheat.provisioning`.
"""

import os
import shlex
import sys

import click

from preheat.app import open as open_home
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.text import printable
from preheat.cli.warming import (
    context_json,
    context_options,
    explain_context,
    find_form,
    list_forms,
    make_context,
    print_context_json,
    print_note,
    read_task,
    summarize_context,
)
from preheat.model.context import Context
from preheat.model.rendering import RenderedContext, StartedSession


@click.command(
    "start",
    cls=ExampleCommand,
    epilog=f"""\
  preheat warm start --task "fix the login test"
  preheat warm start --task "fix the login test" --explain        why these lessons, and why not others
  preheat warm start --task - --format openai < task.txt          messages for a program
  preheat warm start --task "any work here" --format agents-md --output AGENTS.md
  preheat warm start --task "any work here" --format skill --output skills

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
    begun = None
    if renderer.can_start_session and rendered.text and not (output or only_print or explain):
        begun = home.begin_session(renderer, rendered, _folder(project))
    if as_json:
        added = {**({"written": written} if written else {}), **({"begun": begun} if begun else {})}
        print_context_json({**context_json(context, rendered), **added})
    elif explain:
        print("\n".join(explain_context(context)))
    elif begun:
        _print_begun(begun, context)
    elif written:
        print(f"Wrote `{printable(written)}`: {printable(summarize_context(context))}.")
    else:
        _print(rendered, context)
    if context.template and not template:
        print_note(
            f"from `{context.template}`, which is loaded for this project; `preheat warm load --none` unloads it"
        )
    if context.template and not explain:
        home.record_use(context)
    return 0


def _folder(project: str | None) -> str:
    """The folder in which the session is to work: `project` if it is a folder, else this one."""
    named = os.path.abspath(os.path.expanduser(project)) if project else ""
    return named if named and os.path.isdir(named) else os.getcwd()


def _print_begun(begun: StartedSession, context: Context) -> None:
    print(
        f"Session {printable(begun.session)} waits in `{printable(begun.store)}`: {printable(summarize_context(context))}."
    )
    print(f"  continue it     {printable(shlex.join(begun.resume))}")
    print(f"  delete it       {printable(shlex.join(begun.undo))}")


def _print(rendered: RenderedContext, context: Context) -> None:
    if rendered.text:
        sys.stdout.write(rendered.text.rstrip("\n") + "\n")
    if not context.items:
        print_note(summarize_context(context))
