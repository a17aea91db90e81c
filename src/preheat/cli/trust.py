"""The command `preheat trust`: shows what others shared in this repository, and asks once for each version. Decides nothing."""

import sys
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.share_lines import as_json_lines, print_changes
from preheat.cli.text import count, short_path
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app.sharing.repository import TrustReport

_MOST_PROBLEMS = 10


@click.command(
    "trust",
    cls=ExampleCommand,
    epilog="""\
  preheat trust                 show what is new since the version you trusted last, and ask
  preheat trust --show          only show it, with what contradicts your own lessons
  preheat trust --yes           for a set-up script that you wrote yourself
  preheat trust --revoke        use nothing of this repository's file any more

Works like direnv: a version is trusted in this clone (with its worktrees) by its very bytes; a changed file is asked about
again, and until then nothing of it reaches a session or a list. Another clone asks for itself. Lessons that do not fit the
grammar are left out, whoever trusts the file.""",
)
@click.option("--project", default=".", show_default=True, metavar="PATH", help="A folder in the clone.")
@click.option("--show", is_flag=True, help="Show the file against the version that was trusted last; ask nothing.")
@click.option("--yes", is_flag=True, help="Trust it without asking.")
@click.option("--revoke", is_flag=True, help="Trust no version of this clone's file any more.")
@json_option
def trust_command(project: str, show: bool, yes: bool, revoke: bool, as_json: bool) -> int:
    """Let sessions use the lessons that others shared in this repository."""
    if show + yes + revoke > 1:
        raise UserError("choose one of `--show`, `--yes` and `--revoke`")
    sharing = open_preheat().sharing
    if revoke:
        number = sharing.revoke(project)
        if as_json:
            print_json({"revoked": number})
        else:
            hint(f"{count(number, 'version')} trusted no more." if number else "No version was trusted here.")
        return 0
    found = sharing.look(project)
    if found.state == "unreadable":
        raise UserError(f"`{short_path(found.path)}` may not be read: {found.fault}; nothing of it is used")
    if not as_json and found.digest:
        _show(found, everything=show)
    if found.state == "untrusted" and not show and _is_agreed(found, yes, as_json):
        found = sharing.trust(found)
        if not as_json:
            hint(
                f"Trusted: sessions here may be told {count(found.lessons, 'lesson')}. `preheat trust --revoke` undoes it."
            )
            return 0
    if as_json:
        print_json(_to_json(found))
    else:
        _report(found)
    return 0


def _is_agreed(found: "TrustReport", yes: bool, as_json: bool) -> bool:
    """Whether the person agrees. Raises UserError where nobody can be asked."""
    if yes:
        return True
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(
            f"`{short_path(found.path)}` is not trusted, and nobody can be asked here; look at it with `preheat trust --show`,"
            " then run `preheat trust` on a terminal, or `preheat trust --yes`"
        )
    return click.confirm("May sessions in this clone be told these?", default=False, err=True)


def _show(found: "TrustReport", everything: bool) -> None:
    if found.state == "untrusted" or everything:
        print_changes(found.new, found.changed, found.gone)
    for problem in found.problems[:_MOST_PROBLEMS]:
        hint(f"Left out: line {problem.line}: {clean(problem.why)}")
    if len(found.problems) > _MOST_PROBLEMS:
        hint(f"Left out: {len(found.problems) - _MOST_PROBLEMS:,} more; `preheat share --check` lists all.")
    for each in found.conflicts:
        kept, other = (each.ours, each.theirs) if each.kept == "ours" else (each.theirs, each.ours)
        whose = "yours" if each.kept == "ours" else "theirs"
        hint(
            f"Contradiction: yours {clean(each.ours.id)}: {clean(each.ours.text)} – theirs {clean(each.theirs.id)}:"
            f" {clean(each.theirs.text)}. Sessions are told {whose} ({clean(kept.id)}): {clean(each.why)};"
            f" `preheat lessons retire {clean(other.id)}` or `pin` settles it."
        )


def _report(found: "TrustReport") -> None:
    where = short_path(found.path)
    if found.state == "none":
        hint(f"There is no {where}: nobody shared lessons in this repository. `preheat share` does.")
    elif found.state == "trusted":
        hint(f"{where} is trusted: sessions here may be told {count(found.lessons, 'lesson')}.")
    else:
        hint(f"{where} is not trusted: nothing of it is used. `preheat trust` asks.")


def _to_json(found: "TrustReport") -> dict[str, Any]:
    return {
        "path": found.path,
        "state": found.state,
        "digest": found.digest,
        "trusted_at": found.trusted_at,
        "lessons": found.lessons,
        "new": as_json_lines(found.new),
        "changed": as_json_lines(found.changed),
        "gone": as_json_lines(found.gone),
        "problems": [each._asdict() for each in found.problems],
        "conflicts": [
            {"ours": each.ours.id, "theirs": each.theirs.id, "kept": each.kept, "why": each.why}
            for each in found.conflicts
        ],
    }
