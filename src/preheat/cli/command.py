"""What every command and group has: examples below its help, `--json`, and loading on demand.

Needs only click, because `preheat --version` loads it. Knows no command.
"""

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


class LazyGroup(ExampleGroup):
    """A group with commands that were added to it, then those of `table`, then those of `more`, which are listed apart."""

    def __init__(
        self,
        *arguments: Any,
        table: dict[str, CommandEntry],
        more: dict[str, CommandEntry] | None = None,
        **others: Any,
    ) -> None:
        super().__init__(*arguments, **others)
        self._main = table
        self._more = more or {}

    @property
    def table(self) -> dict[str, CommandEntry]:
        """Every command that is loaded on demand."""
        return {**self._main, **self._more}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self.table]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        entry = self.table.get(name)
        if entry is None:
            return super().get_command(ctx, name)
        module, _, attribute = entry.place.partition(":")
        command: click.Command = getattr(import_module(f"preheat.cli.{module}"), attribute)
        return command

    def summaries(self, ctx: click.Context) -> list[tuple[str, str]]:
        added = [(name, (command.help or "").partition("\n")[0]) for name, command in self.commands.items()]
        return [*added, *((name, entry.help) for name, entry in self._main.items())]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_commands(ctx, formatter)
        if self._more:
            with formatter.section("More"):
                formatter.write_dl([(name, entry.help) for name, entry in self._more.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the commands' names from the table: click would import every command for its help."""
        added = {name: command.help or "" for name, command in self.commands.items()}
        found = [
            CompletionItem(name, help=click.Command(name, help=text).get_short_help_str())
            for name, text in (added | {name: entry.help for name, entry in self.table.items()}).items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]
