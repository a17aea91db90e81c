"""The plans on invented projects: the lab, harm to ordinary requests, and the exploration after the first results. Pure."""

import json
import os
import random
import re

from preheat.lab.study.plan import Cell, Plan, StudyTask, make_plan
from preheat.lab.study.projects import (
    DOSED_PROJECTS,
    DOSES,
    MAIN,
    MORE,
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


# The plan of the lab
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


# Ordinary requests that have nothing to do with a project's conventions, and what counts as a right answer.
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


def harm_plan() -> Plan:
    """Every request cold, and with the examples and the note of a project that it does not concern."""
    found = make_projects()
    contexts = {"cold": ArmContext()}
    asked, cells = [], []
    for number, (request, command, _) in enumerate(load_requests()):
        place = number // PER_CONTEXT
        project = found[place]
        for name in HARM_ARMS[1:]:
            contexts[f"{project.name}/{name}"] = arm_context(name, project, partner_of(place, found))
        asked.append(
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
    for place in range(0, len(asked), PER_CONTEXT):
        group = asked[place : place + PER_CONTEXT]
        cells += [
            Cell(task.id, name, "cold" if name == "cold" else f"{task.cluster}/{name}")
            for name in HARM_ARMS
            for task in group
        ]
    return make_plan("harm", contexts, {}, asked, cells)


# The plan of what was asked after the first results
ASKED_ARM = "asked"


def with_requests(of: Project) -> ArmContext:
    messages: list[Message] = []
    for request, call in zip(shown_requests(of)[:K], shown_calls(of)[:K], strict=True):
        messages += (Message("user", request), Message("assistant", "", call.command), Message("tool", call.result))
        messages.append(Message("assistant", "Done."))
    return ArmContext(messages=tuple(messages))


def explore_plan() -> Plan:
    """The lab's tasks in the lab's order, with that arm."""
    whole = lab_plan()
    contexts = {f"{project.name}/{ASKED_ARM}": with_requests(project) for project in make_projects()}
    for task in whole.tasks.values():
        if any(contains_answer(given, task.answer) for given in contexts.values()):
            raise ValueError(f"the answer of `{task.id}` stands in a context")
    tasks = [cell.task for cell in whole.cells if cell.arm == "warm"]
    cells = [Cell(task, ASKED_ARM, f"{whole.tasks[task].cluster}/{ASKED_ARM}") for task in tasks]
    return make_plan("explore", contexts, {}, whole.tasks.values(), cells)
