"""`preheat dataset check`: looks through a dataset for leaks. What is one is decided in `preheat.lab.dataset.leaks`."""

import sys

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.dataset_progress import StepProgress, warn_of_unread
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import count

_MOST = 50


@click.command(
    "check",
    cls=ExampleCommand,
    epilog="""\
  preheat dataset check out
  preheat dataset check out --allow data@example.org     the address that you put into the datasheet
  preheat dataset check out --json | jq '.leaks[].file'

Exit codes: 0 nothing found; 1 something that may identify somebody, or a file that was changed.""",
)
@click.argument("folder", type=click.Path(file_okay=False), metavar="FOLDER")
@click.option(
    "--allow",
    multiple=True,
    metavar="TEXT",
    help="Not a leak: a contact address, a word that is nobody's name (repeatable).",
)
@json_option
def check_command(folder: str, allow: tuple[str, ...], as_json: bool) -> int:
    """Search a dataset for anything that identifies people or projects.

    Addresses, paths, ids, phone numbers and secrets are found by their form; people, machines, organisations, repositories and
    projects by every name in the archive on this machine.
    """
    preheat = open_preheat()
    with StepProgress() as progress:
        found = preheat.dataset.check(folder, allow, progress)
    warn_of_unread(found.unread)
    bad = bool(found.leaks or found.changed)
    if as_json:
        leaks = [each._asdict() for each in found.leaks]
        counts = {"files": found.files, "names": found.names, "unread": found.unread}
        print_json({**counts, "leaks": leaks, "changed": found.changed})
        return 1 if bad else 0
    if not preheat.has_archive():
        print("preheat: there is no archive here, so names could not be searched for, only forms", file=sys.stderr)
    screen = console()
    for each in found.leaks[:_MOST]:
        say(screen, f"{clean(each.file)}:{each.line}: {each.sort}: {clean(each.text)}", "red")
    if len(found.leaks) > _MOST:
        say(screen, f"and {len(found.leaks) - _MOST:,} more")
    for line in found.changed:
        say(screen, clean(line), "yellow")
    if bad:
        hint(
            "--allow TEXT lets through what identifies nobody; otherwise export the dataset again, or report a defect."
        )
        return 1
    say(screen, f"Nothing found: {count(found.files, 'file')}, {count(found.names, 'name')} searched for.")
    return 0
