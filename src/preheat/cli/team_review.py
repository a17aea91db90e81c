"""The commands of `preheat team` for reviewers: lessons, approve, decline, transcripts. Decides nothing itself."""

import sys

import click
from click.shell_completion import CompletionItem

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.text import columns, count, date_time, format_bytes, printable
from preheat.errors import UserError
from preheat.model.team import ReviewedProposal

_SHOWN = 12
"""Characters of a digest."""


class ProposalName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A proposed lesson by the beginning of its digest."""

    name = "lesson"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            found = open_preheat().team.waiting_lessons()
        except UserError:
            return []
        return [
            CompletionItem(each.digest[:_SHOWN], help=clean(each.text)[:60])
            for each in found
            if each.digest.startswith(incomplete)
        ]


@click.command(
    "lessons",
    cls=ExampleCommand,
    epilog="""\
  preheat team lessons                    those that wait for a review, for reviewers
  preheat team lessons --approved         those that everybody gets
  preheat team lessons --history          who approved or declined what, and when
  preheat team lessons --json

A lesson stands there exactly as a session is told it. Who proposed it is not shown.""",
)
@click.option("--approved", is_flag=True, help="Those that the team hands on.")
@click.option("--history", is_flag=True, help="Every review, the newest first.")
@json_option
def lessons_command(approved: bool, history: bool, as_json: bool) -> int:
    """List lessons that wait for a review, or are approved."""
    if approved and history:
        raise click.UsageError("give --approved or --history, not both")
    team = open_preheat().team
    if history:
        return _show_history(as_json)
    found = team.approved_lessons() if approved else team.waiting_lessons()
    if as_json:
        print_json({"lessons": found})
        return 0
    for each in found:
        _show(each)
    if not found:
        hint("No lesson is approved yet." if approved else "No lesson waits for a review.")
    elif not approved:
        hint("`preheat team approve ID` hands one on to everybody, `preheat team decline ID` does not.")
    return 0


def _show(each: ReviewedProposal) -> None:
    print(f"{each.digest[:_SHOWN]}  {printable(each.repository)}")
    print(f"  {clean(each.text) or 'not what our grammar allows: no machine would take it'}")
    against = f", {count(each.calls_against, 'call')} against" if each.calls_against else ""
    seen = f"{count(each.calls_for, 'call')} in {count(each.sessions_for, 'session')} for it{against}"
    print(f"  {seen if each.calls_for else 'written by a person'}")


def _show_history(as_json: bool) -> int:
    found = open_preheat().team.reviews()
    if as_json:
        print_json({"reviews": found})
        return 0
    for each in found:
        why = f": {clean(each.why)}" if each.why else ""
        print(f"{date_time(each.at)}  {each.verdict} by {printable(each.reviewer)}{why}")
        print(f"  {each.digest[:_SHOWN]}  {printable(each.repository)}  {clean(each.text)}")
    if not found:
        hint("Nothing was reviewed yet.")
    return 0


@click.command(
    "approve",
    cls=ExampleCommand,
    epilog="""\
  preheat team approve 3f2a91c0b1d2
  preheat team approve 3f2a91c0b1d2 --reason 'holds since we moved to uv'

Your name, the time and the reason are kept for good. Nobody approves a lesson that only they proposed.""",
)
@click.argument("lesson", type=ProposalName())
@click.option("--reason", default="", metavar="TEXT", help="Why; kept with the review, told to no session.")
@json_option
def approve_command(lesson: str, reason: str, as_json: bool) -> int:
    """Approve a lesson: everybody's sessions get it."""
    found = open_preheat().team.review(lesson, "approved", reason)
    if as_json:
        print_json({"digest": found.digest, "verdict": "approved"})
    else:
        print(f"Approved: {clean(found.text)}")
        hint("Everybody's next `preheat team pull` gets it.")
    return 0


@click.command(
    "decline",
    cls=ExampleCommand,
    epilog="""\
  preheat team decline 3f2a91c0b1d2 --reason 'only true on one machine'
  preheat team decline 3f2a91c0b1d2          also of an approved one: it is handed on no longer""",
)
@click.argument("lesson", type=ProposalName())
@click.option("--reason", default="", metavar="TEXT", help="Why; kept with the review, told to no session.")
@json_option
def decline_command(lesson: str, reason: str, as_json: bool) -> int:
    """Decline a lesson, or take an approval back."""
    found = open_preheat().team.review(lesson, "declined", reason)
    if as_json:
        print_json({"digest": found.digest, "verdict": "declined"})
    else:
        print(f"Declined: {clean(found.text) or found.digest[:_SHOWN]}")
    return 0


@click.command(
    "transcripts",
    cls=ExampleCommand,
    epilog="""\
  preheat team transcripts                       which ones there are; whose is not shown
  preheat team transcripts 9c1d2e3f | jq .       one of them, as JSON lines

Only reviewers read them, to see whether a lesson holds; and only where a person has set a project to `transcripts`.""",
)
@click.argument("session", required=False, metavar="[SESSION]")
@json_option
def transcripts_command(session: str | None, as_json: bool) -> int:
    """List or print whole sessions that were pushed."""
    team = open_preheat().team
    if session:
        sys.stdout.write(printable(team.transcript(session).decode("utf-8", "replace")))
        return 0
    found = team.transcripts()
    if as_json:
        print_json({"transcripts": [each._asdict() for each in found]})
        return 0
    rows = [
        (
            each.session[:_SHOWN],
            printable(each.repository),
            printable(each.agent),
            printable(each.model),
            count(each.calls, "call"),
            format_bytes(each.bytes),
            date_time(each.pushed_at),
        )
        for each in found
    ]
    for line in columns(rows, 4):
        print(line)
    if not found:
        hint("Nobody pushes whole sessions. `preheat team allow PROJECT transcripts` does so for a project of yours.")
    return 0
