"""The prompt `warm_start`, and templates as resources: as the text that a session gets, and as JSON.

Chooses and words nothing itself.
"""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import msgspec
from mcp import types

from preheat.app import Preheat
from preheat.app.model_text import fit_fields, fit_lesson, fit_quotes
from preheat.errors import NotFound, UserError
from preheat.model.context import TOKEN_BUDGET
from preheat.model.template import Template

# The prompt `warm_start`
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


# Templates as resources
SCHEME = "preheat://templates/"
AS_JSON = "/json"
RESOURCE_TEMPLATES = (
    types.ResourceTemplate(
        name="template",
        title="A template as text",
        uri_template=f"{SCHEME}{{name}}",
        description="What a session gets of a template; `name`, or a version of it: `name@digest`, `name@-1`",
        mime_type="text/plain",
    ),
    types.ResourceTemplate(
        name="template-json",
        title="A template as JSON",
        uri_template=f"{SCHEME}{{name}}{AS_JSON}",
        description="All of a template: its lessons with their evidence",
        mime_type="application/json",
    ),
)
_DESCRIPTION = 200


def find_resources(folder: str) -> list[types.Resource]:
    """The templates that may be used, each as text; one that cannot be read is listed with the reason."""
    found: list[types.Resource] = []
    for each in Preheat(folder).library.summaries():
        if each.problem:
            description = fit_quotes(each.problem)[:_DESCRIPTION]
        elif each.live and each.template is not None:
            description = f"{len(each.template.lessons):,} lessons"
        else:
            continue  # imported, and not reviewed yet
        found.append(
            types.Resource(name=each.name, uri=f"{SCHEME}{each.name}", description=description, mime_type="text/plain")
        )
    return found


def read_template(folder: str, address: str) -> types.TextResourceContents:
    """A template, as text or JSON. Raises PreheatError."""
    if not address.startswith(SCHEME):
        raise NotFound(f"there is no resource `{address[:100]}`; there are `{SCHEME}NAME` and `{SCHEME}NAME{AS_JSON}`")
    name = unquote(address.removeprefix(SCHEME))
    as_json = name.endswith(AS_JSON)
    home = Preheat(folder)
    version = home.library.find(name.removesuffix(AS_JSON))
    if as_json:
        value = {**_fit_template(version.template), "digest": version.digest}
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
        return types.TextResourceContents(uri=address, mime_type="application/json", text=text)
    task = " ".join((version.template.description, version.name, *version.template.tags))
    full_name = f"{version.name}@{version.digest}"
    context = home.provision(task, template=full_name, budget=2 * TOKEN_BUDGET, record=False)
    text = home.render(context).text or f"Nothing of it can be used now: {context.reason}"
    return types.TextResourceContents(uri=address, mime_type="text/plain", text=text)


def _fit_template(template: Template) -> dict[str, Any]:
    """A template as a value for a model: what its author wrote in words is in none of its fields."""
    whole = {
        name: each
        for name, each in msgspec.to_builtins(template).items()
        if name not in ("lessons", "addendum", "description", "user")
    }
    return {
        **fit_fields(whole),
        "lessons": [fit_lesson(lesson) for lesson in template.lessons],
    }
