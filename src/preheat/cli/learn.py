"""`preheat learn`: runs the learners on what is new, and shows what they learned."""

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.progress import Display
from preheat.cli.screen import print_json
from preheat.cli.text import printable
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app.learning.learning import LearnReport

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
  preheat learn                               everything new since the last time
  preheat learn --learner repairs             one of the ten learners alone
  preheat learn --when-idle --quiet           for a timer: waits until the machine is idle
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
        from preheat.cli.lesson_cards import show_learning  # noqa: PLC0415 - rich takes longer than a completion

        show_learning(report)
    return 1 if report.failures else 0


def _wait_until_idle(most: float) -> None:
    """Wait for an idle machine, then lower our priority."""
    if not hasattr(os, "getloadavg"):
        return
    until = time.monotonic() + most
    while os.getloadavg()[0] / (os.cpu_count() or 1) > _IDLE:
        if time.monotonic() >= until:
            raise UserError("the machine was busy all the time, so nothing was learned; `preheat learn` learns now")
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
