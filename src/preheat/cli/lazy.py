"""A group of commands that imports a command's module when the command is called. Knows none of them."""

import copy
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from preheat.cli.command import Examples


class LazyGroup(Examples, click.Group):
    """`table` has the commands in their order, each with the first line of its help, so that nothing is imported to list
    them; the command `name` is `command` in the module `modules + name`. `older` has spellings that still work and are not
    listed, each with the present one."""

    def __init__(
        self, *arguments: Any, table: dict[str, str], modules: str, older: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self.table = table
        self._modules = modules
        self._older = older or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table and name not in self._older:
            return None
        present = self._older.get(name, name)
        command: click.Command = import_module(f"{self._modules}{present.replace('-', '_')}").command
        if present == name:
            return command
        return spelled(command, f"{ctx.command_path} {present}", f"{ctx.command_path} {name}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.table and name not in self._older and not name.startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - only for what was mistyped

            close = get_close_matches(name, self.table, 1)
            advice = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(self.table)}"
            raise click.UsageError(f"no command `{name}`; {advice}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Of the commands' names, from the table: asking each for its help would import it."""
        found = [
            CompletionItem(name, help=click.Command(name, help=says).get_short_help_str())
            for name, says in self.table.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))


def spelled(command: click.Command, theirs: str, ours: str) -> click.Command:
    """A command under another name: its examples are written with it."""
    found = copy.copy(command)
    found.epilog = (command.epilog or "").replace(theirs, ours)
    return found
