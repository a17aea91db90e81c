"""The plans on invented projects: the lab, harm to ordinary requests, and the exploration after the first results. Pure."""

import json
import os
import random
import re

from preheat.lab.study.plan import Cell, Plan, StudyTask, make_plan
from preheat.lab.study.projects import (
    DOSED_PROJECTS,
    DOSES,
    MAIN_ARMS,
    MORE_ARMS,
    PROJECTS,
    SEED,
    K,
    Project,
    Task,
    arm_context,
    contains_answer,
    make_projects,
    partner_of,
    project_tasks,
    shown_calls,
    shown_requests,
)
from preheat.lab.study.prompts import ArmContext, Message


def make_lab_plan(count: int = PROJECTS, arms: tuple[str, ...] = MAIN_ARMS, more: tuple[str, ...] = MORE_ARMS) -> Plan:
    """All projects in a drawn order with the main arms, then with the others, then the doses on some."""
    projects = make_projects(count)
    contexts: dict[str, ArmContext] = {}
    matched: dict[str, str] = {}
    tasks: dict[str, list[StudyTask]] = {}
    for place, project in enumerate(projects):
        doses = [f"warm{k}" for k in DOSES] if place < DOSED_PROJECTS else []
        for name in (*arms, *more, *doses):
            contexts[f"{project.name}/{name}"] = arm_context(name, project, partner_of(place, projects))
        if "placebo" in arms:
            matched[f"{project.name}/placebo"] = f"{project.name}/warm"
        tasks[project.name] = [_make_task(task, number) for number, task in enumerate(project_tasks(project))]
    for task in (task for some in tasks.values() for task in some):
        for name, context in contexts.items():
            if contains_answer(context, task.answer):
                raise ValueError(f"the answer of `{task.id}` stands in `{name}`")
    order = [project.name for project in projects]
    random.Random(SEED + 1).shuffle(order)
    dosed = [name for name in order if f"{name}/warm{DOSES[0]}" in contexts] if more else []
    passes = [(order, arms), (order, more), (dosed, tuple(f"warm{k}" for k in DOSES))]
    cells = [
        Cell(task.id, name, f"{project}/{name}")
        for names, of_pass in passes
        for turn, project in enumerate(names)
        for name in _rotate(of_pass, turn)
        for task in tasks[project]
    ]
    return make_plan("lab", contexts, matched, [task for some in tasks.values() for task in some], cells)


def _rotate(names: tuple[str, ...], turn: int) -> tuple[str, ...]:
    """Begin with another arm each turn, so that none always comes first."""
    place = turn % len(names) if names else 0
    return names[place:] + names[:place]


def _make_task(task: Task, number: int) -> StudyTask:
    """Two of a project's eight are checked against writing token by token."""
    conversation = (Message("user", task.request),)
    return StudyTask(task.id, task.project, task.kind, conversation, task.answer, verify=number in (2, 5))


# Harm: ordinary requests that have nothing to do with a project's conventions, and what counts as a right answer.
MOST_TOKENS = 40
"""Tokens that an answer may have."""
HARM_MARGIN = 0.10
"""How much lower the share of right answers may be, stated beforehand."""
HARM_ARMS = ("cold", "warm", "note")
PER_CONTEXT = 8

REQUESTS_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests.txt")
"""A line for each: the request | the command that is scored (with `\\|` for a pipe) | the pattern of right commands."""


def load_requests() -> list[tuple[str, str, re.Pattern[str]]]:
    """Request, the command that is scored, and the pattern of right ones."""
    with open(REQUESTS_FILE, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    found = []
    for line in lines:
        request, command, pattern = re.split(r"(?<!\\)\|", line, maxsplit=2)
        command = command.replace(r"\|", "|")
        found.append((request, command, re.compile(pattern)))
    return found


def is_right(written: str, pattern: re.Pattern[str]) -> bool:
    """Whether what was written (as it stands in JSON) is a right answer; spaces and a closing semicolon do not matter."""
    try:
        command = str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        command = written
    return pattern.fullmatch(" ".join(command.split()).rstrip("; ")) is not None


def make_harm_plan() -> Plan:
    """Every request cold, and with the examples and the note of a project that it does not concern."""
    projects = make_projects()
    contexts = {"cold": ArmContext()}
    tasks, cells = [], []
    for number, (request, command, _) in enumerate(load_requests()):
        place = number // PER_CONTEXT
        project = projects[place]
        for name in HARM_ARMS[1:]:
            contexts[f"{project.name}/{name}"] = arm_context(name, project, partner_of(place, projects))
        tasks.append(
            StudyTask(
                f"harm/{number}",
                project.name,
                "harm",
                (Message("user", request),),
                command,
                MOST_TOKENS,
                number % 4 == 0,
            )
        )
    for place in range(0, len(tasks), PER_CONTEXT):
        group = tasks[place : place + PER_CONTEXT]
        cells += [
            Cell(task.id, name, "cold" if name == "cold" else f"{task.cluster}/{name}")
            for name in HARM_ARMS
            for task in group
        ]
    return make_plan("harm", contexts, {}, tasks, cells)


# The exploration after the first results.
ASKED_ARM = "asked"


def request_context(project: Project) -> ArmContext:
    """The warm arm's calls, each after the request that it answered."""
    messages: list[Message] = []
    for request, call in zip(shown_requests(project)[:K], shown_calls(project)[:K], strict=True):
        messages += (Message("user", request), Message("assistant", "", call.command), Message("tool", call.result))
        messages.append(Message("assistant", "Done."))
    return ArmContext(messages=tuple(messages))


def make_explore_plan() -> Plan:
    """The lab's tasks in the lab's order, with calls that follow their requests."""
    lab = make_lab_plan()
    contexts = {f"{project.name}/{ASKED_ARM}": request_context(project) for project in make_projects()}
    for task in lab.tasks.values():
        if any(contains_answer(context, task.answer) for context in contexts.values()):
            raise ValueError(f"the answer of `{task.id}` stands in a context")
    tasks = [cell.task for cell in lab.cells if cell.arm == "warm"]
    cells = [Cell(task, ASKED_ARM, f"{lab.tasks[task].cluster}/{ASKED_ARM}") for task in tasks]
    return make_plan("explore", contexts, {}, lab.tasks.values(), cells)
