"""The command `preheat lessons propose`: what a project's instructions file lacks, as a patch, in place, or on a branch."""

import sys
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive, open_preheat
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.text import count, short_path
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app.proposals import FileProposal


@click.command(
    "propose",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons propose                            the patch, and what your instruction files contradict
  preheat lessons propose | git apply                use it
  preheat lessons propose --file docs/AGENTS.md --evidence
  preheat lessons propose --write                    in place; `--undo` brings the file back
  preheat lessons propose --branch agents-notes      one commit on a new branch; the working tree stays as it is

Only lines that the file does not state already, by the meaning of command and path. Commands of the file that have failed
lately get a comment. Nothing of the repository is run, no hook either.""",
)
@click.option("--project", default=".", show_default=True, metavar="TEXT", help="The project (name or path).")
@click.option(
    "--file",
    default="",
    metavar="FILE",
    help="The file.  [default: the one that the project has, else AGENTS.md]",
)
@click.option("--evidence", is_flag=True, help="Add the evidence of each new line as a comment.")
@click.option("--write", is_flag=True, help="Change the file in place.")
@click.option("--branch", default="", metavar="NAME", help="Commit the change on a new branch.")
@click.option("--undo", is_flag=True, help="Bring back the file as it was before the last `--write`.")
@json_option
def propose_command(
    project: str, file: str, evidence: bool, write: bool, branch: str, undo: bool, as_json: bool
) -> int:
    """Propose the lines that a project's AGENTS.md lacks, and mark stale ones."""
    if write + bool(branch) + undo > 1:
        raise UserError("choose one of `--write`, `--branch` and `--undo`")
    if undo:
        path = open_preheat().proposals.undo()
        if as_json:
            print_json({"undone": path})
        else:
            print(f"brought back: {short_path(path)}")
        return 0
    proposals = open_analysed_archive().proposals
    found = proposals.propose(project, file, evidence)
    commit = ""
    changes = bool(found.patch)
    if changes and write:
        proposals.write(found)
    elif changes and branch:
        commit = proposals.commit(found, branch)
    if as_json:
        print_json(_to_json(found, commit, write and changes))
        return 0
    if not write and not branch:
        sys.stdout.write(clean(found.patch))
    _report(found, commit, branch, write)
    return 0


def _to_json(found: "FileProposal", commit: str, written: bool) -> dict[str, Any]:
    made = found.proposal
    return {
        "project": found.project,
        "file": found.name,
        "lines": [each._asdict() for each in made.lines],
        "stale": [each._asdict() for each in made.stale],
        "unread_by": list(found.unread_by),
        "contradictions": [{**each._asdict(), "text": each.text} for each in found.contradictions],
        "stated": made.stated,
        "patch": found.patch,
        "written": written,
        "commit": commit,
    }


def _report(found: "FileProposal", commit: str, branch: str, write: bool) -> None:
    """Say on the error stream what the patch cannot: contradictions, stale lines, what was done, what to do next."""
    made, name = found.proposal, clean(found.name)
    for contradiction in found.contradictions:
        file, text = clean(contradiction.file), clean(contradiction.text)
        if contradiction.line:
            hint(f"{file}:{contradiction.line} says `{clean(contradiction.command)}`, but: {text}")
        else:
            hint(f"{file}: {text}")
    for stale in made.stale:
        hint(f"{name}:{stale.line} is stale: {clean(stale.why)}")
    stated = f"; {count(made.stated, 'lesson')} stated already" if made.stated else ""
    if not found.patch:
        hint(f"Nothing to propose for {name}{stated}.")
        return
    if found.unread_by:
        who = " and ".join(found.unread_by)
        verb = "do" if len(found.unread_by) > 1 else "does"
        hint(
            f"{who} {verb} not read {name} by itself: choose a file that it reads with `--file`, or have that take this one in"
            f" (`@{name}`)."
        )
    summary = f"{name}: {count(len(made.lines), 'new line')}, {count(len(made.stale), 'stale line')}{stated}."
    if write:
        hint(f"{summary} Written; `preheat lessons propose --undo` brings the file back.")
    elif branch:
        hint(f"{summary} Committed as {commit[:10]} on `{clean(branch)}`; `git show {clean(branch)}` shows it.")
    else:
        hint(f"{summary} `--write` changes the file, `--branch NAME` commits it, `--evidence` adds why.")
