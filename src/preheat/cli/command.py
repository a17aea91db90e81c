"""What every command has: examples below its help, and JSON for programs. No more than click: `preheat --version` needs it too.

Knows no command.
"""

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class Examples(click.Command):
    """A command whose epilog is examples and notes, printed as they stand."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write("\nExamples:\n")
            formatter.write(self.epilog.rstrip() + "\n")
