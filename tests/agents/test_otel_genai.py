"""Reading OpenTelemetry GenAI spans: each message, call and token counts once, by old and new conventions."""

import json
import os
from typing import Any

import pytest

from preheat.agents.otel_genai.reader import READER
from preheat.agents.otel_genai.spans import attributes_of
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Session,
    Spawn,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.shared import FIXTURES

FOLDER = os.path.join(FIXTURES, "otel_genai")


def sessions(name: str = "traces.jsonl") -> list[Session]:
    return read(os.path.join(FOLDER, name), READER)


def parse(*spans: dict[str, Any], **more: Any) -> list[Session]:
    parser = READER.parser("traces.json")
    parser.feed(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}], **more}).encode(), 1)
    return parser.take()


def span(name: str, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    held = [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in attributes.items()
    ]
    return {"traceId": "t", "spanId": name, "name": name, "startTimeUnixNano": "1", "attributes": held, **more}


def test_a_conversation_is_a_session() -> None:
    main, child = sessions()
    assert main.id == "conv-1"
    assert (main.version, main.model) == ("3.1", "scripted-2")
    assert (main.started_at, main.ended_at) == (1_780_000_000, 1_780_000_030)
    assert child.id == "conv-1/a000000000000007"


def test_messages_that_a_request_repeats_count_once() -> None:
    """The second request holds the whole conversation again, as structured values."""
    main = sessions()[0]
    assert [event.text for event in main.events if isinstance(event, UserMessage)] == ["Fix the clock."]
    texts = [event.text for event in main.events if isinstance(event, AssistantMessage) and event.text]
    assert texts == ["I look.", "It is a typo."]
    assert [event.text for event in main.events if isinstance(event, Reasoning)] == ["Look first."]
    assert [call.call_id for call, _ in pair_calls_with_results(main)] == ["c1", "c2", "c3"]


def test_the_span_of_a_tool_gives_the_result_of_its_call() -> None:
    pairs = {call.call_id: (call, result) for call, result in pair_calls_with_results(sessions()[0])}
    fine, failed, unsaid = (pairs[name][1] for name in ("c1", "c2", "c3"))
    assert fine is not None
    assert (fine.is_error, fine.text, fine.seconds) == (False, "import tme", 1.0)
    assert failed is not None
    assert (failed.is_error, failed.detail) == (True, {"error.type": "CommandError", "status": "exit status 2"})
    assert unsaid is not None
    assert unsaid.is_error is None
    assert pairs["c1"][0].input == {"path": "clock.py"}


def test_totals_of_an_agents_span_are_not_added() -> None:
    """Cached tokens are part of the input."""
    assert sum_usage(sessions()[0]) == Usage(input=190, output=25, cache_read=40, reasoning=6)


def test_an_agent_inside_an_agent_is_a_child_session() -> None:
    main, child = sessions()
    assert (child.parent, child.relation) == ("conv-1", "subagent")
    (spawn,) = [event for event in main.events if isinstance(event, Spawn)]
    assert (spawn.session, spawn.call_id) == (child.id, "c3")


def test_a_failed_request_is_an_other_event() -> None:
    child = sessions()[1]
    (failed,) = [event for event in child.events if isinstance(event, Other) and event.name == "failed request"]
    assert failed.raw["error.type"] == "timeout"


def test_spans_without_a_model_are_ignored() -> None:
    assert "GET /health" not in json.dumps([event.raw for event in sessions()[0].events if isinstance(event, Other)])


def test_messages_as_span_events_are_read() -> None:
    (session,) = sessions("events.json")
    assert session.id == "11112222333344445555666677778888"
    ((call, result),) = pair_calls_with_results(session)
    assert (call.tool, call.call_id) == ("ls", "k1")
    assert result is not None
    assert result.text == "a.py"
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["List it."]
    assert sum_usage(session) == Usage(input=10, output=3)


def test_messages_in_log_records_are_read() -> None:
    """The event `gen_ai.client.inference.operation.details` belongs to the span whose ids it has."""
    texts = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])
    record = {
        "traceId": "t",
        "spanId": "s",
        "eventName": "gen_ai.client.inference.operation.details",
        "attributes": [{"key": "gen_ai.input.messages", "value": {"stringValue": texts}}],
    }
    logs = [{"scopeLogs": [{"logRecords": [record]}]}]
    (session,) = parse(span("s", {"gen_ai.operation.name": "chat"}), resourceLogs=logs)
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["hi"]


def test_without_content_there_are_still_calls_and_tokens() -> None:
    (session,) = parse(
        span("a", {"gen_ai.operation.name": "chat", "gen_ai.usage.output_tokens": 7}),
        span("b", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash"}, startTimeUnixNano="2"),
    )
    ((call, result),) = pair_calls_with_results(session)
    assert (call.tool, call.kind, call.input) == ("bash", "shell", {})
    assert result is not None
    assert sum_usage(session) == Usage(output=7)


def test_an_agents_span_without_requests_gives_the_messages() -> None:
    output = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}])
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.output.messages": output,
    }
    (session,) = parse(span("a", attributes))
    assert sum_usage(session) == Usage(output=4)
    assert [event.text for event in session.events if isinstance(event, AssistantMessage)] == ["Done.", ""]


def test_a_span_that_was_sent_twice_counts_once() -> None:
    one = span("a", {"gen_ai.operation.name": "chat", "gen_ai.usage.output_tokens": 7})
    (session,) = parse(one, one)
    assert sum_usage(session) == Usage(output=7)


def test_spans_that_are_each_others_parents_are_read() -> None:
    attributes = {"gen_ai.operation.name": "invoke_agent"}
    assert parse(span("a", attributes, parentSpanId="b"), span("b", attributes, parentSpanId="a"))


def test_typed_values_become_plain_values() -> None:
    attributes = [
        {"key": "a", "value": {"intValue": "12"}},
        {"key": "b", "value": {"arrayValue": {"values": [{"boolValue": True}, {"doubleValue": 1.5}]}}},
        {"key": "c", "value": {"kvlistValue": {"values": [{"key": "d", "value": {"stringValue": "e"}}]}}},
        {"key": "f", "value": {}},
        {"value": 3},
    ]
    assert attributes_of(attributes) == {"a": 12, "b": [True, 1.5], "c": {"d": "e"}, "f": None}


@pytest.mark.parametrize("data", [b"", b"{", b"null", b'{"resourceSpans": 3}', b"\xff"])
def test_a_file_without_spans_is_a_session_with_a_problem(data: bytes) -> None:
    parser = READER.parser("/some/where/cut.json")
    parser.feed(data, 1)
    (session,) = parser.take()
    assert session.id == "cut"
    assert [problem.file for problem in session.problems] == ["/some/where/cut.json"]


def test_only_spans_of_models_are_detected() -> None:
    assert READER.detect(b'{"resourceSpans":[{"key":"gen_ai.system"', "t.json")
    assert not READER.detect(b'{"resourceSpans":[{"key":"http.method"', "t.json")
