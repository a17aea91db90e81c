"""The answers that each program accepts, as JSON schemas: from its documentation or source, stricter where it is lenient.

Codex's own schemas are in its binary: `tests/programs/test_hooks_codex.py` checks the answers against those.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 10_000}


def obj(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        "minProperties": 1,
    }


def specific(event: str, **more: Schema) -> Schema:
    return obj(("hookEventName",), hookEventName={"const": event}, additionalContext=TEXT, **more)


MESSAGE: Schema = {"type": "string", "minLength": 1, "maxLength": 1_000}
DENIED: Schema = {"permissionDecision": {"const": "deny"}, "permissionDecisionReason": TEXT}
HELD: Schema = {"decision": {"const": "block"}, "reason": TEXT}
BASH: Schema = obj(
    ("stdout", "stderr", "interrupted", "isImage"),
    stdout={"type": "string"}, stderr={"type": "string"}, interrupted={"type": "boolean"}, isImage={"type": "boolean"},
)  # fmt: skip


def _family(replaced: Schema, output: Schema) -> dict[str, Schema]:
    return {
        "SessionStart": obj(hookSpecificOutput=specific("SessionStart"), systemMessage=MESSAGE),
        "UserPromptSubmit": obj(hookSpecificOutput=specific("UserPromptSubmit"), systemMessage=MESSAGE),
        "PreToolUse": obj(hookSpecificOutput=specific("PreToolUse", **DENIED), systemMessage=MESSAGE),
        "PostToolUse": obj(hookSpecificOutput=specific("PostToolUse", **output), systemMessage=MESSAGE, **replaced),
        "PostToolUseFailure": obj(hookSpecificOutput=specific("PostToolUseFailure"), systemMessage=MESSAGE),
        "PreCompact": obj(systemMessage=MESSAGE),
        "PostCompact": obj(systemMessage=MESSAGE),
        "Stop": obj(**HELD, systemMessage=MESSAGE),
    }


GEMINI: dict[str, Schema] = {
    "SessionStart": obj(hookSpecificOutput=specific("SessionStart"), systemMessage=MESSAGE),
    "BeforeAgent": obj(hookSpecificOutput=specific("BeforeAgent"), systemMessage=MESSAGE),
    "BeforeTool": obj(decision={"const": "deny"}, reason=TEXT, systemMessage=MESSAGE),
    "AfterTool": obj(
        hookSpecificOutput=specific("AfterTool"),
        decision={"const": "deny"},
        reason={"type": "string"},
        systemMessage=MESSAGE,
    ),
    "AfterAgent": obj(decision={"const": "deny"}, reason=TEXT, systemMessage=MESSAGE),
}
COPILOT: dict[str, Schema] = {
    "SessionStart": obj(additionalContext=TEXT),
    "UserPromptSubmit": obj(additionalContext=TEXT),
    "PreToolUse": obj(additionalContext=TEXT, **DENIED),
    "PostToolUse": obj(
        additionalContext=TEXT,
        modifiedResult=obj(
            ("textResultForLlm", "resultType"), textResultForLlm={"type": "string"}, resultType={"const": "success"}
        ),
    ),
    "PostToolUseFailure": obj(additionalContext=TEXT),
    "Stop": obj(("decision", "reason"), **HELD),
}
CURSOR: dict[str, Schema] = {
    "sessionStart": obj(additional_context=TEXT),
    "postToolUse": obj(additional_context=TEXT),
    "postToolUseFailure": obj(additional_context=TEXT),
    "preToolUse": obj(("permission",), permission={"const": "deny"}, agent_message=TEXT, user_message=MESSAGE),
    "stop": obj(("followup_message",), followup_message=TEXT),
}
OPENCODE: dict[str, Schema] = {
    event: obj(context=TEXT) for event in ("sessionStart", "prompt", "toolError", "compacting")
}
OPENCODE |= {"toolBefore": obj(context=TEXT, block=TEXT), "toolAfter": obj(context=TEXT, output={"type": "string"})}
HERMES: dict[str, Schema] = {
    "pre_llm_call": obj(context=TEXT, messages={"type": "array"}),
    "pre_tool_call": obj(action={"const": "block"}, message=TEXT, advisory=TEXT),
    "post_tool_call": obj(advisory=TEXT, output={"type": "string"}),
    "pre_verify": obj(("action", "message"), action={"const": "continue"}, message=TEXT),
    "on_session_finalize": obj(person=MESSAGE),
}
SCHEMAS: dict[str, dict[str, Schema]] = {
    "claude_code": _family({}, {"updatedToolOutput": BASH}),
    "codex": _family({"continue": {"const": False}, "reason": {"type": "string"}}, {}),
    "gemini": GEMINI,
    "copilot": COPILOT,
    "cursor": CURSOR,
    "opencode": OPENCODE,
    "hermes": HERMES,
}
"""By agent and event; an event that is not there takes no answer."""
