"""The command `preheat projects`: which sessions belong together, and how a person corrects that.

Decides nothing itself.
"""

from typing import TYPE_CHECKING

import click

from preheat.app.lazy import LazyModule
from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.home import open_archive, open_archive_for_list
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count, printable, short_path

if TYPE_CHECKING:
    from preheat.cli import project_screen as _screen
else:  # rich takes longer than a completion
    _screen = LazyModule("preheat.cli.project_screen")


@click.group(
    "projects",
    cls=ExampleGroup,
    epilog="""\
  preheat projects list                    the projects, and what each is known by
  preheat projects show .                  the project here: its folders and remotes
  preheat projects link fork app           what was learned in one is for the other too
  preheat projects split ~/code/app/old    this folder is a project of its own

What is learned in a project is for its sessions only. A repository is known by its remote, else by its first commits, so its
worktrees and clones belong to it whatever their folders are called; a folder without a repository is known by its path.""",
)
def projects_group() -> None:
    """Show which sessions belong to one project, and correct it."""


@projects_group.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat projects list
  preheat projects list --json | jq '.projects[] | select(.sessions > 10) | .name'""",
)
@json_option
def list_command(as_json: bool) -> None:
    """List the projects, those with most sessions first."""
    found = open_archive_for_list().projects.describe_all()
    if as_json:
        print_json(found)
        return
    _screen.show_projects(found)


@projects_group.command(
    "show",
    cls=ExampleCommand,
    epilog="""\
  preheat projects show .             the project of this folder
  preheat projects show app           by its name""",
)
@click.argument("project", metavar="PROJECT")
@json_option
def show_command(project: str, as_json: bool) -> None:
    """Show a project, by its name or a folder: what it is known by, and where its sessions worked."""
    found = open_archive_for_list().projects.show(project)
    if as_json:
        print_json(found)
        return
    _screen.show_project(found)


@projects_group.command(
    "link",
    cls=ExampleCommand,
    epilog="""\
  preheat projects link my-fork app               a fork, or a repository that was renamed
  preheat projects link /workspace app            the sessions of a container's folder
  preheat projects link --undo my-fork            apart again

Nothing is merged for good: sessions keep what they say, and `--undo` takes the decision back.""",
)
@click.argument("what", metavar="PROJECT|FOLDER")
@click.argument("into", metavar="[PROJECT]", required=False)
@click.option("--undo", is_flag=True, help="Take an earlier link back.")
@json_option
def link_command(what: str, into: str | None, undo: bool, as_json: bool) -> None:
    """Say that a project or a folder belongs to another project."""
    if undo:
        _undo(what, as_json)
        return
    if into is None:
        raise click.UsageError("name the project that it belongs to: `preheat projects link my-fork app`")
    found = open_archive().projects.link(what, into)
    if as_json:
        print_json(found)
        return
    print(f"`{printable(what)}` belongs to {printable(found.name)} now: {count(found.sessions, 'session')} together.")
    hint(
        f"`preheat lessons learn` learns from them together; `preheat projects link --undo {printable(what)}` takes it back"
    )


@projects_group.command(
    "split",
    cls=ExampleCommand,
    epilog="""\
  preheat projects split ~/code/app/experiments        a folder of its own, with all that is below it
  preheat projects split --undo ~/code/app/experiments""",
)
@click.argument("folder", metavar="FOLDER")
@click.option("--undo", is_flag=True, help="Take an earlier split back.")
@json_option
def split_command(folder: str, undo: bool, as_json: bool) -> None:
    """Say that a folder is a project of its own."""
    if undo:
        _undo(folder, as_json)
        return
    found = open_archive().projects.split(folder)
    if as_json:
        print_json(found)
        return
    print(
        f"{printable(short_path(folder))} is the project {printable(found.name)} now: {count(found.sessions, 'session')}."
    )
    hint(
        f"`preheat lessons learn` learns from it alone; `preheat projects split --undo {printable(folder)}` takes it back"
    )


def _undo(what: str, as_json: bool) -> None:
    found = open_archive().projects.undo(what)
    if as_json:
        print_json(found)
        return
    print(f"Taken back: `{printable(what)}` is what its sessions and repositories say again.")
    hint("`preheat lessons learn` learns anew from the sessions concerned")
