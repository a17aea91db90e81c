"""Writes `docs/commands.md` from the program's own help, and the demonstration in the README from its own output.

    python scripts/make_docs.py

Tests hold both pages to what the program says.
"""

import os
import re
import subprocess
import sys

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = os.path.join(CHECKOUT, "README.md")
PAGE = os.path.join(CHECKOUT, "docs", "commands.md")


def page() -> str:
    """The page as it should be."""
    os.environ["COLUMNS"] = "100"
    import click

    from preheat.cli.root import root

    def section(command: click.Command, name: str, parent: click.Context | None) -> list[str]:
        context = click.Context(
            command, info_name=name, parent=parent, terminal_width=100, max_content_width=100,
            help_option_names=["-h", "--help"],
        )  # fmt: skip
        found = [f"## `{context.command_path}`", "", "```text", command.get_help(context).rstrip(), "```", ""]
        if isinstance(command, click.Group):
            for child in command.list_commands(context):
                inner = command.get_command(context, child)
                if inner is not None:
                    found += section(inner, child, context)
        return found

    opening = ["# Commands", "", "Written by `scripts/make_docs.py` from the program's own help; do not edit.", ""]
    return "\n".join([*opening, *section(root, "preheat", None)])


def demonstration() -> str:
    """What `preheat demo` prints, as it looks in a narrow window without colours."""
    environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1"}
    return subprocess.check_output(
        [sys.executable, "-m", "preheat", "demo"], env=environment, text=True, stderr=subprocess.DEVNULL
    )


def _shown(printed: str) -> str:
    """The part that the README shows: up to the end of the transcript."""
    return (
        re.sub(r"\n\d+ other records.*", "", printed[: printed.index("\nRead from ")], flags=re.DOTALL).rstrip() + "\n"
    )


def main() -> int:
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(page())
    with open(README, encoding="utf-8") as stream:
        text = stream.read()
    block = f"<!-- demo -->\n```console\n{_shown(demonstration())}```\n<!-- /demo -->"
    with open(README, "w", encoding="utf-8") as stream:
        stream.write(re.sub(r"<!-- demo -->.*<!-- /demo -->", lambda _: block, text, flags=re.DOTALL))
    return 0


if __name__ == "__main__":
    sys.exit(main())
