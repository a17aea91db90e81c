"""The command `preheat sessions for`: which session made a commit or a pull request. Asks git nothing itself."""

import os

import click

from preheat.app.agents import title_of
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive_for_list
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import count, date_time, one_line
from preheat.errors import UserError


@click.command(
    "for",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions for HEAD                   which session made the last commit
  preheat sessions for 3fa2b1c --project ~/work/shop
  preheat sessions for '#42'                  which session opened or made this pull request
  preheat sessions for HEAD --json | jq -r '.matches[0].session.key'

A session whose own `git commit` printed the hash made it. Else those are listed that changed its files, with what speaks for
each. Exit code 1: no session is known to have made it.""",
)
@click.argument("commit")
@click.option("--project", default="", metavar="FOLDER", help="The repository.  [default: the one around this folder]")
@json_option
def for_command(commit: str, project: str, as_json: bool) -> int:
    """Say which session made a commit or a pull request.

    COMMIT is anything that git takes for one (a hash, a branch, `HEAD~2`), or a pull request: `#42` or its address.
    """
    where = os.path.abspath(os.path.expanduser(project)) if project else os.getcwd()
    if not os.path.isdir(where):
        raise UserError(f"there is no folder `{project}`; give the folder of a repository")
    home = open_archive_for_list()
    found = home.sessions_for(commit, where)
    if as_json:
        print_json(found)
        return 0 if found.matches else 1
    screen = console()
    if found.commit:
        files = count(len(found.files), "file")
        say(screen, f"{found.commit[:10]}  {one_line(clean(found.subject), 90)}", "bold")
        say(screen, f"  written {date_time(found.at)}, {files}", "dim")
    else:
        say(screen, f"{clean(found.wanted)}: its commit is not in this repository", "bold")
    if not found.matches:
        say(screen, "No session is known that made it.")
        hint("`preheat sync` reads new sessions; work done by hand leaves none.")
        return 1
    names = home.archive.short_names(match.session.key for match in found.matches)
    for match in found.matches:
        session = match.session
        verdict = "made it" if match.made_it else f"may have ({match.score:.0%})"
        say(
            screen,
            f"{names[session.key]}  {verdict}: {clean('; '.join(match.reasons))}",
            "green" if match.made_it else "",
        )
        about = one_line(clean(session.title or session.opening), 80)
        say(screen, f"  {date_time(session.started_at)}  {title_of(session.agent)}  {about}".rstrip(), "dim")
    hint(f"`preheat sessions show {names[found.matches[0].session.key]}` shows the first.")
    return 0
