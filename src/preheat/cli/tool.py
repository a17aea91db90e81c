"""The command `preheat admin tool`: runs one of the tools that models call, for agents without MCP and for plugins.

Knows no tool: they are in `preheat.tools`.
"""

import os
import select
import sys

import click
from click.shell_completion import CompletionItem

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.exit_codes import DONE_WITH_PROBLEMS
from preheat.cli.screen import print_json
from preheat.cli.text import columns
from preheat.errors import UserError
from preheat.settings import data_folder
from preheat.tools import TOOLS, call

_LONGEST = 10_000_000
_STDIN_SECONDS = 3.0
"""How long to wait for arguments on standard input; with `-` there is no limit."""


class _ToolName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A tool by its name."""

    name = "tool"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(each.name) for each in TOOLS if each.name.startswith(incomplete)]


@click.command(
    "tool",
    cls=ExampleCommand,
    epilog="""\
  preheat admin tool                                           lists the tools
  preheat admin tool --json                                    the same with their schemas
  preheat admin tool provision '{"task": "fix the login test"}'
  echo '{"words": "no such table"}' | preheat admin tool lessons
  preheat admin tool mistakes --project ~/work/shop

Prints one JSON object: with `"success": true`, or with `"error"` and `"next"`, what to do; then the exit code is 1.""",
)
@click.argument("name", type=_ToolName(), required=False)
@click.argument("arguments", required=False, metavar="[JSON|-]")
@click.option("--project", metavar="FOLDER", help="The project to answer for.  [default: this folder]")
@json_option
def tool_command(name: str | None, arguments: str | None, project: str | None, as_json: bool) -> int:
    """Run a tool as a model would, or list them: JSON in, JSON out.

    The arguments are one JSON object, after the name or on standard input.
    """
    if name is None:
        return _list(as_json)
    if project and not os.path.isdir(os.path.expanduser(project)):
        raise UserError(f"`{project}` is not a folder; give the folder of the project")
    cwd = os.path.abspath(os.path.expanduser(project)) if project else os.getcwd()
    answer = call(name, _read_arguments(arguments), data_folder(), cwd)
    print_json(answer)
    return 0 if answer["success"] else DONE_WITH_PROBLEMS


def _read_arguments(arguments: str | None) -> str:
    """The arguments as text; the tools check it. Without `-`, standard input is read only if something arrives soon."""
    if arguments is not None and arguments != "-":
        return arguments
    if arguments is None and (sys.stdin.isatty() or not _has_input()):
        return ""
    return sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace")


def _has_input() -> bool:
    """Whether anything arrives on standard input. An agent's shell may give us an open pipe that nobody writes to."""
    if sys.platform == "win32":
        return True  # Windows can wait for sockets only
    try:
        return bool(select.select([sys.stdin.buffer], [], [], _STDIN_SECONDS)[0])
    except (OSError, ValueError):  # closed, or not a file
        return False


def _list(as_json: bool) -> int:
    if as_json:
        print_json(
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
        print(
            "\n`preheat admin tool NAME JSON` runs one; `preheat admin tool --json` lists their arguments.",
            file=sys.stderr,
        )
    return 0
