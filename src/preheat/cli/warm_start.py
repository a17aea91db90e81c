"""`preheat warm start`: what a new session should know for its task, in the form that its agent takes.

What is chosen and how it is worded is `preheat.provisioning`.
"""

import os
import shlex
import sys
import time
from typing import TYPE_CHECKING

import click

from preheat.agents import begin_of
from preheat.cli.options import Examples, json_option
from preheat.cli.text import printable
from preheat.cli.warming import (
    as_document,
    context_for,
    context_options,
    explanation,
    form_of,
    forms_listed,
    note,
    print_document,
    summary,
    task_of,
)
from preheat.errors import UserError
from preheat.files import AS_USUAL, write_whole
from preheat.model.session import PREHEAT_MARK

if TYPE_CHECKING:
    from preheat.model.context import Context
    from preheat.model.rendering import Begun, Rendered, Renderer


@click.command(
    cls=Examples,
    epilog=f"""\
  preheat warm start --task "fix the login test"
  preheat warm start --task "fix the login test" --explain        why these, and why not others
  preheat warm start --task - --format openai < task.txt          messages for a program
  preheat warm start --task "any work here" --format agents-md --output AGENTS.md
  preheat warm start --task "any work here" --format skill --output skills

Forms:
{forms_listed()}

Where nothing is close enough to the task, nothing is printed, and a line on the error stream says why.""",
)
@click.option(
    "--task", required=True, metavar="TEXT|-", help="What the session is to do; `-` reads it from standard input."
)
@context_options("text")
@click.option("--template", metavar="NAME", help="From this template instead of all that was learned.")
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Write there instead of to the screen.")
@click.option(
    "--print", "only_print", is_flag=True, help="Print a session instead of putting it into the agent's store."
)
@click.option("--force", is_flag=True, help="Overwrite a file that Preheat did not write.")
@click.option("--explain", is_flag=True, help="Say why each item was chosen, instead of printing it.")
@json_option
def command(
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
    from preheat.app.context import note_use
    from preheat.provisioning import render
    from preheat.settings import data_folder

    renderer = form_of(form)
    context = context_for(task_of(task), renderer, agent, project, budget, template)
    rendered = render(context, renderer)
    written = _write(rendered, renderer, output, force) if output and output != "-" else ""
    begun = None
    if renderer.begins and rendered.text and not (output or only_print or explain):
        begun = begin_of(renderer.agent)(rendered, _folder(project), os.environ)
    if as_json:
        added = {**({"written": written} if written else {}), **({"begun": begun} if begun else {})}
        print_document({**as_document(context, rendered), **added})
    elif explain:
        print("\n".join(explanation(context)))
    elif begun:
        _print_begun(begun, context)
    elif written:
        print(f"Wrote `{printable(written)}`: {printable(summary(context))}.")
    else:
        _print(rendered, context)
    if context.template and not template:
        note(f"from `{context.template}`, which is loaded for this project; `preheat warm load --none` ends that")
    if context.template and not explain:
        note_use(data_folder(), context, time.time())
    return 0


def _folder(project: str | None) -> str:
    """Where the session is to work: the project's folder if it is named by one, else here."""
    named = os.path.abspath(os.path.expanduser(project)) if project else ""
    return named if named and os.path.isdir(named) else os.getcwd()


def _print_begun(begun: "Begun", context: "Context") -> None:
    print(f"Session {printable(begun.session)} waits in `{printable(begun.store)}`: {printable(summary(context))}.")
    print(f"  go on with it   {printable(shlex.join(begun.resume))}")
    print(f"  delete it       {printable(shlex.join(begun.undo))}")


def _print(rendered: "Rendered", context: "Context") -> None:
    if rendered.text:
        sys.stdout.write(rendered.text.rstrip("\n") + "\n")
    if not context.items:
        note(summary(context))


def _write(rendered: "Rendered", renderer: "Renderer", output: str, force: bool) -> str:
    """Where it was written; empty if there was nothing to write."""
    if renderer.place is not None:
        before = _contents(output)
        after = renderer.place(before, rendered.text)
        if after == before:
            return output if before else ""
        _save(output, after)
        return output
    if rendered.files:
        if os.path.exists(output) and not os.path.isdir(output):
            raise UserError(f"`{output}` is a file; this form needs a folder")
        for name, text in rendered.files.items():
            path = os.path.join(output, name)
            _refuse(path, force)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _save(path, text)
        return os.path.join(output, next(iter(rendered.files)))
    if not rendered.text:
        return ""
    _refuse(output, force)
    _save(output, rendered.text.rstrip("\n") + "\n")
    return output


def _refuse(path: str, force: bool) -> None:
    """What a person wrote is not lost by a wrong name; what Preheat wrote is replaced."""
    if os.path.isdir(path):
        raise UserError(f"`{path}` is a folder; name a file in it")
    if not force and (before := _contents(path)).strip() and PREHEAT_MARK not in before:
        raise UserError(f"`{path}` is there already and not by Preheat; `--force` overwrites it")


def _contents(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


def _save(path: str, text: str) -> None:
    """Whole or not at all."""
    write_whole(os.path.realpath(path), text.encode("utf-8", "surrogateescape"), mode=AS_USUAL, like=path)
