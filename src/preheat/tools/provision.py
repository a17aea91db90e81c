"""`provision`: what earlier sessions found out, for a task. Nothing is chosen or worded here."""

from typing import Any

from preheat.model.context import TOKEN_BUDGET
from preheat.tools.opening import named_project
from preheat.tools.tool import Tool, ToolRequest

_PROVISION_SCHEMA = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": "What is to be done, in the person's words."},
        "project": {"type": "string", "description": "Name or folder; default this one."},
        "budget": {
            "type": "integer",
            "minimum": 100,
            "maximum": 20_000,
            "description": f"Tokens; default {TOKEN_BUDGET:,}.",
        },
        "template": {"type": "string", "description": "Only from this template, instead of all that was learned."},
        "explain": {"type": "boolean", "description": "Also say why each lesson was chosen."},
    },
    "required": ["task"],
    "additionalProperties": False,
}


def _run_provision(asked: ToolRequest) -> dict[str, Any]:
    arguments, home = asked.arguments, asked.home
    found = home.provision(
        arguments["task"],
        project=named_project(asked),
        cwd=asked.cwd,
        budget=arguments.get("budget", TOKEN_BUDGET),
        template=arguments.get("template", ""),
        loaded=True,
    )
    answer: dict[str, Any] = {
        "id": found.id,
        "text": home.render(found).text,
        "tokens": found.tokens,
        "budget": found.budget,
        "project": found.project,
        "sessions": found.sessions,
        "considered": found.considered,
        "left_out": found.left_out,
    }
    if found.template:
        answer["template"] = found.template
    if found.reason:
        answer["reason"] = found.reason
        answer["next"] = _advice(asked, found.considered)
    if arguments.get("explain"):
        answer["items"] = [
            {"lesson": each.lesson, "kind": each.kind, "tokens": each.tokens, "value": each.value, "why": each.why}
            for each in found.items
        ]
    return answer


def _advice(asked: ToolRequest, considered: int) -> str:
    if not asked.home.has_archive():
        return "there is no archive yet: run `preheat sync`, then `preheat learn`; until then go on without it"
    if not considered:
        return "nothing is learned yet: run `preheat sync`, then `preheat learn`; until then go on without it"
    return "go on without it, or say the task in other words; `lessons` and `session_search` search for single facts"


PROVISION = Tool(
    "provision",
    "What earlier sessions found out that matters for a task: commands that work here, known mistakes and their repairs, "
    "conventions, dead ends. Use it once before you begin a task, and again when the task changes. Empty with the reason "
    "where nothing fits.",
    _PROVISION_SCHEMA,
    _run_provision,
)
