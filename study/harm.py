"""Ordinary requests that have nothing to do with a project's conventions, and what counts as a right answer. Pure.

A context with conventions must not spoil them: "Rename old.py to new.py" has nothing to go through a wrapper for. Each answer
is looked for by patterns that were written before any model was asked; the first command is the one whose likelihood is
scored.
"""

import json
import os
import re

from study.arms import arm, partner_of
from study.chat import Message
from study.given import Given
from study.plan import Asked, Cell, Plan, plan
from study.projects import projects

MOST = 40
"""Tokens that an answer may have."""
MARGIN = 0.10
"""How much lower the share of right answers may be, stated beforehand."""
ARMS = ("cold", "warm", "note")
PER_CONTEXT = 8

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests.txt")
"""A line for each: the request | the command that is scored (with `\\|` for a pipe) | the pattern of right commands."""


def requests() -> list[tuple[str, str, re.Pattern[str]]]:
    """Request, the command that is scored, and the pattern of right ones."""
    with open(FILE, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    found = []
    for line in lines:
        request, command, pattern = re.split(r"(?<!\\)\|", line, maxsplit=2)
        command = command.replace(r"\|", "|")
        found.append((request, command, re.compile(pattern)))
    return found


def right(written: str, pattern: re.Pattern[str]) -> bool:
    """Whether what was written (as it stands in JSON) is a right answer; spaces and a closing semicolon do not matter."""
    try:
        command = str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        command = written
    return pattern.fullmatch(" ".join(command.split()).rstrip("; ")) is not None


def harm() -> Plan:
    """Every request cold, and with the examples and the note of a project that it does not concern."""
    found = projects()
    contexts = {"cold": Given()}
    asked, cells = [], []
    for number, (request, command, _) in enumerate(requests()):
        place = number // PER_CONTEXT
        project = found[place]
        for name in ARMS[1:]:
            contexts[f"{project.name}/{name}"] = arm(name, project, partner_of(place, found))
        asked.append(
            Asked(f"harm/{number}", project.name, "harm", (Message("user", request),), command, MOST, number % 4 == 0)
        )
    for place in range(0, len(asked), PER_CONTEXT):
        group = asked[place : place + PER_CONTEXT]
        cells += [
            Cell(task.id, name, "cold" if name == "cold" else f"{task.cluster}/{name}")
            for name in ARMS
            for task in group
        ]
    return plan("harm", contexts, {}, asked, cells)
