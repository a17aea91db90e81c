"""`preheat lessons`: list and show what was learned, with what it rests on; pin and retire it."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.home import open_archive
from preheat.cli.options import AgentName
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.text import count, one_line
from preheat.model.lesson import LESSON_KINDS, Lesson

if TYPE_CHECKING:
    from preheat.app.learning.lessons import MarkKind

_LIMIT = 40


class LessonName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A lesson by its id or the beginning of it."""

    name = "lesson"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [
            CompletionItem(each.id, help=one_line(each.text, 60))
            for each in open_archive().knowledge.lessons()
            if each.id.startswith(incomplete)
        ]


@click.group(
    "lessons",
    cls=ExampleGroup,
    epilog="""\
  preheat lessons list --project .
  preheat lessons show r1f3a2b4c            its evidence: sessions and calls, for and against
  preheat lessons retire r1f3a2b4c          never give it to a session again""",
)
def lessons_group() -> None:
    """List and show what was learned, with its evidence; pin and retire it."""


@lessons_group.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons list --project .                     of this project, and what holds anywhere
  preheat lessons list --kind repair --kind dead_end   only these
  preheat lessons list --all --json                    everything, also weak, retired and quarantined ones""",
)
@click.option("--project", metavar="TEXT", help="Only of this project (name or path; `.` is here), and general ones.")
@click.option("--kind", "kinds", type=click.Choice(LESSON_KINDS), multiple=True, help="Only of this kind (repeatable).")
@click.option("--agent", type=AgentName(), metavar="NAME", help="Only what holds for this agent.")
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="At most this many."
)
@click.option("--all", "everything", is_flag=True, help="All of them, also those that are not given to sessions.")
@json_option
def list_command(
    project: str | None, kinds: tuple[str, ...], agent: str | None, limit: int, everything: bool, as_json: bool
) -> int:
    """List what was learned: by kind, the best first."""
    found = open_archive().knowledge.lessons(project)
    now = time.time()
    fitting = [
        lesson
        for lesson in found
        if (not kinds or lesson.kind in kinds)
        and (agent is None or lesson.scope.agent in ("", agent))
        and (everything or lesson.is_usable(now))
    ]
    fitting.sort(key=lambda lesson: (LESSON_KINDS.index(lesson.kind), -lesson.score, lesson.id))
    shown = fitting if everything else _take_evenly(fitting, limit)
    if as_json:
        print_json(shown)
        return 0
    if not shown:
        hint("No lessons here. `preheat sync`, then `preheat learn`; `--all` also shows what is too weak to be used.")
        return 0
    from preheat.cli.lesson_cards import show_lessons  # noqa: PLC0415 - rich takes longer than a completion

    show_lessons(shown, now)
    number = count(len(shown), "lesson") + (f" of {len(found):,}" if len(shown) < len(found) else "")
    hint(f"{number}. `preheat lessons show {shown[0].id}` shows its evidence.")
    return 0


def _take_evenly(lessons: Sequence[Lesson], limit: int) -> list[Lesson]:
    """The best of each kind in turn, up to `limit`."""
    if len(lessons) <= limit:
        return list(lessons)
    places: dict[str, int] = {}
    turns: list[tuple[int, int]] = []
    for index, lesson in enumerate(lessons):
        places[lesson.kind] = places.get(lesson.kind, 0) + 1
        turns.append((places[lesson.kind], index))
    return [lessons[index] for index in sorted(index for _, index in sorted(turns)[:limit])]


@lessons_group.command("show", cls=ExampleCommand, epilog="  preheat lessons show r1f3a2b4c")
@click.argument("lesson", type=LessonName())
@json_option
def show_command(lesson: str, as_json: bool) -> int:
    """Show one lesson with its evidence: sessions and calls."""
    home = open_archive()
    one = home.knowledge.find(lesson)
    if as_json:
        print_json(one)
    else:
        from preheat.cli.lesson_cards import show_lesson  # noqa: PLC0415 - rich takes longer than a completion

        show_lesson(one, home.archive.short_names(each.session for each in one.evidence), time.time())
    return 0


@lessons_group.command(
    "retire", cls=ExampleCommand, epilog="  preheat lessons retire r1f3a2b4c --because 'we moved to pnpm'"
)
@click.argument("lesson", type=LessonName())
@click.option("--because", "why", default="", metavar="TEXT", help="Why; stored with the lesson.")
@json_option
def retire_command(lesson: str, why: str, as_json: bool) -> int:
    """Never use a lesson again, whatever is learned later (`release` undoes it)."""
    return _mark(lesson, "retired", why, as_json)


@lessons_group.command("pin", cls=ExampleCommand, epilog="  preheat lessons pin c0e1d2f3a")
@click.argument("lesson", type=LessonName())
@click.option("--because", "why", default="", metavar="TEXT", help="Why; stored with the lesson.")
@json_option
def pin_command(lesson: str, why: str, as_json: bool) -> int:
    """Use a lesson whenever it fits, whatever its score or age (`release` undoes it)."""
    return _mark(lesson, "pinned", why, as_json)


@lessons_group.command("release", cls=ExampleCommand, epilog="  preheat lessons release c0e1d2f3a")
@click.argument("lesson", type=LessonName())
@json_option
def release_command(lesson: str, as_json: bool) -> int:
    """Undo a pin or a retirement."""
    return _mark(lesson, None, "", as_json)


def _mark(lesson: str, mark: "MarkKind | None", why: str, as_json: bool) -> int:
    found = open_archive().knowledge.mark(lesson, mark, why)
    one = found.lesson
    if as_json:
        print_json(one)
        return 0
    if mark is None and not found.was_marked:
        print(f"`{one.id}` was neither pinned nor retired by you; there is nothing to undo")
        return 0
    done = {"pinned": "pinned", "retired": "retired", None: "released"}[mark]
    undo = f" `preheat lessons release {one.id}` undoes it." if mark else ""
    print(f"{done}: {clean(one.text)}{undo}")
    return 0
