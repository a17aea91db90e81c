"""Reading Anthropic messages: content blocks, requests with their responses, and files of other formats."""

import glob
import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.agents import AGENTS, reader_of
from preheat.agents.anthropic_messages import READER
from preheat.agents.sources import HEAD_SIZE, detect, read
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
from preheat.testing import anthropic_messages as wire
from preheat.testing.script import Call, NumberedReply, Reply
from tests.shared import FIXTURES, SHARED, needs_corpus

FOLDER = os.path.join(FIXTURES, "anthropic_messages")
ASKED = {"role": "user", "content": "Go."}
USING = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}


def parse(value: Any, path: str = "file.json") -> list[Session]:
    parser = READER.parser(path)
    parser.feed(value if isinstance(value, bytes) else json.dumps(value).encode(), 1)
    return parser.take()


def parse_one(value: Any) -> Session:
    (session,) = parse(value)
    return session


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def results(session: Session) -> list[ToolResult]:
    return [event for event in session.events if isinstance(event, ToolResult)]


def test_every_kind_of_block_in_a_request_is_read() -> None:
    """Text as a string and as blocks, thinking, two calls, an error, an image in a result, and text after results."""
    (session,) = read(os.path.join(FOLDER, "request.json"))
    assert session.model == "claude-scripted"
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["List it first."]
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == [
        "What is in the folder?",
        "Be quick.",
    ]
    pairs = [
        (call.input["command"], result and (result.is_error, result.text))
        for call, result in pair_calls_with_results(session)
    ]
    assert pairs == [
        ("ls missing-folder", (True, "ls: missing-folder: No such file or directory")),
        ("ls", (None, "clock.py")),
    ]
    request = session.events[0]
    assert isinstance(request, Other)
    assert request.raw["system"][0]["text"] == "You help with files."
    assert request.raw["tools"][0]["name"] == "bash"


def test_requests_that_continue_each_other_are_one_conversation() -> None:
    """Each request repeats all messages, with cache marks moved and thinking left out: no message counts twice."""
    (session,) = read(os.path.join(FOLDER, "log.jsonl"))
    assert sum_usage(session) == Usage(input=70, output=42, cache_read=110, cache_write=40)
    assert len(list(pair_calls_with_results(session))) == 2
    assert session.ended_at == session.started_at + 5 if session.started_at else False
    answers = [event.response for event in session.events if isinstance(event, AssistantMessage)]
    assert answers == ["msg_a1", "msg_a2"]


def test_one_message_a_line_is_one_conversation() -> None:
    (session,) = read(os.path.join(FOLDER, "lines.jsonl"))
    assert sum_usage(session).total == 262
    assert [result.is_error for result in results(session)] == [True, None]


def test_requests_of_two_conversations_are_two_sessions() -> None:
    other = {"role": "user", "content": "Stop."}
    sessions = parse(lines({"messages": [ASKED]}, {"messages": [other]}, {"messages": [ASKED, USING, RESULT]}))
    assert [len(list(pair_calls_with_results(session))) for session in sessions] == [1, 0]
    assert len({session.id for session in sessions}) == 2


def test_is_error_is_true_false_or_absent_as_recorded() -> None:
    for flag, expected in (
        ({"is_error": True}, True),
        ({"is_error": False}, False),
        ({}, None),
        ({"is_error": 1}, None),
    ):
        block = {"type": "tool_result", "tool_use_id": "t1", "content": "x", **flag}
        (result,) = results(parse_one([ASKED, USING, {"role": "user", "content": [block]}]))
        assert result.is_error is expected


def test_results_of_server_tools_are_read_from_the_response() -> None:
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "clocks"}},
        {
            "type": "web_search_tool_result", "tool_use_id": "s1",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
    ]  # fmt: skip
    session = parse_one([ASKED, {"role": "assistant", "content": content}])
    ((call, result),) = pair_calls_with_results(session)
    assert result is not None
    assert (call.kind, result.is_error, result.detail) == ("web", True, {"error": "max_uses_exceeded"})


def test_a_call_that_code_of_the_model_made_says_so() -> None:
    """Programmatic tool calling: the call is a block of its own, with the code's tool as its caller."""
    blocks = [
        {
            "type": "tool_use",
            "id": name,
            "name": "query",
            "input": {"a": 1},
            "caller": {"type": caller, "tool_id": "srvtoolu_1"},
        }
        for name, caller in (("1", "direct"), ("2", "code_execution_20250825"))
    ]
    session = parse_one({"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": blocks}]})
    calls = [event for event in session.events if isinstance(event, ToolCall)]
    assert [(call.tool, call.input, call.script) for call in calls] == [
        ("query", {"a": 1}, ""),
        ("query", {"a": 1}, "code_execution_20250825"),
    ]


def test_unknown_blocks_and_roles_become_other_events() -> None:
    session = parse_one(
        [
            ASKED,
            7,
            {"role": "assistant", "content": [{"type": "from-the-future", "x": 1}, 8]},
            RESULT,
            {"role": "system", "content": "Now."},
            {"role": "user", "content": None},
        ]
    )
    names = [event.name for event in session.events if isinstance(event, Other)]
    assert names == [
        "unreadable",
        "block/from-the-future",
        "unreadable",
        "result without a call",
        "system",
        "unknown",
    ]
    assert len(session.problems) == 1


def test_a_response_alone_and_in_a_batch_is_read() -> None:
    """The responses are the scripted server's own."""
    reply = Reply(
        "Hm.", [Call("bash", {"command": "ls"})], "Think.", Usage(input=5, output=7, cache_read=3, cache_write=2)
    )
    answer = wire.document(NumberedReply("r1", "m", reply, (Call("bash", {"command": "ls"}, "t1"),)))
    session = parse_one(answer)
    assert sum_usage(session) == Usage(input=5, output=7, cache_read=3, cache_write=2)
    assert [call.call_id for call, _ in pair_calls_with_results(session)] == ["t1"]
    batch = {"custom_id": "job-1", "params": {"messages": [ASKED]}, "result": {"type": "succeeded", "message": answer}}
    session = parse_one(batch)
    assert (session.id, len(list(pair_calls_with_results(session)))) == ("job-1", 1)


@pytest.mark.parametrize(
    "head",
    [
        json.dumps([ASKED, USING, RESULT]).encode(),
        json.dumps({"system": "Help.", "messages": [ASKED]}).encode(),
        json.dumps({"anthropic_version": "x", "messages": [ASKED]}).encode(),
        lines(ASKED, USING),
        lines({"request": {"messages": [ASKED, USING]}, "response": {}}),
        json.dumps([*[ASKED] * 20, USING]).encode(),
        json.dumps([{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]}]).encode(),
        json.dumps({"model": "m", "system": "s", "messages": [ASKED, USING]}).encode() + b" " * 9 + b"[",
        json.dumps({"system": "s", "messages": [ASKED, USING, {"role": "user", "content": "x" * HEAD_SIZE}]}).encode()[
            :HEAD_SIZE
        ],
        json.dumps([ASKED, USING, {"role": "user", "content": "x" * HEAD_SIZE}]).encode()[:HEAD_SIZE],
    ],
)
def test_anthropic_messages_are_detected(head: bytes) -> None:
    assert READER.detect(head, "file")


@pytest.mark.parametrize(
    "head",
    [
        json.dumps([ASKED, {"role": "assistant", "content": "Plain."}]).encode(),  # anybody's
        json.dumps({"messages": [ASKED, {"role": "tool", "content": "x", "tool_call_id": "1"}]}).encode(),
        json.dumps({"messages": [ASKED, {**USING, "tool_calls": []}]}).encode(),
        json.dumps({"version": 1, "sessionId": "s", "messages": [ASKED, USING]}).encode(),
        json.dumps({"type": "assistant", "uuid": "u", "message": USING}).encode(),
        json.dumps([{**ASKED, "ts": 1}, USING]).encode(),
        json.dumps([]).encode(),
        b"{",
        b"no JSON",
        b"",
    ],
)
def test_other_formats_are_not_detected(head: bytes) -> None:
    assert not READER.detect(head, "file")


def test_the_history_file_of_cline_is_not_detected() -> None:
    assert not READER.detect(json.dumps([ASKED, USING]).encode(), "/tasks/1/api_conversation_history.json")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"messages": 1}', b'{"system": "x", "mess'])
def test_a_file_without_conversation_is_a_session_with_a_problem(data: bytes) -> None:
    (session,) = parse(data, "/some/where/cut.json")
    assert all(problem.file == "/some/where/cut.json" for problem in session.problems)


def test_blocks_are_read_here_and_plain_texts_as_openai_chat(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps([ASKED, USING]))
    assert detect(str(path)) is READER
    path.write_text(json.dumps([ASKED]))
    assert detect(str(path)).agent != READER.agent


@pytest.mark.corpus
@needs_corpus
def test_no_file_of_the_corpus_is_detected() -> None:
    """The corpus has no files of this format."""
    taken = []
    for path in glob.glob(os.path.join(SHARED, "corpus", "**", "*.json*"), recursive=True):
        with open(path, "rb") as file:
            head = file.read(HEAD_SIZE)
        if READER.detect(head, path):
            taken.append(path)
    assert taken == []
    assert AGENTS.index("anthropic_messages") < AGENTS.index("openai_chat")
    assert reader_of("anthropic_messages") is READER
