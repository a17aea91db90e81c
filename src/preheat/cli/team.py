"""The command `preheat team`: its subcommands by name. Knows what they do as little as the root does."""

import click

from preheat.cli.command import CommandEntry, LazyGroup

TEAM_COMMANDS = {
    "status": CommandEntry("team_push:status_command", "Show what this machine pushes, and the numbers of the team."),
    "init": CommandEntry("team_people:init_command", "Make a team in a PostgreSQL database, or update the tables of yours."),
    "join": CommandEntry("team_people:join_command", "Join a team with the address and the password of an invitation."),
    "allow": CommandEntry("team_push:allow_command", "Say what may be pushed of a project."),
    "push": CommandEntry("team_push:push_command", "Push what you allow to the team, after showing exactly what that is."),
    "pull": CommandEntry("team_push:pull_command", "Get the lessons that the team's reviewers approved."),
    "lessons": CommandEntry("team_review:lessons_command", "List lessons that wait for a review, or are approved."),
    "approve": CommandEntry("team_review:approve_command", "Approve a lesson: everybody's sessions get it."),
    "decline": CommandEntry("team_review:decline_command", "Decline a lesson, or take an approval back."),
    "transcripts": CommandEntry("team_review:transcripts_command", "List or print whole sessions that were pushed."),
    "invite": CommandEntry("team_people:invite_command", "Let somebody into your team, with a login of their own."),
    "members": CommandEntry("team_people:members_command", "List who is in your team."),
    "remove": CommandEntry("team_people:remove_command", "Remove somebody from your team at once."),
    "leave": CommandEntry("team_people:leave_command", "Leave the team, and take your rows along if you want."),
}  # fmt: skip


@click.group(
    "team",
    cls=LazyGroup,
    table=TEAM_COMMANDS,
    epilog="""\
  preheat team init postgresql://LOGIN@HOST/DATABASE        the owner, once
  preheat team invite NAME                                  prints an address and a password, once
  preheat team join postgresql://preheat_NAME@HOST/DATABASE    that person, who is asked for the password
  preheat team push --dry-run                               every field that would leave this machine
  preheat team push                                         asks before the first time
  preheat team approve 3f2a91c0                             a reviewer
  preheat team pull                                         approved lessons, for the next sessions here
  preheat team status

Each machine keeps its own archive. Of a project that has a remote, numbers, names of files and approved lessons are
pushed by default, no text of a session; `preheat team allow` sets it for each project. docs/guides/team.md has the rest.
Needs: pip install 'preheat[postgresql]'""",
)
def team_group() -> None:
    """Share lessons and numbers with a team, through a PostgreSQL database of yours."""
