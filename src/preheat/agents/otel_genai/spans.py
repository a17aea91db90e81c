"""Spans out of OTLP as JSON, and what GenAI spans say by the semantic conventions: messages, calls, tokens.

The JSON form writes 64-bit numbers as text and attributes as lists of typed values; log records that belong to a span give it
their attributes. The conventions have moved the content of messages several times (attributes of the span, attributes of an
event beside it, one event a message): all are read into `{role, parts}`. Knows no session.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.documents import read_values
from preheat.agents.parsing import arguments_of, decode_json
from preheat.model.session import Usage

# OTLP as JSON
_DEEPEST = 20
_ERRORS = (2, "2", "STATUS_CODE_ERROR", "ERROR")
_FINE = (1, "1", "STATUS_CODE_OK", "OK")


class SpanEvent(msgspec.Struct):
    """An event during a span, or a log record that belongs to it."""

    name: str
    attributes: dict[str, Any]


class Span(msgspec.Struct):
    """A span: one operation with its times and attributes."""

    id: str
    trace: str
    parent: str
    name: str
    started: float | None
    ended: float | None
    attributes: dict[str, Any]
    events: list[SpanEvent]
    is_error: bool | None
    """By the span's status; None if that is unset."""
    message: str
    """The message of the status."""
    resource: dict[str, Any]


def read_spans(block: bytes) -> tuple[list[Span], list[tuple[str, int]]]:
    """The spans of a file in order of their start, and the problems with the rest, each with its line."""
    documents, problems = read_values(block)
    found: dict[tuple[str, str], Span] = {}
    logs: list[tuple[str, str, SpanEvent]] = []
    for document, _ in documents:
        for span in _spans_in(document):
            found.setdefault((span.trace, span.id or f"span {len(found)}"), span)  # exporters may send a span twice
        logs += _log_events_in(document)
    for trace, name, event in logs:
        if (logged_span := found.get((trace, name))) is not None:
            logged_span.events.append(event)
    ordered = sorted(found.values(), key=lambda span: (span.started is None, span.started or 0.0))
    return ordered, problems


def _either(value: dict[str, Any], name: str, other: str) -> Any:
    return value[name] if name in value else value.get(other)


def _spans_in(document: Any) -> Iterator[Span]:
    for group in map(mapping, sequence(_either(mapping(document), "resourceSpans", "resource_spans"))):
        resource = attributes_of(mapping(group.get("resource")).get("attributes"))
        for scope in map(mapping, sequence(_either(group, "scopeSpans", "scope_spans"))):
            for value in map(mapping, sequence(scope.get("spans"))):
                yield _parse_span(value, resource)


def _parse_span(value: dict[str, Any], resource: dict[str, Any]) -> Span:
    status = mapping(value.get("status"))
    code = status.get("code")
    plain = code if isinstance(code, int | str) else None
    events = [
        SpanEvent(string(event.get("name")), attributes_of(event.get("attributes")))
        for event in map(mapping, sequence(value.get("events")))
    ]
    return Span(
        id=string(_either(value, "spanId", "span_id")),
        trace=string(_either(value, "traceId", "trace_id")),
        parent=string(_either(value, "parentSpanId", "parent_span_id")),
        name=string(value.get("name")),
        started=_seconds(_either(value, "startTimeUnixNano", "start_time_unix_nano")),
        ended=_seconds(_either(value, "endTimeUnixNano", "end_time_unix_nano")),
        attributes=attributes_of(value.get("attributes")),
        events=events,
        is_error=True if plain in _ERRORS else False if plain in _FINE else None,
        message=string(status.get("message")),
        resource=resource,
    )


def _log_events_in(document: Any) -> Iterator[tuple[str, str, SpanEvent]]:
    for group in map(mapping, sequence(_either(mapping(document), "resourceLogs", "resource_logs"))):
        for scope in map(mapping, sequence(_either(group, "scopeLogs", "scope_logs"))):
            for record in map(mapping, sequence(_either(scope, "logRecords", "log_records"))):
                attributes = attributes_of(record.get("attributes"))
                body = plain_value(record.get("body"))
                attributes = {**attributes, **body} if isinstance(body, dict) else attributes
                name = string(_either(record, "eventName", "event_name")) or string(attributes.get("event.name"))
                trace, span = _either(record, "traceId", "trace_id"), _either(record, "spanId", "span_id")
                yield string(trace), string(span), SpanEvent(name, attributes)


def attributes_of(value: object) -> dict[str, Any]:
    """Attributes by name; the last one of a name counts."""
    pairs = [mapping(pair) for pair in sequence(value)]
    return {pair["key"]: plain_value(pair.get("value")) for pair in pairs if isinstance(pair.get("key"), str)}


def plain_value(value: object, depth: int = 0) -> Any:
    """The plain value of a typed value."""
    typed_value = mapping(value)
    if depth > _DEEPEST or not typed_value:
        return None
    kind, inner = next(iter(typed_value.items()))
    if kind in ("intValue", "int_value"):
        return _whole_number(inner)
    if kind in ("arrayValue", "array_value"):
        return [plain_value(each, depth + 1) for each in sequence(mapping(inner).get("values"))]
    if kind in ("kvlistValue", "kvlist_value"):
        pairs = [mapping(pair) for pair in sequence(mapping(inner).get("values"))]
        return {string(pair.get("key")): plain_value(pair.get("value"), depth + 1) for pair in pairs}
    return inner if isinstance(inner, str | int | float | bool) else None


def _whole_number(value: object) -> int | None:
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(value: object) -> float | None:
    nanoseconds = _whole_number(value)
    return nanoseconds / 1e9 if nanoseconds and 0 < nanoseconds < 1e20 else None


# What GenAI spans say, by the semantic conventions
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
        _older_message(role, event.attributes) for event in span.events if (role := _EVENT_ROLES.get(event.name))
    ]


def output_messages(span: Span) -> list[dict[str, Any]]:
    """The messages that the model returned."""
    found = _messages(_content(span, "gen_ai.output.messages"))
    return found or [
        _older_message("assistant", {**event.attributes, **mapping(_decode(event.attributes.get("message")))})
        for event in span.events
        if event.name == _CHOICE
    ]


def system_prompt_of(span: Span) -> str:
    """The system prompt, if it is recorded apart from the messages."""
    system_parts = _decode(_content(span, "gen_ai.system_instructions"))
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


def _decode(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode_json(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return value


def _messages(value: object) -> list[dict[str, Any]]:
    found = []
    for message in map(mapping, sequence(_decode(value))):
        parts = message.get("parts")
        if not isinstance(parts, list):  # the providers' own form
            message = _older_message(string(message.get("role")), message)
        found.append(message)
    return found


def _older_message(role: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """A message of the older conventions."""
    parts: list[dict[str, Any]] = []
    content = _decode(attributes.get("content"))
    if role == "tool":
        name = string(attributes.get("id")) or string(attributes.get("tool_call_id"))
        return {"role": role, "parts": [{"type": "tool_call_response", "id": name, "response": content}]}
    if isinstance(content, list):
        parts += [mapping(part) for part in content]
    elif content:
        parts.append({"type": "text", "content": as_text(attributes.get("content"))})
    for call in map(mapping, sequence(_decode(attributes.get("tool_calls")))):
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
