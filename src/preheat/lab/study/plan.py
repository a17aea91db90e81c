"""What is run: contexts, tasks, and the cells (a task in an arm) in their order. Standard library only, kept as one JSON file.

A plan is made once, without a model; runs record its SHA-256. Its cells are ordered so that any beginning of a run is
balanced: project by project, all arms of a project before the next.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from preheat.lab.study.prompts import ArmContext, Message


class StudyTask(NamedTuple):
    """One task: a conversation, and the command that is looked for."""

    id: str
    cluster: str
    """What tasks are alike by: the project."""
    kind: str
    conversation: tuple[Message, ...]
    answer: str
    most: int = 0
    """Tokens that the model may write; 0: a little over the answer. -1: it is only scored."""
    verify: bool = False
    """Whether the model also writes token by token, to check the quick way against."""


class Cell(NamedTuple):
    """A task in an arm."""

    task: str
    arm: str
    context: str


class Plan(NamedTuple):
    """The contexts, tasks and cells of one study."""

    name: str
    contexts: dict[str, ArmContext]
    matched: dict[str, str]
    """By context: the one that it is to be made as long as."""
    tasks: dict[str, StudyTask]
    cells: tuple[Cell, ...]


def make_plan(
    name: str,
    contexts: dict[str, ArmContext],
    matched: dict[str, str],
    tasks: Iterable[StudyTask],
    cells: Sequence[Cell],
) -> Plan:
    by_id = {task.id: task for task in tasks}
    for cell in cells:
        if cell.task not in by_id or cell.context not in contexts:
            raise ValueError(f"no task or context for {cell}")
    if len(set(cells)) < len(cells):
        raise ValueError("a cell is in the plan twice")
    return Plan(name, contexts, matched, by_id, tuple(cells))


def encode_plan(plan: Plan) -> bytes:
    document = {
        "name": plan.name,
        "contexts": {
            name: {"note": each.note, "messages": list(each.messages)} for name, each in plan.contexts.items()
        },
        "matched": plan.matched,
        "tasks": [task._asdict() for task in plan.tasks.values()],
        "cells": list(plan.cells),
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def decode_plan(data: bytes) -> Plan:
    document: dict[str, Any] = json.loads(data)
    contexts = {
        name: ArmContext(each["note"], _messages(each["messages"])) for name, each in document["contexts"].items()
    }
    tasks = [StudyTask(**{**task, "conversation": _messages(task["conversation"])}) for task in document["tasks"]]
    cells = [Cell(*cell) for cell in document["cells"]]
    return make_plan(document["name"], contexts, document["matched"], tasks, cells)


def plan_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _messages(rows: Iterable[Sequence[str]]) -> tuple[Message, ...]:
    return tuple(Message(*row) for row in rows)
