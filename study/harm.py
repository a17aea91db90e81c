"""Ordinary requests that have nothing to do with a project's conventions, and what counts as a right answer. Pure.

A context with conventions must not spoil them: "Rename old.py to new.py" has nothing to go through a wrapper for. Each answer
is looked for by patterns that were written before any model was asked; the first command is the one whose likelihood is
scored.
"""

import json
import os
import re

from study.arms import arm_context, partner_of
from study.chat import Message
from study.given import ArmContext
from study.plan import Cell, Plan, StudyTask, make_plan
from study.projects import make_projects

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
