"""`preheat tool`: runs one of the tools that models call, for agents without MCP and for plugins. The tools are in
`preheat.tools`."""

import os
import select
import sys
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from preheat.cli.guard import PROBLEMS
from preheat.cli.options import Examples, json_option
from preheat.cli.text import columns
from preheat.errors import UserError
from preheat.settings import data_folder
from preheat.tools import TOOLS, call

_LONGEST = 10_000_000
_PATIENCE = 3.0
"""Seconds for arguments on standard input; with `-` there is no end to it."""


class _ToolName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A tool by its name."""

    name = "tool"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(each.name) for each in TOOLS if each.name.startswith(incomplete)]


@click.command(
    "tool",
    cls=Examples,
    epilog="""\
  preheat tool                                           which there are
  preheat tool --json                                    with their schemas
  preheat tool provision '{"task": "fix the login test"}'
  echo '{"words": "no such table"}' | preheat tool lessons
  preheat tool mistakes --project ~/work/shop

One JSON object is printed: with `"success": true`, or with `"error"` and what to do `"next"`; then the exit code is 1.""",
)
@click.argument("name", type=_ToolName(), required=False)
@click.argument("arguments", required=False, metavar="[JSON|-]")
@click.option("--project", metavar="FOLDER", help="The project that is asked for; this folder unless given.")
@json_option
def tool_command(name: str | None, arguments: str | None, project: str | None, as_json: bool) -> int:
    """Run a tool as a model would, or list them: JSON in, JSON out.

    The arguments are one JSON object, given behind the name or on standard input.
    """
    if name is None:
        return _list(as_json)
    if project and not os.path.isdir(os.path.expanduser(project)):
        raise UserError(f"`{project}` is no folder; give the one that the project is in")
    cwd = os.path.abspath(os.path.expanduser(project)) if project else os.getcwd()
    answer = call(name, _given(arguments), data_folder(), cwd)
    _print(answer)
    return 0 if answer["success"] else PROBLEMS


def _given(arguments: str | None) -> str:
    """As text: the tools' own check says what is wrong with it. Where nobody promised any, none are waited for for long."""
    if arguments is not None and arguments != "-":
        return arguments
    if arguments is None and (sys.stdin.isatty() or not _comes()):
        return ""
    return sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace")


def _comes() -> bool:
    """Whether anything comes on standard input. An agent's shell may hand us an open pipe that nobody writes to."""
    if sys.platform == "win32":
        return True  # there only sockets can be asked
    try:
        return bool(select.select([sys.stdin.buffer], [], [], _PATIENCE)[0])
    except (OSError, ValueError):  # closed, or no file at all
        return False


def _list(as_json: bool) -> int:
    if as_json:
        _print(
            [
                {
                    "name": each.name,
                    "description": each.description,
                    "input_schema": each.schema,
                    "reads_only": each.reads_only,
                }
                for each in TOOLS
            ]
        )
        return 0
    rows = [(each.name, each.description.partition(". ")[0].rstrip(".") + ".") for each in TOOLS]
    print("\n".join(columns(rows, left=2)))
    if sys.stdout.isatty():
        print("\n`preheat tool NAME JSON` runs one; `preheat tool --json` has their arguments.", file=sys.stderr)
    return 0


def _print(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
