"""The commands `preheat lessons learn` and `preheat lessons`: run the learners; list, show, pin and retire lessons.

Learns nothing itself.
"""

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from preheat.app.lazy import LazyModule
from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.lesson_distilling import distill_command
from preheat.cli.lesson_names import LessonName
from preheat.cli.lesson_proposal import propose_command
from preheat.cli.lesson_review import review_command
from preheat.cli.lesson_writing import add_command, approve_command, edit_command, undo_command
from preheat.cli.options import AgentName
from preheat.cli.progress import Display
from preheat.cli.screen import clean, hint, print_json
from preheat.cli.text import count, printable
from preheat.errors import UserError
from preheat.model.lesson import LESSON_KINDS, Lesson

if TYPE_CHECKING:
    from preheat.app.learning import LearnReport
    from preheat.app.lessons import MarkKind
    from preheat.cli import lesson_screen as _screen
else:
    _screen = LazyModule("preheat.cli.lesson_screen")  # rich takes longer than a completion

# `preheat lessons learn`
_IDLE = 0.5
"""Load per core below which the machine counts as idle."""
_LOOK_AGAIN = 15.0


class LearnerName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A learner by its name, however written, or a part of it."""

    name = "learner"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        wanted, names = _plain(str(value)), open_preheat().learners()
        found = [name for name in names if _plain(name) == wanted]
        for part in (wanted, wanted.removesuffix("s")):  # `repairs` is about LearnRepairPatterns
            found = found or [name for name in names if part and part in _plain(name)]
        if len(found) > 1:
            self.fail(f"`{value}` is in the names of {', '.join(found)}", param, ctx)
        if not found:
            self.fail(f"no learner `{value}`; there are {', '.join(names)}", param, ctx)
        return found[0]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [
            CompletionItem(name) for name in open_preheat().learners() if _plain(name).startswith(_plain(incomplete))
        ]


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


@click.command(
    "learn",
    cls=ExampleCommand,
    epilog="""\
  preheat lessons learn                               everything new since the last time
  preheat lessons learn --learner repairs             one of the ten learners alone
  preheat lessons learn --when-idle --quiet           for a timer: waits until the machine is idle
  preheat lessons list --project .            what was learned here

Only sessions that are new or have grown are read; a run can be stopped at any time, and the next one continues. No model is
called, and nothing leaves this machine. Run `preheat sync` first, or let your agent's hooks do it.""",
)
@click.option("--learner", "learners", type=LearnerName(), multiple=True, help="Run only this learner (repeatable).")
@click.option("--task", "tasks", type=LearnerName(), multiple=True, hidden=True)  # the name in version 0.1
@click.option("--when-idle", is_flag=True, help="Wait until the machine is idle, and run at low priority.")
@click.option(
    "--wait", type=click.FloatRange(0), default=60.0, show_default=True, metavar="MINUTES",
    help="With --when-idle: give up after this time.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="Print nothing if all goes well.")
@json_option
def learn_command(
    learners: tuple[str, ...], tasks: tuple[str, ...], when_idle: bool, wait: float, quiet: bool, as_json: bool
) -> int:
    """Learn from the sessions in the archive: what works, what does not, what fixes it.

    Runs ten learners in order, each only on what is new.
    """
    if when_idle:
        _wait_until_idle(wait * 60)
    preheat = open_archive()
    with Display() as progress:
        report = preheat.learn(*learners, *tasks, progress=progress)
    for failure in report.failures[:3]:
        print(f"preheat: left out: {printable(failure.key)}: {printable(failure.why)}", file=sys.stderr)
    if as_json:
        _print_json(report)
    elif not quiet:
        _screen.show_learning(report)
    return 1 if report.failures else 0


def _wait_until_idle(most: float) -> None:
    """Wait for an idle machine, then lower our priority."""
    if not hasattr(os, "getloadavg"):
        return
    until = time.monotonic() + most
    while os.getloadavg()[0] / (os.cpu_count() or 1) > _IDLE:
        if time.monotonic() >= until:
            raise UserError(
                "the machine was busy all the time, so nothing was learned; `preheat lessons learn` learns now"
            )
        time.sleep(min(_LOOK_AGAIN, max(0.0, until - time.monotonic())))
    os.nice(10)


def _print_json(report: "LearnReport") -> None:
    print_json(
        {
            "sessions": report.sessions,
            "projects": report.projects,
            "mistakes": report.mistakes,
            "tasks": [task._asdict() for task in report.tasks],
            "failures": [{"session": failure.key, "why": failure.why} for failure in report.failures],
            "seconds": round(report.seconds, 3),
            "proof": report.withdrawals,
        }
    )


# `preheat lessons`
_LIMIT = 40


@click.group(
    "lessons",
    cls=ExampleGroup,
    epilog="""\
  preheat lessons list --project .
  preheat lessons review                    what is new: keep, edit or drop each with one key
  preheat lessons add 'run make gen after editing the schema' --project .
  preheat lessons propose --project .       the lines that AGENTS.md lacks, as a patch
  preheat lessons show r1f3a2b4c            its evidence: sessions and calls, for and against
  preheat lessons undo                      take back the last thing you did with lessons""",
)
def lessons_group() -> None:
    """Learn what works; list, review, write and propose lessons, with their evidence."""


lessons_group.add_command(learn_command)


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
        hint(
            "No lessons here. `preheat sync`, then `preheat lessons learn`; `--all` also shows what is too weak to be used."
        )
        return 0
    _screen.show_lessons(shown, now)
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
    (one,) = home.knowledge.with_cited_calls([home.knowledge.find(lesson)])
    if as_json:
        print_json(one)
    else:
        names = home.archive.short_names(each.session for each in one.evidence)
        _screen.show_lesson(one, names, time.time(), home.knowledge.failed_evidence(one))
    return 0


lessons_group.add_command(review_command)
lessons_group.add_command(add_command)
lessons_group.add_command(edit_command)
lessons_group.add_command(approve_command)
lessons_group.add_command(propose_command)
lessons_group.add_command(distill_command)


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


lessons_group.add_command(undo_command)
