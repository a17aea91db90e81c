"""The commands of `preheat team` about people: make a team, join, invite, list, remove, leave.

A password is read from the terminal or from standard input, never from the command line, where other programs see it.
"""

import os
import sys

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import hint, print_json
from preheat.cli.text import columns, count, day, printable, short_path
from preheat.errors import UserError
from preheat.files import write_atomically
from preheat.model.team import INVITED_ROLES, TeamRole
from preheat.settings import home_folder

_LEAST = 3
_password_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from the first line of standard input."
)
_rows_option = click.option(
    "--rows", type=click.Choice(("delete", "keep")),
    help="Delete every row, or keep derived ones without the person (transcripts are always deleted).",
)  # fmt: skip


def read_password(from_stdin: bool, what: str) -> str:
    """A password: from standard input, else from PGPASSWORD or ~/.pgpass (then empty), else asked for on the terminal."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    passfile = os.environ.get("PGPASSFILE") or os.path.join(home_folder(os.environ), ".pgpass")
    if os.environ.get("PGPASSWORD") or os.path.exists(passfile):
        return ""
    if not sys.stdin.isatty():
        raise UserError(
            "nobody can be asked for the password: give it with `--password-stdin`, PGPASSWORD or ~/.pgpass"
        )
    return str(click.prompt(f"Password of {what}", hide_input=True, default="", show_default=False, err=True))


@click.command(
    "init",
    cls=ExampleCommand,
    epilog="""\
  preheat team init postgresql://LOGIN@db.example.org/preheat
  preheat team init postgresql://LOGIN@db.example.org/preheat --team shop --least-people 5
  preheat team init postgresql://LOGIN@db.example.org/preheat        once more, after an update of Preheat

The login needs CREATE on the database, and CREATEROLE for the logins of the others. Everything is in a schema of its own,
`preheat_team`; to undo all of it: DROP SCHEMA preheat_team CASCADE.
An administrator of the server can read what is stored there, whatever the team's rules say.""",
)
@click.argument("address", metavar="ADDRESS")
@click.option("--team", "team", default="", metavar="NAME", help="The team's name.  [default: the database's]")
@click.option("--name", default="", metavar="NAME", help="Your name in the team.  [default: your login's]")
@click.option(
    "--least-people", type=click.IntRange(2), default=_LEAST, show_default=True, metavar="N",
    help="Never show numbers of fewer people.",
)  # fmt: skip
@_password_option
@json_option
def init_command(address: str, team: str, name: str, least_people: int, password_stdin: bool, as_json: bool) -> int:
    """Make a team in a PostgreSQL database, or update the tables of yours."""
    home = open_preheat()
    identity, is_new = home.team.init(address, read_password(password_stdin, "the database"), team, name, least_people)
    if as_json:
        print_json({"team": identity.team, "name": identity.name, "role": identity.role, "is_new": is_new})
        return 0
    if is_new:
        print(f"The team `{printable(identity.team)}` is made, and you are its owner, `{identity.name}`.")
        hint(
            "Next: `preheat team invite NAME` lets somebody in, `preheat team push --dry-run` shows what would be pushed."
        )
    else:
        print(f"The tables of `{printable(identity.team)}` are up to date.")
    return 0


@click.command(
    "join",
    cls=ExampleCommand,
    epilog="""\
  preheat team join postgresql://preheat_NAME@db.example.org/preheat
  preheat team join ADDRESS --password-stdin < password.txt

The password is kept in a file that only you can read, beside the archive; one in PGPASSWORD or ~/.pgpass is not copied.
Nothing is pushed by joining. Over a network the connection is encrypted; `?sslmode=verify-full` at the end of the
address also checks the server's certificate.""",
)
@click.argument("address", metavar="ADDRESS")
@_password_option
@json_option
def join_command(address: str, password_stdin: bool, as_json: bool) -> int:
    """Join a team with the address and the password of an invitation."""
    identity = open_preheat().team.join(address, read_password(password_stdin, "this login"))
    if as_json:
        print_json({"team": identity.team, "name": identity.name, "role": identity.role})
        return 0
    who, where = printable(identity.name), printable(identity.team)
    print(f"You are `{who}` in the team `{where}`, as a {printable(identity.role)}. Nothing was pushed.")
    if identity.role == "reader":
        hint("Next: `preheat team pull` gets the approved lessons.")
    else:
        hint(
            "Next: `preheat team push --dry-run` shows what would be pushed, `preheat team pull` gets approved lessons."
        )
    return 0


@click.command(
    "invite",
    cls=ExampleCommand,
    epilog="""\
  preheat team invite NAME                              a member: pushes, and gets approved lessons
  preheat team invite NAME --role reviewer              also approves lessons and reads pushed transcripts
  preheat team invite NAME --role reader                sees numbers and approved lessons
  preheat team invite NAME --login LOGIN                a login that the server has already
  preheat team invite NAME --password-file password.txt --json    for programs

The password is printed once and stored nowhere; hand it over where only that person sees it.""",
)
@click.argument("name", metavar="NAME")
@click.option("--role", type=click.Choice(INVITED_ROLES), default="member", show_default=True, help="What they may do.")
@click.option("--login", default="", metavar="LOGIN", help="Let this login of the server in, instead of making one.")
@click.option(
    "--password-file", type=click.Path(dir_okay=False), metavar="FILE",
    help="Write the password into this file, for its owner only, instead of printing it.",
)  # fmt: skip
@json_option
def invite_command(name: str, role: TeamRole, login: str, password_file: str | None, as_json: bool) -> int:
    """Let somebody into your team, with a login of their own."""
    if as_json and not (password_file or login):
        raise UserError("a password is not printed as JSON: give `--password-file FILE`")
    invitation = open_preheat().team.invite(name, role, login)
    if password_file and invitation.password:
        write_atomically(os.path.abspath(password_file), f"{invitation.password}\n".encode())
    if as_json:
        print_json(
            {
                "name": name,
                "role": role,
                "address": invitation.address,
                "password_file": password_file if invitation.password else None,
            }
        )
        return 0
    print(f"`{name}` is in the team, as a {role}, and joins with:")
    print(f"  preheat team join {invitation.address}")
    if invitation.password and not password_file:
        print(f"and, when asked, this password, which is shown only now:\n  {invitation.password}")
    elif invitation.password:
        print(f"and the password in `{short_path(os.path.abspath(password_file or ''))}`.")
    return 0


@click.command(
    "members",
    cls=ExampleCommand,
    epilog="""\
  preheat team members
  preheat team members --json | jq '.members[].name'""",
)
@json_option
def members_command(as_json: bool) -> int:
    """List who is in your team."""
    found = open_preheat().team.members()
    if as_json:
        print_json({"members": found})
        return 0
    for line in columns(
        [(printable(each.name), each.role, f"since {day(each.since)}", each.login) for each in found], 4
    ):
        print(line)
    return 0


@click.command(
    "remove",
    cls=ExampleCommand,
    epilog="""\
  preheat team remove NAME                         asks what to do with the rows
  preheat team remove NAME --rows delete --yes
  preheat team remove NAME --rows keep --yes       numbers and lessons stay, without a person

The login can do nothing from that moment on, also in connections that are open.""",
)
@click.argument("name", metavar="NAME")
@_rows_option
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
def remove_command(name: str, rows: str | None, yes: bool, as_json: bool) -> int:
    """Remove somebody from your team at once."""
    keep = _ask_about_rows(rows, yes, as_json, f"`{name}`")
    if keep is None:
        print("Nobody was removed.")
        return 0
    open_preheat().team.remove(name, keep)
    if as_json:
        print_json({"removed": name, "rows": "kept" if keep else "deleted"})
    else:
        kept = "kept without a person" if keep else "deleted"
        print(f"`{name}` is no longer in the team; their rows are {kept}.")
    return 0


@click.command(
    "leave",
    cls=ExampleCommand,
    epilog="""\
  preheat team leave                          asks whether your rows are deleted
  preheat team leave --rows delete --yes
  preheat team leave --offline                the server is gone: forget the team here only

Lessons that came from the team are no longer used here. Transcripts are deleted in any case.""",
)
@_rows_option
@click.option("--offline", is_flag=True, help="Forget the team here, without telling its server.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
def leave_command(rows: str | None, offline: bool, yes: bool, as_json: bool) -> int:
    """Leave the team, and take your rows along if you want."""
    team = open_preheat().team
    waiting = team.waiting_deletions()
    if offline:
        name = team.forget_team()
        left = f"; {count(waiting, 'deletion')} that waited were not carried out" if waiting else ""
        if as_json:
            print_json({"left": name, "rows": "unchanged", "deletions_not_done": waiting})
        else:
            print(f"This machine has forgotten the team `{name}`; what was pushed is still on its server{left}.")
        return 0
    keep = _ask_about_rows(rows, yes, as_json, "you")
    if keep is None:
        print("You are still in the team.")
        return 0
    if waiting and keep:
        team.delete_queued()
    name = team.leave(keep)
    if as_json:
        print_json({"left": name, "rows": "kept" if keep else "deleted"})
    else:
        kept = "kept without your name" if keep else "deleted"
        print(f"You have left the team `{name}`; your rows are {kept}, and its lessons are no longer used here.")
    return 0


def _ask_about_rows(rows: str | None, yes: bool, as_json: bool, who: str) -> bool | None:
    """Whether derived rows are kept; None if the person does not want to go on after all."""
    can_ask = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if rows is None and not can_ask:
        raise UserError("say what becomes of the rows: `--rows delete` or `--rows keep`")
    if rows is None:
        question = f"Delete everything that {who} pushed? (No: numbers and lessons stay, without a name)"
        rows = "delete" if click.confirm(question, default=True) else "keep"
    if not yes and can_ask and not click.confirm("Go on?", default=False):
        return None
    if not yes and not can_ask:
        raise UserError("this cannot be undone: give `--yes` where nobody can be asked")
    return rows == "keep"
