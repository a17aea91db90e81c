"""The plan of the lab: invented projects, their tasks in every arm. Pure."""

import random

from study.arms import DOSED_PROJECTS, DOSES, MAIN, MORE, arm_context, contains_answer, partner_of
from study.chat import Message
from study.given import ArmContext
from study.plan import Cell, Plan, StudyTask, make_plan
from study.projects import PROJECTS, SEED, Task, make_projects, project_tasks


def lab_plan(count: int = PROJECTS, arms: tuple[str, ...] = MAIN, more: tuple[str, ...] = MORE) -> Plan:
    """All projects in a drawn order with the main arms, then with the others, then the doses on some."""
    found = make_projects(count)
    contexts: dict[str, ArmContext] = {}
    matched: dict[str, str] = {}
    asked: dict[str, list[StudyTask]] = {}
    for place, project in enumerate(found):
        doses = [f"warm{k}" for k in DOSES] if place < DOSED_PROJECTS else []
        for name in (*arms, *more, *doses):
            contexts[f"{project.name}/{name}"] = arm_context(name, project, partner_of(place, found))
        if "placebo" in arms:
            matched[f"{project.name}/placebo"] = f"{project.name}/warm"
        asked[project.name] = [_asked(task, number) for number, task in enumerate(project_tasks(project))]
    for task in (task for some in asked.values() for task in some):
        for name, given in contexts.items():
            if contains_answer(given, task.answer):
                raise ValueError(f"the answer of `{task.id}` stands in `{name}`")
    order = [project.name for project in found]
    random.Random(SEED + 1).shuffle(order)
    dosed = [name for name in order if f"{name}/warm{DOSES[0]}" in contexts] if more else []
    passes = [(order, arms), (order, more), (dosed, tuple(f"warm{k}" for k in DOSES))]
    cells = [
        Cell(task.id, name, f"{project}/{name}")
        for names, of_pass in passes
        for turn, project in enumerate(names)
        for name in _turned(of_pass, turn)
        for task in asked[project]
    ]
    return make_plan("lab", contexts, matched, [task for some in asked.values() for task in some], cells)


def _turned(names: tuple[str, ...], turn: int) -> tuple[str, ...]:
    """No arm always comes first."""
    place = turn % len(names) if names else 0
    return names[place:] + names[:place]


def _asked(task: Task, number: int) -> StudyTask:
    """Two of a project's eight are checked against writing token by token."""
    conversation = (Message("user", task.request),)
    return StudyTask(task.id, task.project, task.kind, conversation, task.answer, verify=number in (2, 5))
