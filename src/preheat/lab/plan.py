"""The plan of a lab: tasks, arms, contexts and the order of runs, as frozen values, stored before the first run. Runs nothing."""

import random
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from preheat.lab.suite import Task
from preheat.model.experiment import EARLIER_METRICS, PLACEBO_TOLERANCE, MetricName
from preheat.model.session import PREHEAT_RUN

COLD = "cold"
CHAT = "chat"
"""The agent that is Preheat's own chat loop."""
STRATEGIES = ("none", "mask", "headtail", "markers")
"""The arms that give a past session, made shorter by that strategy."""
ITEM_ARM = re.compile(r"k=(\d{1,3})")
"""The name of an arm with so many items."""
Placement: TypeAlias = Literal["prompt", "file"]
"""Where a context goes: before the prompt, or into the file that the agent reads by itself."""
METRICS: tuple[MetricName, ...] = ("success", "mistakes", "errors", "seconds", "tokens")
"""What a lab measures of a run."""
Limit: TypeAlias = Literal["turns", "tokens"]
MARGINS: dict[str, float] = {"success": 0.1, "mistakes": 0.02, "errors": 0.02}
"""The default margins; for seconds and tokens a person must give one."""


class ArmContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The context of an arm for a task."""

    context: str = ""
    """The id of the text; empty: nothing is given."""
    tokens: int = 0
    items: int = 0
    why: str = ""
    """Why nothing is given, if nothing is."""


class Cell(NamedTuple):
    """One run."""

    task: str
    arm: str
    repeat: int

    @property
    def id(self) -> str:
        return f"{self.task}.{self.repeat}.{self.arm}"

    @property
    def block(self) -> tuple[str, int]:
        """The task and repeat, which all arms share."""
        return self.task, self.repeat


class LabPlan(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"unenforced": "unheeded", "request_digest": "asked", "contexts": "given"},
):
    """Everything that decides what is run. Never changed once the first run began."""

    name: str
    run: str
    """A unique name, which every prompt carries."""
    at: float
    suite: str
    tasks: tuple[Task, ...]
    arms: tuple[str, ...]
    repeats: int
    seed: int
    agent: str
    endpoint: str
    model: str
    options: tuple[str, ...] = ()
    project: str = ""
    """A folder of which each run gets a copy."""
    give: Placement = "prompt"
    timeout: float = 600.0
    turns: int = 0
    tokens: int = 0
    """What a run may take; 0: no limit."""
    unenforced: tuple[Limit, ...] = ()
    """The limits that this agent does not enforce: they are only measured."""
    metric: MetricName = "success"
    margin: float = 0.1
    sources: dict[str, str] = {}
    """What the contexts are made from, as a person would name it."""
    contexts: dict[str, dict[str, ArmContext]] = {}
    """By arm and task."""
    texts: dict[str, str] = {}
    """By id, the contexts as they are given."""
    request_digest: str = ""
    """The digest of the request: the same request goes on with this plan."""

    def __post_init__(self) -> None:
        if self.metric in EARLIER_METRICS:
            force_setattr(self, "metric", EARLIER_METRICS[self.metric])

    def context_of(self, cell: Cell) -> ArmContext:
        return self.contexts.get(cell.arm, {}).get(cell.task, ArmContext())

    def task(self, name: str) -> Task:
        return next(task for task in self.tasks if task.id == name)


def item_count(arm: str) -> int | None:
    """How many items an arm has, if it is one of those."""
    found = ITEM_ARM.fullmatch(arm)
    return int(found[1]) if found else None


def unmatched_tasks(plan: LabPlan) -> list[str]:
    """The tasks whose placebo has not the right length."""
    if "placebo" not in plan.arms or "warm" not in plan.arms:
        return []
    placebo, warm = plan.contexts["placebo"], plan.contexts["warm"]
    return [
        task for task in warm if abs(placebo[task].tokens - warm[task].tokens) > PLACEBO_TOLERANCE * warm[task].tokens
    ]


def plan_runs(plan: LabPlan) -> list[Cell]:
    """All runs in order. The tasks of each repeat are shuffled, and so are the arms of each task, which follow each other: what
    changes with time changes for all arms alike."""
    shuffler = random.Random(f"{plan.seed} {plan.suite}")  # noqa: S311 - an order that can be drawn again, not a secret
    return list(_shuffled_runs(plan, shuffler))


def _shuffled_runs(plan: LabPlan, shuffler: random.Random) -> Iterator[Cell]:
    for repeat in range(1, plan.repeats + 1):
        tasks = [task.id for task in plan.tasks]
        shuffler.shuffle(tasks)
        for task in tasks:
            arms = list(plan.arms)
            shuffler.shuffle(arms)
            for arm in arms:
                yield Cell(task, arm, repeat)


def run_mark(plan: LabPlan, cell: Cell) -> str:
    """The first line of a prompt, the same in all arms."""
    return f'{PREHEAT_RUN} lab="{plan.run}" task="{cell.task}" repeat="{cell.repeat}">'


def run_prompt(plan: LabPlan, cell: Cell) -> str:
    """What the agent is asked in a run."""
    context = plan.texts.get(plan.context_of(cell).context, "") if plan.give == "prompt" else ""
    return "\n\n".join(part for part in (run_mark(plan, cell), context, plan.task(cell.task).prompt) if part)


def digest(*parts: object) -> str:
    return sha256(msgspec.json.encode(parts)).hexdigest()[:16]
