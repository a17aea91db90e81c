"""OTLP as JSON: requests to export traces or logs, one document or one a line, as plain spans. Knows no convention.

The JSON form writes 64-bit numbers as text, and attributes as lists of typed values. Log records that belong to a span
give it their attributes: some instrumentations put the content of messages there.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.documents import read_values

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
        for span in _of_traces(document):
            found.setdefault((span.trace, span.id or f"span {len(found)}"), span)  # exporters may send a span twice
        logs += _of_logs(document)
    for trace, name, event in logs:
        if (logged_span := found.get((trace, name))) is not None:
            logged_span.events.append(event)
    ordered = sorted(found.values(), key=lambda span: (span.started is None, span.started or 0.0))
    return ordered, problems


def _either(value: dict[str, Any], name: str, other: str) -> Any:
    return value[name] if name in value else value.get(other)


def _of_traces(document: Any) -> Iterator[Span]:
    for group in map(mapping, sequence(_either(mapping(document), "resourceSpans", "resource_spans"))):
        resource = attributes_of(mapping(group.get("resource")).get("attributes"))
        for scope in map(mapping, sequence(_either(group, "scopeSpans", "scope_spans"))):
            for value in map(mapping, sequence(scope.get("spans"))):
                yield _span(value, resource)


def _span(value: dict[str, Any], resource: dict[str, Any]) -> Span:
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


def _of_logs(document: Any) -> Iterator[tuple[str, str, SpanEvent]]:
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
        return _whole(inner)
    if kind in ("arrayValue", "array_value"):
        return [plain_value(each, depth + 1) for each in sequence(mapping(inner).get("values"))]
    if kind in ("kvlistValue", "kvlist_value"):
        pairs = [mapping(pair) for pair in sequence(mapping(inner).get("values"))]
        return {string(pair.get("key")): plain_value(pair.get("value"), depth + 1) for pair in pairs}
    return inner if isinstance(inner, str | int | float | bool) else None


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(value: object) -> float | None:
    nanoseconds = _whole(value)
    return nanoseconds / 1e9 if nanoseconds and 0 < nanoseconds < 1e20 else None
