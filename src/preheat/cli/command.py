"""What every command and group has: examples below its help, `--json`, and loading on demand.

Needs only click, because `preheat --version` loads it. Knows no command.
"""

import copy
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class ExampleCommand(click.Command):
    """A command whose epilog is examples, which are indented and printed as they are, and notes, which are wrapped."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write("\nExamples:\n")
            for is_note, lines in groupby(self.epilog.rstrip().split("\n"), key=_is_note):
                text = "\n".join(lines)
                note = click.wrap_text(text.replace("\n", " "), formatter.width)
                formatter.write(f"{note if is_note else text}\n")


def _is_note(line: str) -> bool:
    return bool(line) and not line.startswith(" ")


class ExampleGroup(ExampleCommand, click.Group):
    """A group of commands with examples. Lists the whole first line of each command's help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they were added, not of the alphabet."""
        return list(self.commands)

    def summaries(self, ctx: click.Context) -> list[tuple[str, str]]:
        """The commands' names, each with the first line of its help."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        return [(name, (command.help or "").partition("\n")[0]) for name, command in found if command is not None]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self.summaries(ctx))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            from difflib import get_close_matches  # noqa: PLC0415 - only for a mistyped name

            names = self.list_commands(ctx)
            close = get_close_matches(name, names, 1)
            advice = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(names)}"
            raise click.UsageError(f"no command `{name}`; {advice}", ctx)
        return super().resolve_command(ctx, args)


# Loading on demand: a command's module is imported when the command is called
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
        current = self._older.get(name, name)
        entry = self.table.get(current)
        if entry is None:
            return None
        module, _, attribute = entry.place.partition(":")
        command: click.Command = getattr(import_module(f"preheat.cli.{module}"), attribute)
        documented = entry.same_as or f"{ctx.command_path} {current}"
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
