"""What every command has: examples below its help, and `--json`. Needs only click, because `preheat --version` loads it.

Knows no command.
"""

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class ExampleCommand(click.Command):
    """A command whose epilog is examples and notes, printed without reflowing."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write("\nExamples:\n")
            formatter.write(self.epilog.rstrip() + "\n")


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
