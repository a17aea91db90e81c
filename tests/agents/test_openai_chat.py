"""Reading OpenAI chat messages: every layout of a file, and every way to write calls and results."""

import json
import os
from typing import Any

import pytest

from preheat.agents.openai_chat import READER
from preheat.agents.sources import read
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.shared import FIXTURES, SHARED, needs_corpus

FOLDER = os.path.join(FIXTURES, "openai_chat")


def sessions_of(name: str) -> list[Session]:
    return read(os.path.join(FOLDER, name), READER)


def parse(document: Any, path: str = "chat.json") -> list[Session]:
    parser = READER.parser(path)
    parser.feed(document if isinstance(document, bytes) else json.dumps(document).encode(), 1)
    return parser.take()


def parse_one(*messages: dict[str, Any]) -> Session:
    (session,) = parse(list(messages))
    return session


def call_message(name: str = "ls", call_id: str | None = "c1", arguments: Any = "{}") -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_an_object_with_messages_is_a_session() -> None:
    (session,) = sessions_of("conversation.json")
    assert (session.id, session.model, session.title) == ("conv-1", "scripted-1", "A late clock")
    pairs = list(pair_calls_with_results(session))
    assert [(call.tool, call.kind) for call, _ in pairs] == [("run_shell", "shell"), ("read_file", "read")]
    assert [result.text if result else None for _, result in pairs] == ["clock.py", "print(1)"]
    assert [call.input for call, _ in pairs] == [{"command": "ls"}, {"path": "clock.py"}]
    assert sum_usage(session) == session.reported == Usage(input=260, output=30, cache_read=40)
    (user,) = (event for event in session.events if isinstance(event, UserMessage))
    assert (user.text, user.images) == ("Why is the clock late?", 1)
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["Look at it."]
    others = [event.name for event in session.events if isinstance(event, Other)]
    assert others == ["conversation", "system"]


def test_a_list_of_messages_with_function_call_is_a_session() -> None:
    (session,) = sessions_of("messages.json")
    ((call, result),) = pair_calls_with_results(session)
    assert call.tool == "get_time"
    assert result is not None
    assert result.text == "noon"
    assert result.is_error is None


def test_one_message_a_line_with_a_repeated_id_is_read() -> None:
    """Calls are JSON text; `call_0` twice is two calls with a result each; arguments that are no JSON are kept."""
    (session,) = sessions_of("message-a-line.jsonl")
    pairs = list(pair_calls_with_results(session))
    assert [result.text if result else None for _, result in pairs] == ["4", "SyntaxError"]
    assert len({call.call_id for call, _ in pairs}) == 2
    assert [call.input for call, _ in pairs] == [{"code": "2+2"}, {"text": "not json"}]


def test_one_conversation_a_line_is_a_session_each() -> None:
    """Two with the same beginning are two sessions, and ids stay when the file grows."""
    sessions = sessions_of("conversation-a-line.jsonl")
    assert len({session.id for session in sessions}) == 3
    with open(os.path.join(FOLDER, "conversation-a-line.jsonl"), "rb") as file:
        data = file.read()
    grown = parse(data + b'{"messages":[{"role":"user","content":"Three?"}]}\n')
    assert [session.id for session in grown][:3] == [session.id for session in sessions]


def test_a_list_of_conversations_is_a_session_each() -> None:
    """Ids may be numbers; a result without an id belongs to the open call; `error` is the flag."""
    first, second = sessions_of("conversations.json")
    assert (first.id, second.id) == ("first", "7")
    ((call, result),) = pair_calls_with_results(second)
    assert call.input == {"query": "x"}
    assert result is not None
    assert (result.is_error, result.detail) == (True, {"error": "ValueError: no such thing"})


def test_results_without_ids_are_matched_by_tool_then_by_order() -> None:
    first, second = call_message("one", None), call_message("two", None)
    both = {**first, "tool_calls": first["tool_calls"] + second["tool_calls"]}
    session = parse_one(both, {"role": "tool", "name": "two", "content": "2"}, {"role": "tool", "content": "1"})
    assert {call.tool: result and result.text for call, result in pair_calls_with_results(session)} == {
        "one": "1",
        "two": "2",
    }


def test_a_result_without_a_call_is_an_other_event() -> None:
    session = parse_one(call_message(), {"role": "tool", "tool_call_id": "zz", "content": "?"})
    assert not [event for event in session.events if isinstance(event, ToolResult)]
    assert [event.name for event in session.events if isinstance(event, Other)] == ["result without a call"]


def test_a_second_result_of_one_call_does_not_count() -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": "x"}
    session = parse_one(call_message(), result, result)
    assert len([event for event in session.events if isinstance(event, ToolResult)]) == 1


def test_text_of_preheat_has_the_origin_preheat() -> None:
    session = parse_one({"role": "user", "content": "<preheat-context>warm</preheat-context>"})
    assert [event.origin for event in session.events if isinstance(event, UserMessage)] == ["preheat"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": "not json"},
        {"role": "assistant", "tool_calls": [None, 3, {}, {"function": 3}]},
        {"role": "assistant", "content": {"a": 1}, "usage": {"prompt_tokens": "many", "completion_tokens": -4}},
        {"role": "tool", "tool_call_id": {}, "content": 4},
        {"role": 3},
        {"role": "user", "content": [None, {"type": 4}, "text"]},
        {"role": "user", "content": "\ud800 alone"},
        {"role": "user", "timestamp": 1e300},
    ],
)
def test_messages_of_wrong_types_do_not_affect_others(message: dict[str, Any]) -> None:
    session = parse_one({"role": "user", "content": "before"}, message, {"role": "assistant", "content": "after"})
    texts = [event.text for event in session.events if isinstance(event, UserMessage | AssistantMessage)]
    assert texts[0] == "before"
    assert texts[-1] == "after"


@pytest.mark.parametrize("data", [b"", b"[", b"{", b'{"messages": [{"role"', b"7", b"\xff"])
def test_a_cut_document_is_a_session_with_a_problem(data: bytes) -> None:
    (session,) = parse(data, "/some/where/cut.json")
    assert session.id == "cut"
    assert session.events == ()
    assert [problem.file for problem in session.problems] == ["/some/where/cut.json"]


def test_only_a_cut_last_line_is_lost() -> None:
    (session,) = parse(b'{"role":"user","content":"one"}\n{"role":"user","content":"two"}\n{"role":"us')
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["one", "two"]
    assert [problem.line for problem in session.problems] == [3]


LONG = "x" * 70_000
RECOGNISED = [
    b'[{"role":"user","content":"a"}]',
    b'{"messages":[{"role":"user","content":"a"}]}',
    b'{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n{"ro',
    b'{"messages":[{"role":"user","content":"a"}]}\n{"messages":[{"role',
    json.dumps([{"role": "user", "content": "a"}, {"role": "user", "content": LONG}]).encode()[:65536],
    json.dumps({"id": 1, "messages": [{"role": "user", "content": "a"}], "more": LONG}).encode()[:65536],
]
FOREIGN = [
    b"",
    b"plain text",
    b"[]",
    b"{}",
    b'{"messages":[]}',
    b'{"type":"user","message":{"role":"user","content":"a"},"uuid":"1"}\n',
    b'{"role":"user","parts":[{"text":"a"}]}',
    b'[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}]',
    b'[{"role":"user","content":"a","ts":1}]',
    b'{"messages":[{"role":"user","content":"a"}],"trajectory_format":"mini-swe-agent-1"}',
    b'{"info":{},"history":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"a"}]}',
    b'[{"id":0,"source":"user","action":"message","args":{"content":"a"}}]',
    b'{"conversations":[{"from":"human","value":"a"}]}',
    b'[{"task_id":0,"traj":[{"role":"user","content":"a"}]}]',
    b'{"deep":{"messages":[{"role":"user","content":"a"}],"cut":"',
]


@pytest.mark.parametrize("head", RECOGNISED)
def test_chat_messages_are_detected(head: bytes) -> None:
    assert READER.detect(head, "file")


@pytest.mark.parametrize("head", FOREIGN)
def test_similar_formats_are_not_detected(head: bytes) -> None:
    assert not READER.detect(head, "file")


def test_kinds_of_tools_follow_their_names() -> None:
    assert kind_by_name("execute_bash") == "shell"
    assert kind_by_name("searchEmails") == "search"
    assert kind_by_name("cancel_reservation") == "other"


@pytest.mark.corpus
@needs_corpus
def test_only_chat_files_of_the_corpus_are_detected() -> None:
    """These are agentdojo's, with the counts of calls and results of the corpus."""
    root = os.path.join(SHARED, "corpus")
    claimed: dict[str, list[Session]] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if READER.detect(file.read(65536), path):
                    source = os.path.relpath(path, root).split(os.sep)[0]
                    claimed.setdefault(source, []).extend(read(path, READER))
    assert list(claimed) == ["agentdojo__pypi-0.1.19"]
    (sessions,) = claimed.values()
    pairs = [pair for session in sessions for pair in pair_calls_with_results(session)]
    assert (len(sessions), len({session.id for session in sessions})) == (228, 228)
    assert len(pairs) == 633
    assert sum(result is not None and result.is_error is not None for _, result in pairs) == 632
    assert not [problem for session in sessions for problem in session.problems]
    assert sum(isinstance(event, ToolCall) for session in sessions for event in session.events) == 633
