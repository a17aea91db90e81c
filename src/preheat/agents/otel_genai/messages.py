"""What GenAI spans say, by the semantic conventions: messages, calls, tokens. Knows no file and no session.

The conventions have moved the content of messages about: JSON text or structured attributes of the span (now), attributes
of an event beside it, and one event a message (before). All are read into the form of now: `{role, parts}`.
"""

import json
from typing import Any

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.otel_genai.otlp import Span
from preheat.agents.parsing import arguments_of, decode_json
from preheat.model.session import Usage

CHAT_OPERATIONS = ("chat", "text_completion", "generate_content")
EXECUTE_TOOL = "execute_tool"
INVOKE_AGENT = "invoke_agent"
_OPERATIONS = (
    *CHAT_OPERATIONS,
    EXECUTE_TOOL,
    INVOKE_AGENT,
    "embeddings",
    "create_agent",
    "invoke_workflow",
    "retrieval",
)
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"


def operation_of(span: Span) -> str:
    """The operation of a span; empty if the span has nothing to do with a model."""
    stated_operation = string(span.attributes.get("gen_ai.operation.name"))
    if stated_operation:
        return stated_operation
    if not any(name.startswith("gen_ai.") for name in span.attributes):
        return ""
    first = span.name.partition(" ")[0]
    return first if first in _OPERATIONS else "unknown"


def input_messages(span: Span) -> list[dict[str, Any]]:
    """The messages sent to the model."""
    found = _messages(_content(span, "gen_ai.input.messages"))
    return found or [
        _of_event(role, event.attributes) for event in span.events if (role := _EVENT_ROLES.get(event.name))
    ]


def output_messages(span: Span) -> list[dict[str, Any]]:
    """The messages that the model returned."""
    found = _messages(_content(span, "gen_ai.output.messages"))
    return found or [
        _of_event("assistant", {**event.attributes, **mapping(_json(event.attributes.get("message")))})
        for event in span.events
        if event.name == _CHOICE
    ]


def system_prompt_of(span: Span) -> str:
    """The system prompt, if it is recorded apart from the messages."""
    system_parts = _json(_content(span, "gen_ai.system_instructions"))
    if isinstance(system_parts, list):
        return "\n".join(filter(None, (text_in(mapping(part)) for part in system_parts)))
    return string(system_parts)


def text_in(part: dict[str, Any]) -> str:
    """The text of one part of a message."""
    return string(part.get("content")) or string(part.get("text"))


def response_in(part: dict[str, Any]) -> str:
    """A tool's result as text."""
    return as_text(next((part[name] for name in ("response", "result", "content") if name in part), None))


def as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def usage_of(span: Span) -> Usage | None:
    """Tokens of one response; the input includes what was read from and written to the cache."""
    attributes = span.attributes
    first = attributes.get("gen_ai.usage.input_tokens", attributes.get("gen_ai.usage.prompt_tokens"))
    second = attributes.get("gen_ai.usage.output_tokens", attributes.get("gen_ai.usage.completion_tokens"))
    if first is None and second is None:
        return None
    read = count(attributes.get("gen_ai.usage.cache_read.input_tokens"))
    written = count(attributes.get("gen_ai.usage.cache_creation.input_tokens"))
    return Usage(
        input=max(0, count(first) - read - written),
        output=count(second),
        cache_read=read,
        cache_write=written,
        reasoning=count(attributes.get("gen_ai.usage.reasoning.output_tokens")),
    )


def tool_arguments(span: Span) -> dict[str, Any]:
    """The arguments of a tool's span."""
    attributes = span.attributes
    return arguments_of(attributes.get("gen_ai.tool.call.arguments", attributes.get("gen_ai.tool.arguments")))


def _content(span: Span, name: str) -> Any:
    if name in span.attributes:
        return span.attributes[name]
    return next((event.attributes[name] for event in span.events if name in event.attributes), None)


def _json(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode_json(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return value


def _messages(value: object) -> list[dict[str, Any]]:
    found = []
    for message in map(mapping, sequence(_json(value))):
        parts = message.get("parts")
        if not isinstance(parts, list):  # the providers' own form
            message = _of_event(string(message.get("role")), message)
        found.append(message)
    return found


def _of_event(role: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """A message of the older conventions."""
    parts: list[dict[str, Any]] = []
    content = _json(attributes.get("content"))
    if role == "tool":
        name = string(attributes.get("id")) or string(attributes.get("tool_call_id"))
        return {"role": role, "parts": [{"type": "tool_call_response", "id": name, "response": content}]}
    if isinstance(content, list):
        parts += [mapping(part) for part in content]
    elif content:
        parts.append({"type": "text", "content": as_text(attributes.get("content"))})
    for call in map(mapping, sequence(_json(attributes.get("tool_calls")))):
        function = mapping(call.get("function"))
        parts.append(
            {
                "type": "tool_call",
                "id": call.get("id"),
                "name": function.get("name"),
                "arguments": function.get("arguments"),
            }
        )
    return {"role": role, "parts": parts}
