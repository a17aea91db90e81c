"""The commands `preheat admin tree …`: the indexes of working trees, which say where the work of a prompt lies.

Knows nothing of what is in an index.
"""

import os
import sys

import click

from preheat.amounts import format_bytes, format_seconds
from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import hint, print_json
from preheat.cli.text import columns, count, date_time, printable, short_path
from preheat.errors import UserError
from preheat.model.tree import TreeUpdate


@click.group(
    "tree",
    cls=ExampleGroup,
    epilog="""\
  preheat admin tree list
  preheat admin tree update .           read what changed in this folder
  preheat admin tree forget ~/work/x    delete the index; the files are not touched""",
)
def tree_group() -> None:
    """Index working trees, so that a prompt's files can be found; list and delete that."""


@tree_group.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat admin tree list
  preheat admin tree list --json | jq '.trees[].root'""",
)
@json_option
def list_command(as_json: bool) -> int:
    """List the folders that are indexed."""
    found = open_preheat().trees.list()
    if as_json:
        print_json({"trees": found})
        return 0
    rows = [
        (
            short_path(printable(each.root)),
            count(each.files, "file"),
            count(each.symbols, "symbol"),
            format_bytes(each.bytes),
            date_time(each.updated_at) if each.exists else "the folder is gone",
        )
        for each in found
    ]
    for line in columns(rows):
        print(line)
    if not found:
        hint(
            "Nothing is indexed yet. `preheat admin tree update .` indexes this folder; the daemon does so in quiet times."
        )
    return 0


@tree_group.command(
    "update",
    cls=ExampleCommand,
    epilog="""\
  preheat admin tree update .           this folder
  preheat admin tree update             every folder in which a session ran lately

Only what has changed is read. It can be stopped at any time: the next update continues from there.""",
)
@click.argument("folder", required=False, type=click.Path())
@click.option("--quiet", "-q", is_flag=True, help="Print only problems.")
@json_option
def update_command(folder: str | None, quiet: bool, as_json: bool) -> int:
    """Bring an index up to date; without FOLDER those of all folders with recent sessions.

    Indexes of folders that are gone are deleted.
    """
    trees = open_preheat().trees
    done: list[TreeUpdate] = []
    failed = 0
    for root in [os.path.abspath(folder)] if folder else trees.recent_roots():
        try:
            done.append(trees.update(root))
        except UserError as error:
            if folder:
                raise
            print(f"preheat: {printable(str(error))}", file=sys.stderr)
            failed = 1
    if not folder:
        trees.forget_gone()
    if as_json:
        print_json({"updates": done})
    elif not quiet:
        for each in done:
            print(_describe(each))
        if not done:
            hint("No session ran lately in a folder of this machine; `preheat admin tree update FOLDER` indexes one.")
    return failed


def _describe(update: TreeUpdate) -> str:
    text = f"{short_path(printable(update.root))}: {count(update.files, 'file')}, {update.read:,} read, {update.removed:,} gone"
    left_out = f", {update.left_out:,} beyond the limit left out" if update.left_out else ""
    return f"{text}{left_out}, {format_seconds(update.seconds)}"


@tree_group.command(
    "forget",
    cls=ExampleCommand,
    epilog="""\
  preheat admin tree forget ~/work/secret     and of the folders below it
  preheat admin tree forget --all""",
)
@click.argument("folder", required=False, type=click.Path())
@click.option("--all", "everything", is_flag=True, help="Every index.")
@json_option
def forget_command(folder: str | None, everything: bool, as_json: bool) -> int:
    """Delete the index of FOLDER and of the folders below it; the files themselves are not touched.

    `preheat sessions delete` deletes it too, with the last session in the folder. It is made again in quiet times after another
    session there; `enabled = false` below `[tree]` in `settings.toml` stops that.
    """
    if bool(folder) == everything:
        raise click.UsageError("name a folder, or give --all")
    deleted = open_preheat().trees.forget(os.path.abspath(folder) if folder else os.sep)
    if as_json:
        print_json({"deleted": deleted})
    else:
        print(f"{count(deleted, 'index', 'indexes')} deleted.")
    return 0
