"""Exporting sessions as OpenAI chat messages: always valid, and read back with all that the format can hold."""

import json
import os
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from preheat.agents import AGENTS
from preheat.agents.chat import NO_RESULT
from preheat.agents.openai_chat import READER, to_conversation, to_messages
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Rewind,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)
from tests.agents.test_atif import sessions
from tests.shared import FIXTURES, fixture_files

ALLOWED = {
    "system": {"role", "content"},
    "developer": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}


def check(made: list[dict[str, Any]]) -> None:
    """The rules of the interface: results follow their calls directly, every result has its call, ids are short and unique."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in made:
        assert set(message) <= ALLOWED[message["role"]]
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            continue
        assert not waiting
        if message["role"] != "assistant":
            assert isinstance(message["content"], str)
            continue
        calls = message.get("tool_calls")
        assert calls or message["content"]
        for call in calls or ():
            assert call["type"] == "function"
            assert 0 < len(call["id"]) <= 40
            assert call["id"] not in seen
            seen.add(call["id"])
            name = call["function"]["name"]
            assert 0 < len(name) <= 64
            assert name.isascii()
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
    assert not waiting


def read_back(session: Session) -> Session:
    parser = READER.parser("chat.json")
    parser.feed(msgspec.json.encode(to_conversation(session)), 1)
    (again,) = parser.take()
    return again


def messages_and_calls(session: Session) -> list[Any]:
    """What the format can hold: texts of people, and each response with its text and its calls."""
    found: list[Any] = []
    responses: dict[str, list[Any]] = {}
    for event in surviving_events(session):
        if isinstance(event, UserMessage):
            found.append(event.text)
        elif (isinstance(event, AssistantMessage) and event.text) or isinstance(event, ToolCall):
            name = event.response or f"line {event.line}"
            if name not in responses:
                found.append(responses.setdefault(name, []))
            responses[name].append((event.tool, event.input) if isinstance(event, ToolCall) else event.text)
    return [_merged(each) if isinstance(each, list) else each for each in found]


def _merged(response: list[Any]) -> list[Any]:
    texts = [each for each in response if isinstance(each, str)]
    return ["\n\n".join(texts), *(each for each in response if not isinstance(each, str))]


@pytest.mark.parametrize("name", [name for agent in AGENTS for name in fixture_files(agent)])
def test_recorded_sessions_of_every_agent_survive_the_export(name: str) -> None:
    for session in read(os.path.join(FIXTURES, name)):
        check(to_messages(session))
        again = read_back(session)
        assert messages_and_calls(again) == messages_and_calls(session)
        kept = {id(event) for event in surviving_events(session)}
        before = [
            repr((call.input, result.text if result and id(result) in kept else None))
            for call, result in pair_calls_with_results(session)
            if id(call) in kept
        ]
        after = [repr((call.input, result.text if result else None)) for call, result in pair_calls_with_results(again)]
        assert sorted(after) == sorted(before)


@given(session=sessions)
@settings(max_examples=200, deadline=None)
def test_any_session_gives_valid_messages(session: Session) -> None:
    check(to_messages(session))
    read_back(session)


def export(*events: Event) -> list[dict[str, Any]]:
    found = to_messages(Session(agent="a", id="s", events=events))
    check(found)
    return found


def call(name: str, line: int = 1, response: str = "r") -> ToolCall:
    return ToolCall(line=line, call_id=name, tool="bash", kind="shell", input={"command": name}, response=response)


def test_a_missing_result_is_marked_and_not_invented() -> None:
    assert export(call("a"))[1] == {"role": "tool", "tool_call_id": "a", "content": NO_RESULT}
    again = read_back(Session(agent="a", id="s", events=(call("a"),)))
    assert [result for _, result in pair_calls_with_results(again)] == [None]
    assert [event.name for event in again.events if isinstance(event, Other)] == ["conversation", "no result"]


def test_results_follow_their_calls_directly() -> None:
    """Even if a person wrote before the tool was done, or the response continued after the first result."""
    found = export(
        call("a"),
        UserMessage(line=2, text="hurry"),
        ToolResult(line=3, call_id="a", text="1"),
        AssistantMessage(line=4, text="and", response="r"),
        call("b", 4),
        ToolResult(line=5, call_id="b", text="2"),
    )
    assert [message["role"] for message in found] == ["assistant", "tool", "tool", "user"]
    assert (found[0]["content"], len(found[0]["tool_calls"])) == ("and", 2)


def test_rewound_events_are_left_out() -> None:
    found = export(UserMessage(line=1, text="a"), UserMessage(line=2, text="b"), Rewind(line=3, after=1))
    assert [message["content"] for message in found] == ["a"]


def test_system_prompts_and_summaries_are_system_messages() -> None:
    found = export(
        Other(line=1, name="system", raw={"role": "system", "content": "Be brief."}),
        Other(line=2, name="system_prompt", raw="Be kind."),
        Other(line=3, name="noise", raw="x"),
        Compaction(line=4, summary="So far."),
        Compaction(line=5),
    )
    assert [(message["role"], message["content"]) for message in found] == [
        ("system", "Be brief."),
        ("system", "Be kind."),
        ("system", "So far."),
    ]


def test_ids_and_names_are_made_valid() -> None:
    odd = ToolCall(line=1, call_id="x" * 60, tool="mcp: find it!", kind="other", input={})
    (first, _) = export(odd)
    assert first["tool_calls"][0]["id"].startswith("call_")
    assert first["tool_calls"][0]["function"]["name"] == "mcp__find_it_"
    assert export(odd) == export(odd)
