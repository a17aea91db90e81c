"""The commands `preheat admin dataset`: export an anonymous dataset, and search one for leaks.

What may be published is decided in `preheat.lab`.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.options import filter_options, make_filter
from preheat.cli.progress import StepProgress, warn_of_unread
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import count, format_bytes, printable
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app.lab.dataset import ExportReport

# `preheat admin dataset export`
_WARNING = (
    "The trajectories will contain what people, models and tools wrote. Names, paths, addresses and ids that can be recognised"
    " are replaced, but a text can identify somebody in other ways. Read a sample before you share it."
)


@click.command(
    "export",
    cls=ExampleCommand,
    epilog="""\
  preheat admin dataset export out --dry-run                   what it would contain, and what would be left out
  preheat admin dataset export out                             numbers and forms only
  preheat admin dataset export out --since 90d --min-projects 5
  preheat admin dataset export out --trajectories              every session as ATIF, without texts
  preheat admin dataset export out --salt-file ~/salt          the same pseudonyms (and bytes) next time

What occurs in fewer projects than --min-projects is left out or generalised. The licence and a few other lines of
out/datasheet.md are for you to fill in.""",
)
@click.argument("folder", type=click.Path(), metavar="FOLDER")
@filter_options
@click.option(
    "--templates", "templates", multiple=True, metavar="NAME", help="Only these templates; `none` for no template."
)
@click.option("--trajectories", is_flag=True, help="Also every session as an ATIF trajectory.")
@click.option(
    "--texts", type=click.Choice(["none", "masked", "anonymised"]), default="none", show_default=True,
    help="What trajectories keep of prompts, answers, arguments and outputs.",
)  # fmt: skip
@click.option(
    "--min-projects", "least", type=click.IntRange(1), default=3, show_default=True, metavar="K",
    help="Publish only what occurs in this many projects.",
)  # fmt: skip
@click.option(
    "--salt-file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Read the salt from this file, or create it there.",
)
@click.option(
    "--allow", multiple=True, metavar="WORD", help="Nobody's name: neither removed nor reported (repeatable)."
)
@click.option("--dry-run", is_flag=True, help="Do everything but write.")
@click.option("--yes", is_flag=True, help="Do not ask before texts are written.")
@json_option
def export_command(folder: str, dry_run: bool, yes: bool, as_json: bool, **options: Any) -> int:
    """Write sessions' markers, lessons and templates as an anonymous dataset.

    FOLDER must not exist yet. It gets one row per session (counts, rates, scores), the error messages and command forms that
    enough projects share, a datasheet, a schema and a manifest. It contains no text that anybody wrote, unless you ask for it.
    """
    sessions = make_filter(options)
    texts, trajectories = options["texts"], options["trajectories"]
    if texts != "none" and not trajectories:
        raise click.UsageError("--texts says what trajectories keep; give --trajectories too")
    preheat = open_archive()
    if texts == "anonymised" and not dry_run and not yes:
        _ask()
    templates = tuple(name for name in options["templates"] if name != "none")
    with StepProgress() as progress:
        report = preheat.dataset.export(
            folder,
            sessions,
            templates=templates if options["templates"] else None,
            trajectories=trajectories,
            texts=texts,
            least=options["least"],
            salt_file=options["salt_file"],
            allowed=options["allow"],
            dry_run=dry_run,
            progress=progress,
        )
    warn_of_unread(report.unread)
    if as_json:
        print_json(report)
    else:
        _show(report, folder, options["least"])
    return 1 if report.unreadable else 0


def _ask() -> None:
    print(_WARNING, file=sys.stderr)
    if not sys.stdin.isatty():
        raise UserError("texts are written only after a confirmation: give --yes, or leave out `--texts anonymised`")
    click.confirm("Write them?", abort=True, err=True)


def _show(report: "ExportReport", folder: str, least: int) -> None:
    screen = console()
    what = f"{count(report.sessions, 'session')} of {count(report.projects, 'project')}, {count(report.calls, 'call')}"
    if report.folder:
        say(screen, f"Wrote {what} to `{printable(folder)}` ({format_bytes(report.bytes)}).", "bold")
    else:
        say(screen, f"Would write {what} ({format_bytes(report.bytes)}). Nothing was written.", "bold")
    if report.without_project:
        say(screen, f"  {count(report.without_project, 'session')} have no project, and count for none")
    for name, number in report.rows.items():
        say(screen, f"  {number:>7,}  {name}")
    if report.trajectories is not None:
        empty = f" ({count(report.empty, 'session')} without a message left out)" if report.empty else ""
        say(screen, f"  {report.trajectories:>7,}  trajectories/{empty}")
    _show_counts(f"Left out or generalised, in fewer than {count(least, 'project')}", report.left_out)
    _show_counts("Lessons left out", report.lessons_left_out)
    _show_counts("Replaced", report.replaced)
    say(
        screen,
        f"Searched every file for {count(report.names, 'name')} of your archive, addresses, paths and secrets: none found.",
    )
    for line in report.unreadable[:5]:
        print(f"preheat: left out: {printable(line)}", file=sys.stderr)
    if report.folder:
        place = printable(os.path.join(folder, "datasheet.md"))
        hint(f"Fill in the licence and the lines marked as yours in `{place}`, and read a sample before you share it.")


def _show_counts(title: str, counts: dict[str, int]) -> None:
    if counts:
        say(console(), f"{title}: {', '.join(f'{name} {number:,}' for name, number in counts.items())}")


# `preheat admin dataset check`
_MOST = 50


@click.command(
    "check",
    cls=ExampleCommand,
    epilog="""\
  preheat admin dataset check out
  preheat admin dataset check out --allow data@example.org     the address that you put into the datasheet
  preheat admin dataset check out --json | jq '.leaks[].file'

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


@click.group(
    "dataset",
    cls=ExampleGroup,
    epilog="""\
  preheat admin dataset export ~/agents-2026 --dry-run      what it would contain, and what would be left out
  preheat admin dataset export ~/agents-2026
  preheat admin dataset check ~/agents-2026                 check again before you share it""",
)
def dataset_group() -> None:
    """Publish what sessions show, without anything that identifies people or projects.

    Nothing is sent anywhere: a dataset is a folder that you can share.
    """


for _command in (export_command, check_command):
    dataset_group.add_command(_command)
