"""The commands `preheat lessons add`, `edit`, `approve` and `undo`: a person's own words. Words nothing itself."""

import sys
from typing import TYPE_CHECKING

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.lesson_names import LessonName
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.text import count
from preheat.errors import UserError
from preheat.model.lesson import NewLesson

if TYPE_CHECKING:
    from preheat.app.lessons import SavedLesson


@click.command(
    "add",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons add 'run make gen after editing schema.sql' --project .
  preheat lessons add --command 'pnpm run test:unit' --instead-of 'npm test' --for test --project .
  preheat lessons add 'answer in German'                       for every project

Sessions are given these very words, on one line of at most 300 characters; secrets are taken out first. Your own lesson
outranks what was learned: a learned one that says the opposite is retired.""",
)
@click.argument("text", required=False, default="")
@click.option("--command", default="", metavar="COMMAND", help="The command to use here.")
@click.option("--instead-of", default="", metavar="COMMAND", help="The command not to use here.")
@click.option("--for", "topic", default="", metavar="WORD", help="What the command is for: test, lint, build…")
@click.option("--project", metavar="TEXT", help="Only for this project (name or path; `.` is here).")
@json_option
def add_command(text: str, command: str, instead_of: str, topic: str, project: str | None, as_json: bool) -> int:
    """Write a lesson yourself: sessions are given it in your words."""
    if text and (command or instead_of):
        raise UserError("give words or `--command`, not both")
    saved = open_archive().knowledge.add(NewLesson(text, command, instead_of, topic), project)
    return _show_saved("added", saved, as_json)


@click.command(
    "edit",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons edit r1f3a2b4c 'start the database with make db before the tests'
  preheat lessons edit r1f3a2b4c                       opens your editor""",
)
@click.argument("lesson", type=LessonName())
@click.argument("text", required=False, default="")
@json_option
def edit_command(lesson: str, text: str, as_json: bool) -> int:
    """Put a lesson into your own words (`undo` takes it back)."""
    home = open_archive()
    if not text:
        found = home.knowledge.find(lesson)
        text = edit_text(found.text)
        if not text:
            hint("nothing changed")
            return 0
    return _show_saved("edited", home.knowledge.edit(lesson, text), as_json)


def edit_text(text: str) -> str:
    """The text as the person's editor leaves it; empty if it was not changed. Raises UserError without a terminal."""
    if not sys.stdin.isatty():
        raise UserError("without a terminal give the new words: `preheat lessons edit ID 'new words'`")
    try:
        changed = click.edit(clean(text) + "\n", extension=".txt")
    except click.ClickException as error:
        raise UserError(f"{error.message}; `preheat lessons edit ID 'new words'` needs no editor") from error
    changed = " ".join((changed or "").split())
    return "" if changed == " ".join(clean(text).split()) else changed


@click.command("approve", cls=ExampleCommand, epilog="  preheat lessons approve c0e1d2f3a --because 'that is our rule'")
@click.argument("lesson", type=LessonName())
@click.option("--because", "why", default="", metavar="TEXT", help="Why; stored with the approval.")
@json_option
def approve_command(lesson: str, why: str, as_json: bool) -> int:
    """Approve a lesson's text as it stands: sessions are given these very words."""
    return _show_saved("approved", open_archive().knowledge.approve_text(lesson, why), as_json)


@click.command(
    "undo",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons undo                  the last thing you did with lessons
  preheat lessons undo c0e1d2f3a        the last thing you did with this one""",
)
@click.argument("lesson", required=False, default="", type=LessonName())
@json_option
def undo_command(lesson: str, as_json: bool) -> int:
    """Take back the last add, edit, approve, keep, drop, pin, retire or release."""
    undone = open_archive().knowledge.undo(lesson)
    if as_json:
        print_json(undone._asdict())
    else:
        print(f"undone: {undone.action} of `{undone.lesson}`: {clean(undone.text)}")
    return 0


def _show_saved(done: str, saved: "SavedLesson", as_json: bool) -> int:
    """Print a lesson as a session will be given it."""
    if as_json:
        print_json(saved._asdict())
        return 0
    print(f"{done}: `{saved.lesson.id}`. Sessions are told: {clean(saved.said)}")
    if saved.secrets:
        print(f"preheat: {count(saved.secrets, 'secret')} taken out of your words", file=sys.stderr)
    hint(f"`preheat lessons undo {saved.lesson.id}` takes it back.")
    return 0
