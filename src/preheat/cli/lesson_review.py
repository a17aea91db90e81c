"""The command `preheat lessons review`: the lessons that are new since the last review, one key each. Decides nothing itself."""

import sys
from typing import TYPE_CHECKING

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.lesson_writing import edit_text
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import count
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app import Preheat
    from preheat.app.lessons import ReviewedLesson

_LIMIT = 40
_KEYS = "[k]eep  [e]dit  [d]rop  [l]ater  [u]ndo  [q]uit"
_WORDS = {"k": "kept", "e": "edited", "d": "dropped", "l": "later"}


@click.command(
    "review",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons review                        everything new, one key each
  preheat lessons review --project .            only of this project
  preheat lessons review | less                 without a terminal it lists them
  preheat lessons undo                          take the last decision back

Each lesson stands there exactly as a session is told it. Keep: it is not shown again. Edit: it gets your words. Drop: no
session is told it again. Later: it comes again in the next review.""",
)
@click.option("--project", metavar="TEXT", help="Only of this project (name or path; `.` is here), and general ones.")
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="At most this many."
)
@json_option
def review_command(project: str | None, limit: int, as_json: bool) -> int:
    """Go through the lessons that are new since the last review, one key each."""
    home = open_archive()
    found = home.knowledge.review(project)
    cited = home.knowledge.with_cited_calls([each.lesson for each in found[:limit]])
    shown = [each._replace(lesson=lesson) for each, lesson in zip(found, cited, strict=False)]
    if as_json:
        print_json([each._asdict() for each in shown])
        return 0
    if not shown:
        hint("Nothing new to review. `preheat lessons list` shows what is known.")
        return 0
    more = f" (of {len(found):,}; the others come in the next review)" if len(found) > len(shown) else ""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        for number, each in enumerate(shown, 1):
            _show(each, number, len(shown))
        hint(f"{count(len(shown), 'lesson')} to review{more}; on a terminal each takes one key.")
        return 0
    decided = _ask_each(home, shown)
    left = len(found) - sum(number for verdict, number in decided.items() if verdict != "later")
    summary = ", ".join(f"{number:,} {verdict}" for verdict, number in decided.items()) or "nothing decided"
    hint(f"{summary}; {left:,} left. `preheat lessons undo` takes the last decision back.")
    return 0


def _ask_each(home: "Preheat", lessons: "list[ReviewedLesson]") -> dict[str, int]:
    """Show each lesson and do what the key says; how many were decided in which way."""
    decided: list[str] = []
    place = 0
    while place < len(lessons):
        each = lessons[place]
        _show(each, place + 1, len(lessons))
        key = _ask()
        if key == "q":
            break
        if key == "u":
            if place:
                place -= 1
                if decided.pop() != "later":
                    home.knowledge.undo()
            continue
        if key == "k":
            home.knowledge.keep(each.lesson.id)
        elif key == "d":
            home.knowledge.drop(each.lesson.id)
        elif key == "e" and not _edit(home, each):
            continue
        decided.append(_WORDS[key])
        place += 1
    return {word: decided.count(word) for word in _WORDS.values() if word in decided}


def _ask() -> str:
    """One key; anything else than the offered ones is asked again."""
    print(f"    {_KEYS} ", end="", flush=True)
    while True:
        try:
            key = click.getchar().lower()
        except (EOFError, OSError):
            key = "q"
        if key in (*_WORDS, "u", "q", "\x03", "\x04", "\x1b"):
            break
    print(key if key in (*_WORDS, "u") else "q")
    return key if key in (*_WORDS, "u") else "q"


def _edit(home: "Preheat", each: "ReviewedLesson") -> bool:
    """Let the person's editor change a lesson; whether it was changed."""
    try:
        text = edit_text(each.said)
        if text:
            saved = home.knowledge.edit(each.lesson.id, text)
            say(console(), f"    Sessions are told: {clean(saved.said)}", "green")
    except UserError as error:
        say(console(), f"    {clean(str(error))}", "red")
        return False
    return bool(text)


def _show(each: "ReviewedLesson", number: int, total: int) -> None:
    from preheat.cli.lesson_screen import show_reviewed_lesson  # noqa: PLC0415 - rich takes longer than a completion

    show_reviewed_lesson(each, number, total)
