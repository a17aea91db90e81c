"""From a suite and options to a plan: what is asked for is checked, and the contexts are made, before anything runs."""

import os
import time
import urllib.error
import urllib.request
from typing import Any, NamedTuple, cast
from uuid import uuid4

import msgspec

from preheat.errors import UserError
from preheat.lab.arms import Sources, arms_named, contexts
from preheat.lab.plan import CHAT, MARGINS, METRICS, STRATEGIES, Give, LabPlan, Limit, digest, order, prompt
from preheat.lab.run import Bench
from preheat.lab.state import Lab
from preheat.lab.tasks.suite import Settings, Suite, Task
from preheat.model.context import BUDGET
from preheat.model.experiment import EARLIER_METRICS, MetricName

_ARGUMENT = 120_000
"""Bytes that a system lets a program have as one word."""
_PATIENCE = 10.0


class Wanted(Settings, frozen=True, kw_only=True):
    """What a person asks for, and what no suite can say; empty or None where the suite, or a default, decides."""

    program: str = ""
    key: str = ""
    timeout: float = 600.0
    options: tuple[str, ...] = ()


def wanted_with(suite: Suite, wanted: Wanted) -> Wanted:
    """What is asked for, with what the suite says where nothing is."""
    found: dict[str, Any] = {}
    for name in type(suite.settings).__struct_fields__:
        own, theirs = getattr(wanted, name), getattr(suite.settings, name)
        if own in ("", None, ()) and theirs not in ("", None, ()):
            found[name] = theirs
    return msgspec.structs.replace(wanted, **found)


def prepare(
    lab: Lab, name: str, suite: Suite, wanted: Wanted, bench: Bench, sources: Sources, restart: bool = False
) -> LabPlan:
    """The plan of a lab: the one that is under way if the same is asked for, else a new one, with the old one put aside. What
    cannot be is refused first: whether there is another lab of that name does not matter then."""
    chosen = _chosen(suite, wanted, bench)
    asked = digest(suite.name, [task.digest for task in suite.tasks], msgspec.structs.replace(wanted, program=""))
    if lab.exists and not restart:
        plan = lab.plan()
        if plan.asked != asked:
            raise UserError(
                f"there is a lab `{name}` that was started in another way ({len(lab.tried())} of {len(order(plan))} runs are"
                " over); `--name` gives this one another name, `--restart` puts the other one aside"
            )
        return plan
    plan = _planned(name, suite, wanted, bench, sources, chosen, asked)
    if lab.exists:
        lab.set_aside()
    lab.begin(plan)
    return plan


def planned(name: str, suite: Suite, wanted: Wanted, bench: Bench, sources: Sources) -> LabPlan:
    """A plan with its contexts. Nothing is written."""
    return _planned(name, suite, wanted, bench, sources, _chosen(suite, wanted, bench))


class _Chosen(NamedTuple):
    """What was asked for by name, each found to be one."""

    arms: tuple[str, ...]
    metric: MetricName
    margin: float
    project: str


def _chosen(suite: Suite, wanted: Wanted, bench: Bench) -> _Chosen:
    arms = arms_named(wanted.arms or ("cold", "warm"))
    _checked(wanted, bench)
    metric = _metric(wanted.metric, suite.tasks)
    return _Chosen(arms, metric, _margin(wanted.margin, metric), _project(wanted.project))


def _planned(
    name: str, suite: Suite, wanted: Wanted, bench: Bench, sources: Sources, chosen: _Chosen, asked: str = ""
) -> LabPlan:
    made = contexts(suite.tasks, chosen.arms, sources)
    plan = LabPlan(
        name=name,
        run=uuid4().hex[:12],
        at=time.time(),
        suite=suite.name,
        tasks=suite.tasks,
        arms=chosen.arms,
        repeats=wanted.repeats or 1,
        seed=wanted.seed or 0,
        agent=wanted.agent or CHAT,
        endpoint=wanted.endpoint.rstrip("/"),
        model=wanted.model,
        options=wanted.options,
        project=chosen.project,
        give=cast(Give, wanted.give or "prompt"),
        timeout=wanted.timeout,
        turns=wanted.turns or 0,
        tokens=wanted.tokens or 0,
        unheeded=_unheeded(wanted, bench),
        metric=chosen.metric,
        margin=chosen.margin,
        sources=_named(wanted, chosen.arms),
        given=made.given,
        texts=made.texts,
        asked=asked,
    )
    _fits(plan, bench)
    return plan


def _checked(wanted: Wanted, bench: Bench) -> None:
    if not wanted.endpoint or not wanted.model:
        raise UserError("a lab asks one model: name it with `--endpoint http://…/v1 --model NAME`, or in the suite")
    if not wanted.endpoint.startswith(("http://", "https://")):
        raise UserError(f"`{wanted.endpoint}` is no address; one looks like `http://127.0.0.1:8080/v1`")
    if wanted.give not in ("", "prompt", "file"):
        raise UserError(f"`give` is `prompt` or `file`, not `{wanted.give}`")
    if wanted.give == "file" and not (bench.headless and bench.headless.file):
        raise UserError("this agent reads no file by itself when it starts; leave `--give file` out")


def _metric(wanted: str, tasks: tuple[Task, ...]) -> MetricName:
    wanted = EARLIER_METRICS.get(wanted, wanted)
    if wanted and wanted not in METRICS:
        raise UserError(f"there is no metric `{wanted}` in the lab; there are {', '.join(METRICS)}")
    if wanted == "success" and not any(task.verify for task in tasks):
        raise UserError("no task has a `verify` command: nothing says whether one succeeded; take `--metric mistakes`")
    verified = all(task.verify for task in tasks)
    return wanted or ("success" if verified else "mistakes")


def _margin(wanted: float | None, metric: str) -> float:
    if wanted is None:
        if metric not in MARGINS:
            raise UserError(f"how many {metric} are no difference? say it with `--margin`")
        return MARGINS[metric]
    if not 0 < wanted < float("inf"):
        raise UserError("the margin is a number above 0, in the metric's own unit: --margin 0.1")
    return wanted


def _unheeded(wanted: Wanted, bench: Bench) -> tuple[Limit, ...]:
    """Our own loop keeps to both; no program is told how many tokens it may take."""
    if bench.headless is None:
        return ()
    turns: tuple[Limit, ...] = ("turns",) if wanted.turns and not bench.headless.out_of_turns else ()
    return (*turns, "tokens") if wanted.tokens else turns


def _project(wanted: str) -> str:
    if not wanted:
        return ""
    folder = os.path.realpath(os.path.expanduser(wanted))
    if not os.path.isdir(folder):
        raise UserError(f"`{wanted}` is no folder")
    return folder


def _named(wanted: Wanted, arms: tuple[str, ...]) -> dict[str, str]:
    """What the contexts are made from, as the person named it."""
    names = ["template", "lessons", "context", "placebo", *(["session"] if set(arms) & set(STRATEGIES) else [])]
    found = {name: value for name in names if (value := getattr(wanted, name))}
    return found | {"budget": str(wanted.budget or BUDGET)}


def _fits(plan: LabPlan, bench: Bench) -> None:
    """A program that takes the prompt as a word cannot take one of any length."""
    if bench.headless is None or bench.headless.reads_input:
        return
    longest = max(order(plan), key=lambda cell: len(prompt(plan, cell)))
    size = len(prompt(plan, longest).encode("utf-8", "replace"))
    if size > _ARGUMENT:
        raise UserError(
            f"the prompt of `{longest.task}` in `{longest.arm}` has {size:,} bytes, and `{bench.headless.program}` takes"
            f" {_ARGUMENT:,}; leave that arm out, or take another agent"
        )


def reachable(endpoint: str) -> None:
    """Raises UserError if nothing answers there at all; what it says does not matter."""
    try:
        with urllib.request.urlopen(f"{endpoint.rstrip('/')}/models", timeout=_PATIENCE):  # noqa: S310 - http(s) only
            pass
    except urllib.error.HTTPError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise UserError(f"nothing answers at `{endpoint}` ({reason}); is the server running?") from error
