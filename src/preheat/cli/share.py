"""The command `preheat share`: approved lessons into the repository's own file, and the check of that file. Decides nothing."""

from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.share_lines import as_json_lines, print_changes
from preheat.cli.text import count, short_path
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app.sharing.repository import FileProblem, LeftLesson, ShareReport

_MOST_SHOWN = 5


@click.command(
    "share",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons review --project .        first: keep what others should know
  preheat share --dry-run                   what would be new, changed or gone
  preheat share                             write it; then `git add .preheat` and commit it like code
  preheat share --check                     for the repository's checks: fails on stale, contradicted, unsafe lessons

Only lessons that you kept, approved, pinned or wrote as a command. A line holds commands, paths, names, rounded counts and days:
no text of a session, no name of a person, no secret, no path of this machine. A lesson that you retire leaves the file with the
next `preheat share`. Others are asked before their sessions are told anything of it: `preheat trust`.""",
)
@click.option("--project", default=".", show_default=True, metavar="TEXT", help="The project (name or path).")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--check", is_flag=True, help="Check the file that is there; exit code 1 if something is wrong.")
@json_option
def share_command(project: str, dry_run: bool, check: bool, as_json: bool) -> int:
    """Write approved lessons to `.preheat/lessons.toml` for review like code."""
    if check:
        if dry_run:
            raise UserError("choose one of `--check` and `--dry-run`")
        return _check(project, as_json)
    sharing = open_archive().sharing
    found = sharing.plan(project)
    is_written = found.is_changed and not dry_run
    if not as_json:
        print_changes(found.new, found.changed, found.gone)
    if is_written:
        sharing.write(found)
    if as_json:
        print_json(_to_json(found, is_written))
        return 0
    _report(found, is_written)
    return 0


def _to_json(found: "ShareReport", is_written: bool) -> dict[str, Any]:
    return {
        "project": found.project,
        "path": found.path,
        "written": is_written,
        "new": as_json_lines(found.new),
        "changed": as_json_lines(found.changed),
        "gone": as_json_lines(found.gone),
        "kept": found.kept,
        "left_out": [each._asdict() for each in found.left_out],
        "unapproved": [each._asdict() for each in found.unapproved],
    }


def _report(found: "ShareReport", is_written: bool) -> None:
    for each in found.left_out[:_MOST_SHOWN]:
        hint(f"Not shared: {clean(each.lesson)} {clean(each.why)}.")
    if found.unapproved:
        _report_unapproved(found.unapproved)
    total = len(found.new) + len(found.changed) + found.kept
    where = short_path(found.path)
    if is_written:
        hint(f"{where} has {count(total, 'lesson')}. Next: `git add .preheat`, and commit it for review.")
    elif found.is_changed:
        hint(f"{where} would have {count(total, 'lesson')}; nothing was written.")
    elif total:
        hint(f"Nothing new: {where} has {count(total, 'lesson')} already.")
    else:
        hint("Nothing to share yet: no lesson of this project is approved. `preheat lessons review --project .` asks.")


def _report_unapproved(left: "tuple[LeftLesson, ...]") -> None:
    names = ", ".join(clean(each.lesson) for each in left[:_MOST_SHOWN])
    more = " …" if len(left) > _MOST_SHOWN else ""
    hint(
        f"{count(len(left), 'lesson')} not approved ({names}{more}): `preheat lessons review --project .` asks for each."
    )


def _check(project: str, as_json: bool) -> int:
    problems = open_preheat().sharing.check(project)
    if as_json:
        print_json({"problems": [each._asdict() for each in problems]})
    else:
        for each in problems:
            print(_describe(each))
        if not problems:
            hint("Every lesson of the file may be used.")
    return 1 if problems else 0


def _describe(problem: "FileProblem") -> str:
    place = f"line {problem.line}" if problem.line else "the file"
    name = f" `{clean(problem.lesson)}`" if problem.lesson else ""
    return f"{problem.kind}: {place}{name}: {clean(problem.why)}"
