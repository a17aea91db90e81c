"""What a lab will do, written down before its first run: tasks, arms, what each arm gives, and the order. Frozen values."""

import random
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from preheat.lab.tasks.suite import Task
from preheat.model.experiment import EARLIER_METRICS, MATCHED, MetricName
from preheat.model.session import PREHEAT_RUN

COLD = "cold"
CHAT = "chat"
"""The agent that is no program: our own plain loop."""
STRATEGIES = ("none", "mask", "headtail", "markers")
"""The arms that give a past session, made shorter by that strategy."""
ITEMS = re.compile(r"k=(\d{1,3})")
"""The name of an arm with so many items."""
Give: TypeAlias = Literal["prompt", "file"]
"""Where a context goes: before the prompt, or into the file that the agent reads by itself."""
METRICS: tuple[MetricName, ...] = ("success", "mistakes", "errors", "seconds", "tokens")
"""What a lab measures of a run."""
Limit: TypeAlias = Literal["turns", "tokens"]
MARGINS: dict[str, float] = {"success": 0.1, "mistakes": 0.02, "errors": 0.02}
"""What is no difference worth having, where nobody says otherwise. Of seconds and tokens nobody else can say it."""


class Given(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an arm gives for a task."""

    context: str = ""
    """The id of the text; empty: nothing is given."""
    tokens: int = 0
    items: int = 0
    why: str = ""
    """If nothing is given: why."""


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
        """What is alike in all arms."""
        return self.task, self.repeat


class LabPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides what is run. Never changed once the first run began."""

    name: str
    run: str
    """A name of its own, which every prompt carries."""
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
    give: Give = "prompt"
    timeout: float = 600.0
    turns: int = 0
    tokens: int = 0
    """What a run may take; 0: no limit."""
    unheeded: tuple[Limit, ...] = ()
    """Those of these two limits that are only measured with this agent: nothing stops a run that takes more."""
    metric: MetricName = "success"
    margin: float = 0.1
    sources: dict[str, str] = {}
    """What the contexts are made from, as a person would name it."""
    given: dict[str, dict[str, Given]] = {}
    """By arm and task."""
    texts: dict[str, str] = {}
    """By id, the contexts as they are given."""
    asked: str = ""
    """The digest of what was asked for: the same asked again goes on with this plan."""

    def __post_init__(self) -> None:
        if self.metric in EARLIER_METRICS:
            force_setattr(self, "metric", EARLIER_METRICS[self.metric])

    def given_to(self, cell: Cell) -> Given:
        return self.given.get(cell.arm, {}).get(cell.task, Given())

    def task(self, name: str) -> Task:
        return next(task for task in self.tasks if task.id == name)


def items_of(arm: str) -> int | None:
    """How many items an arm has, if it is one of those."""
    found = ITEMS.fullmatch(arm)
    return int(found[1]) if found else None


def unmatched(plan: LabPlan) -> list[str]:
    """The tasks whose placebo has not the length it should have."""
    if "placebo" not in plan.arms or "warm" not in plan.arms:
        return []
    placebo, warm = plan.given["placebo"], plan.given["warm"]
    return [task for task in warm if abs(placebo[task].tokens - warm[task].tokens) > MATCHED * warm[task].tokens]


def order(plan: LabPlan) -> list[Cell]:
    """Every task in every arm, as often as asked. Tasks come in a drawn order within each repeat, and the arms of a task one
    after the other in a drawn order: what changes with the hour changes for all arms alike."""
    draw = random.Random(f"{plan.seed} {plan.suite}")  # noqa: S311 - an order that can be drawn again, not a secret
    return list(_drawn(plan, draw))


def _drawn(plan: LabPlan, draw: random.Random) -> Iterator[Cell]:
    for repeat in range(1, plan.repeats + 1):
        tasks = [task.id for task in plan.tasks]
        draw.shuffle(tasks)
        for task in tasks:
            arms = list(plan.arms)
            draw.shuffle(arms)
            for arm in arms:
                yield Cell(task, arm, repeat)


def mark(plan: LabPlan, cell: Cell) -> str:
    """The first line of a prompt. The same in all arms: nothing but the context tells them apart."""
    return f'{PREHEAT_RUN} lab="{plan.run}" task="{cell.task}" repeat="{cell.repeat}">'


def prompt(plan: LabPlan, cell: Cell) -> str:
    """What the agent is asked in a run."""
    context = plan.texts.get(plan.given_to(cell).context, "") if plan.give == "prompt" else ""
    return "\n\n".join(part for part in (mark(plan, cell), context, plan.task(cell.task).prompt) if part)


def digest(*parts: object) -> str:
    return sha256(msgspec.json.encode(parts)).hexdigest()[:16]
