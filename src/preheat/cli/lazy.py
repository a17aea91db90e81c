"""A group of commands that imports a command's module when the command is called. Knows none of the commands."""

import copy
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from preheat.cli.command import ExampleGroup


class CommandEntry(NamedTuple):
    """A command before its module is imported."""

    place: str
    """`module:attribute`, the module below `preheat.cli`."""
    help: str
    """The first line of the command's help, so that nothing is imported to list it. A test compares the two."""
    same_as: str = ""
    """The full name of a command elsewhere that this entry repeats; in the examples it is replaced by this one's."""


class LazyGroup(ExampleGroup):
    """`table` has the commands in the order in which they are listed. `older` maps names that still work and are not
    listed to names in the table."""

    def __init__(
        self, *arguments: Any, table: dict[str, CommandEntry], older: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self.table = table
        self._older = older or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        present = self._older.get(name, name)
        entry = self.table.get(present)
        if entry is None:
            return None
        module, _, attribute = entry.place.partition(":")
        command: click.Command = getattr(import_module(f"preheat.cli.{module}"), attribute)
        documented = entry.same_as or f"{ctx.command_path} {present}"
        called = f"{ctx.command_path} {name}"
        return command if called == documented else _rename_in_examples(command, documented, called)

    def summaries(self, ctx: click.Context) -> list[tuple[str, str]]:
        return [(name, entry.help) for name, entry in self.table.items()]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the commands' names from the table: click would import every command for its help."""
        found = [
            CompletionItem(name, help=click.Command(name, help=entry.help).get_short_help_str())
            for name, entry in self.table.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def _rename_in_examples(command: click.Command, before: str, after: str) -> click.Command:
    renamed = copy.copy(command)
    renamed.epilog = (command.epilog or "").replace(before, after)
    return renamed
