"""The tool `warm_session`, for the model to call. No logic of its own: it runs Preheat as a separate program.

Standard library only. The schema is repeated here, because Preheat cannot be imported; a test compares it with Preheat's own
tool. Every failure becomes an answer.
"""

import json
from functools import partial
from typing import Any

from .daemon import Program, run

NAME = "warm_session"
TOOLSET = "preheat"
"""The name by which a person switches it off: `hermes tools disable preheat`."""
SECONDS = 120.0
LONGEST = 40_000
DESCRIPTION = (
    "Templates of what earlier sessions found out: build, list, load (gives the text to use now), delete. How sessions went: "
    "profile, compress-check (as good after a compaction?), compare."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {
            "type": "string",
            "enum": ["build", "list", "load", "delete", "profile", "compress-check", "compare"],
        },
        "name": {"type": "string", "description": "Template: build, load, delete"},
        "description": {"type": "string", "description": "build: what it is for; load: your task"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "min_messages": {"type": "integer", "minimum": 0},
        "max_sessions": {"type": "integer", "minimum": 1, "maximum": 1000},
        "source_filter": {"type": "string", "description": "build: agent, project or `all`; else this project"},
        "session_id": {"type": "string", "description": "Id or `latest`: profile, compress-check, compare"},
        "compare_with": {"type": "string"},
    },
    "required": ["action"],
}


def register(ctx: Any, program: Program) -> None:
    """Register the tool in a toolset of its own."""
    schema = {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}
    ctx.register_tool(
        name=NAME, toolset=TOOLSET, schema=schema, handler=partial(answer_call, program), description=DESCRIPTION
    )


def answer_call(program: Program, arguments: Any = None, **_: Any) -> str:
    """Answer a call of the model, as JSON text."""
    try:
        request = json.dumps(arguments if arguments is not None else {})
    except (TypeError, ValueError, RecursionError) as error:
        return _failure(f"the arguments are no JSON ({error})", 'give one JSON object, for example {"action": "list"}')
    ended = run(program, ["tool", NAME, "-"], request, SECONDS)
    answer = ended.answer
    if answer is not None and isinstance(answer.get("success"), bool) and len(ended.output) <= LONGEST:
        return json.dumps(answer, ensure_ascii=False)
    return _failure(
        ended.reason, "go on without the tool, and tell the person: `preheat admin doctor` in a shell says more"
    )


def _failure(error: str, advice: str) -> str:
    return json.dumps({"success": False, "error": error, "next": advice}, ensure_ascii=False)
