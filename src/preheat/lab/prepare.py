"""Makes the plan of a lab from a suite and options: checks them, and makes all contexts, before anything runs. Runs nothing."""

import os
import time
import urllib.error
import urllib.request
from typing import Any, NamedTuple, cast
from uuid import uuid4

import msgspec

from preheat.errors import UserError
from preheat.lab.arms import Sources, make_contexts, parse_arms
from preheat.lab.plan import (
    CHAT,
    MARGINS,
    METRICS,
    STRATEGIES,
    LabPlan,
    Limit,
    Placement,
    digest,
    plan_runs,
    run_prompt,
)
from preheat.lab.run import Bench
from preheat.lab.state import Lab
from preheat.lab.suite import Settings, Suite, Task
from preheat.model.context import TOKEN_BUDGET
from preheat.model.experiment import EARLIER_METRICS, MetricName

_LONGEST_ARGUMENT = 120_000
"""The longest argument of a program, in bytes."""
_ENDPOINT_SECONDS = 10.0


class LabRequest(Settings, frozen=True, kw_only=True):
    """The options of a person; empty or None where the suite or a default decides."""

    program: str = ""
    key: str = ""
    timeout: float = 600.0
    options: tuple[str, ...] = ()


def with_suite_settings(suite: Suite, wanted: LabRequest) -> LabRequest:
    """The options, completed by the suite's settings."""
    found: dict[str, Any] = {}
    for name in type(suite.settings).__struct_fields__:
        settings, theirs = getattr(wanted, name), getattr(suite.settings, name)
        if settings in ("", None, ()) and theirs not in ("", None, ()):
            found[name] = theirs
    return msgspec.structs.replace(wanted, **found)


def prepare_plan(
    lab: Lab, name: str, suite: Suite, wanted: LabRequest, bench: Bench, sources: Sources, restart: bool = False
) -> LabPlan:
    """The plan of a lab: the stored one if the request is the same, else a new one. Raises UserError for invalid options, or if
    another lab has that name, unless `restart` sets it aside."""
    chosen = _check_options(suite, wanted, bench)
    request_digest = digest(
        suite.name, [task.digest for task in suite.tasks], msgspec.structs.replace(wanted, program="")
    )
    if lab.exists and not restart:
        plan = lab.plan()
        if plan.request_digest != request_digest:
            raise UserError(
                f"there is a lab `{name}` that was started in another way ({len(lab.results())} of "
                f"{len(plan_runs(plan))} runs are"
                " over); `--name` gives this one another name, `--restart` puts the other one aside"
            )
        return plan
    plan = _make_plan(name, suite, wanted, bench, sources, chosen, request_digest)
    if lab.exists:
        lab.set_aside()
    lab.store_plan(plan)
    return plan


def make_plan(name: str, suite: Suite, wanted: LabRequest, bench: Bench, sources: Sources) -> LabPlan:
    """A plan with its contexts. Nothing is written."""
    return _make_plan(name, suite, wanted, bench, sources, _check_options(suite, wanted, bench))


class _CheckedOptions(NamedTuple):
    """The checked options."""

    arms: tuple[str, ...]
    metric: MetricName
    margin: float
    project: str


def _check_options(suite: Suite, wanted: LabRequest, bench: Bench) -> _CheckedOptions:
    arms = parse_arms(wanted.arms or ("cold", "warm"))
    _check_endpoint(wanted, bench)
    metric = _metric(wanted.metric, suite.tasks)
    return _CheckedOptions(arms, metric, _margin(wanted.margin, metric), _project(wanted.project))


def _make_plan(
    name: str,
    suite: Suite,
    wanted: LabRequest,
    bench: Bench,
    sources: Sources,
    chosen: _CheckedOptions,
    request_digest: str = "",
) -> LabPlan:
    contexts = make_contexts(suite.tasks, chosen.arms, sources)
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
        give=cast(Placement, wanted.give or "prompt"),
        timeout=wanted.timeout,
        turns=wanted.turns or 0,
        tokens=wanted.tokens or 0,
        unenforced=_unenforced_limits(wanted, bench),
        metric=chosen.metric,
        margin=chosen.margin,
        sources=_source_names(wanted, chosen.arms),
        contexts=contexts.by_arm,
        texts=contexts.texts,
        request_digest=request_digest,
    )
    _check_prompt_length(plan, bench)
    return plan


def _check_endpoint(wanted: LabRequest, bench: Bench) -> None:
    if not wanted.endpoint or not wanted.model:
        raise UserError("a lab asks one model: name it with `--endpoint http://…/v1 --model NAME`, or in the suite")
    if not wanted.endpoint.startswith(("http://", "https://")):
        raise UserError(f"`{wanted.endpoint}` is no address; one looks like `http://127.0.0.1:8080/v1`")
    if wanted.give not in ("", "prompt", "file"):
        raise UserError(f"`give` is `prompt` or `file`, not `{wanted.give}`")
    if wanted.give == "file" and not (bench.headless and bench.headless.instructions_file):
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


def _unenforced_limits(wanted: LabRequest, bench: Bench) -> tuple[Limit, ...]:
    """The limits that nothing enforces: the chat loop enforces both, no program enforces tokens."""
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


def _source_names(wanted: LabRequest, arms: tuple[str, ...]) -> dict[str, str]:
    """What the contexts are made from, as the person named it."""
    names = ["template", "lessons", "context", "placebo", *(["session"] if set(arms) & set(STRATEGIES) else [])]
    found = {name: value for name in names if (value := getattr(wanted, name))}
    return found | {"budget": str(wanted.budget or TOKEN_BUDGET)}


def _check_prompt_length(plan: LabPlan, bench: Bench) -> None:
    """Raise UserError if a prompt is too long for a program that takes it as an argument."""
    if bench.headless is None or bench.headless.reads_input:
        return
    longest = max(plan_runs(plan), key=lambda cell: len(run_prompt(plan, cell)))
    size = len(run_prompt(plan, longest).encode("utf-8", "replace"))
    if size > _LONGEST_ARGUMENT:
        raise UserError(
            f"the prompt of `{longest.task}` in `{longest.arm}` has {size:,} bytes, and `{bench.headless.program}` takes"
            f" {_LONGEST_ARGUMENT:,}; leave that arm out, or take another agent"
        )


def check_reachable(endpoint: str) -> None:
    """Raise UserError if nothing answers at an endpoint."""
    try:
        with urllib.request.urlopen(f"{endpoint.rstrip('/')}/models", timeout=_ENDPOINT_SECONDS):  # noqa: S310 - http(s) only
            pass
    except urllib.error.HTTPError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise UserError(f"nothing answers at `{endpoint}` ({reason}); is the server running?") from error
