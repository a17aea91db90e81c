"""The prompt `warm_start`: a task with what earlier sessions found out for it. Nothing is chosen or worded here."""

import os
from collections.abc import Mapping

from mcp import types

from preheat.app import Preheat
from preheat.errors import NotFound, UserError

WARM_START = types.Prompt(
    name="warm_start",
    title="Start warm",
    description="Begin a task with what earlier sessions of the project found out",
    arguments=[
        types.PromptArgument(name="task", description="What is to be done", required=True),
        types.PromptArgument(name="project", description="Name or folder; default this one", required=False),
    ],
)
_LONGEST = 100_000


def answer_prompt(name: str, arguments: Mapping[str, str] | None, folder: str, cwd: str) -> types.GetPromptResult:
    """The messages of the prompt. Raises PreheatError."""
    if name != WARM_START.name:
        raise NotFound(f"there is no prompt `{name[:60]}`; there is `{WARM_START.name}`")
    values = arguments or {}
    task = values.get("task", "")[:_LONGEST]
    if not task.strip():
        raise UserError("`task` is missing; say in a few words what is to be done")
    project = values.get("project", "").strip()
    if project and project[0] in ".~":
        project = os.path.abspath(os.path.join(cwd, os.path.expanduser(project)))
    home = Preheat(folder)
    found = home.provision(task, project=project, cwd=cwd, loaded=True)
    return types.GetPromptResult.model_validate(home.render(found, "mcp-prompt").document)
