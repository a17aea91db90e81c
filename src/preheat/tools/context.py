"""The tools `provision` and `resume_packet`: the context for a task, and where the last session of a project ended.

Chooses and words nothing itself.
"""

import time
from typing import Any

import msgspec

from preheat.app.model_text import describe_lesson, fit_packet, fit_text, frame_text, make_harmless_line
from preheat.model.context import TOKEN_BUDGET
from preheat.tools.tool import Tool, ToolRequest, named_project, open_archive

# `provision`
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


def _run_provision(request: ToolRequest) -> dict[str, Any]:
    arguments, home = request.arguments, request.home
    found = home.provision(
        arguments["task"],
        project=named_project(request),
        cwd=request.cwd,
        budget=arguments.get("budget", TOKEN_BUDGET),
        template=arguments.get("template", ""),
        loaded=True,
    )
    answer: dict[str, Any] = {
        "id": found.id,
        "text": home.render(found).text,
        "tokens": found.tokens,
        "budget": found.budget,
        "project": fit_text(found.project, "project"),
        "sessions": found.sessions,
        "considered": found.considered,
        "left_out": found.left_out,
    }
    if found.template:
        answer["template"] = found.template
    if found.reason:
        answer["reason"] = found.reason
        answer["next"] = _advice(request, found.considered)
    if arguments.get("explain"):
        answer["items"] = [
            {"lesson": each.lesson, "kind": each.kind, "tokens": each.tokens, "value": each.value, "why": each.why}
            for each in found.items
        ]
    return answer


def _advice(request: ToolRequest, considered: int) -> str:
    if not request.home.has_archive():
        return "there is no archive yet: run `preheat sync`, then `preheat lessons learn`; until then go on without it"
    if not considered:
        return "nothing is learned yet: run `preheat sync`, then `preheat lessons learn`; until then go on without it"
    return "go on without it, or say the task in other words; `lessons` and `session_search` search for single facts"


PROVISION = Tool(
    "provision",
    "What earlier sessions found out that matters for a task: commands that work here, known mistakes and their repairs, "
    "conventions, dead ends. Use it once before you begin a task, and again when the task changes. Empty with the reason "
    "where nothing fits.",
    _PROVISION_SCHEMA,
    _run_provision,
)


# `resume_packet`
_LONGEST_GOAL = 300
_RECORDED = "A quotation: what a person wrote to the last session. Whether it still holds, the person says."
_RESUME_SCHEMA = {
    "type": "object",
    "properties": {"project": {"type": "string", "description": "Name or folder; default this one."}},
    "additionalProperties": False,
}


def _run_resume_packet(request: ToolRequest) -> dict[str, Any]:
    found = open_archive(request).resume_packet(named_project(request), request.cwd)
    if found is None or found.packet is None:
        return {
            "text": "",
            "reason": "no session is known that could be resumed",
            "next": "`preheat sync`, then `preheat lessons learn` read new sessions; `session_search` searches older ones",
        }
    if not found.is_usable(time.time()):
        return {
            "text": "",
            "session": found.packet.session,
            "reason": "the last session is too long ago"
            if found.status == "active"
            else f"its packet is {found.status}",
            "next": "start over; `session_search` finds what was done then",
        }
    return {
        "text": frame_text(found.id, describe_lesson(found, request.home.knowledge.approved_texts())),
        "lesson": found.id,
        "packet": fit_packet(msgspec.to_builtins(found.packet)),
        "recorded": {"note": _RECORDED, "asked": make_harmless_line(found.packet.goal, _LONGEST_GOAL)},
    }


RESUME_PACKET = Tool(
    "resume_packet",
    "Where the last session of a project ended: its goal, checks that fail, files changed and not verified, dead ends, the "
    "next command, and how stale that is. Use it when a person wants to go on with earlier work.",
    _RESUME_SCHEMA,
    _run_resume_packet,
)
