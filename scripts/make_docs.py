"""Writes `docs/commands.md` from the program's own help, and the areas of the Python page from the application object.

    python scripts/make_docs.py

Tests check that the pages are up to date.
"""

import inspect
import os
import re
import sys

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(CHECKOUT, "docs", "commands.md")
PYTHON = os.path.join(CHECKOUT, "docs", "guides", "python.md")


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


def python_page(text: str) -> str:
    """The page on Python with its table of areas and methods as the application object has them."""
    from preheat.app import Preheat

    home = Preheat("anywhere")
    areas = ["| area | what it is | methods |", "|---|---|---|"]
    daily = ["| method | what it gives |", "|---|---|"]
    for name, value in vars(Preheat).items():
        if name.startswith("_"):
            continue
        what = first_sentence(value)
        if isinstance(value, property):
            methods = [each for each in dir(getattr(home, name)) if not each.startswith("_")]
            areas.append(f"| `home.{name}` | {what} | {', '.join(f'`{each}`' for each in methods)} |")
        else:
            daily.append(f"| `home.{name}()` | {what} |")
    table = "\n".join(("<!-- areas -->", *daily, "", *areas, "<!-- /areas -->"))
    return re.sub(r"<!-- areas -->.*<!-- /areas -->", lambda _: table, text, flags=re.DOTALL)


def first_sentence(value: object) -> str:
    """The first sentence of a method's or an area's docstring."""
    words = " ".join((inspect.getdoc(value) or "").split())
    return re.split(r"(?<=[.]) ", words)[0].rstrip(".")


def main() -> int:
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(page())
    with open(PYTHON, encoding="utf-8") as stream:
        text = stream.read()
    with open(PYTHON, "w", encoding="utf-8") as stream:
        stream.write(python_page(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
