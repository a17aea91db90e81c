"""The scripted model server, asked over HTTP in the ways of the agents."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from preheat.model.session import Usage
from preheat.testing.model_server import AUXILIARY_TEXT, FINAL_TEXT, Call, ModelServer, Reply
from tests.waiting import HUNG

TOOLS = [{"type": "function", "function": {"name": "shell", "parameters": {}}}]
USAGE = Usage(input=70, cache_read=30, output=25, reasoning=5)
SCRIPT = [
    Reply("Looking.", [Call("shell", {"command": "ls"})], reasoning="It may be empty.", usage=USAGE),
    Reply("All done."),
]


def ask(url: str, body: dict[str, Any] | None = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer secret", "x-session": "one"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=HUNG) as answer:
        content: bytes = answer.read()
    return content


def streamed(content: bytes) -> list[Any]:
    parts = [line[6:] for line in content.decode().splitlines() if line.startswith("data: ")]
    return [part if part == "[DONE]" else json.loads(part) for part in parts]


def test_a_chat_request_gets_a_reply_in_one_document() -> None:
    with ModelServer(SCRIPT) as server:
        body = {"model": "m", "messages": [], "tools": TOOLS}
        first = json.loads(ask(f"{server.url}/chat/completions", body))
        second = json.loads(ask(f"{server.url}/chat/completions", body))
    choice = first["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "Looking."
    assert choice["message"]["reasoning_content"] == "It may be empty."
    call = choice["message"]["tool_calls"][0]
    assert (call["id"], call["function"]["name"]) == ("call_1", "shell")
    assert json.loads(call["function"]["arguments"]) == {"command": "ls"}
    assert first["usage"]["prompt_tokens"] == 100
    assert first["usage"]["prompt_tokens_details"]["cached_tokens"] == 30
    assert first["usage"]["total_tokens"] == 125
    assert second["choices"][0]["message"]["content"] == "All done."
    assert second["choices"][0]["finish_reason"] == "stop"


def test_chunks_of_a_chat_reply_join_to_text_arguments_and_usage() -> None:
    with ModelServer(SCRIPT) as server:
        body = {
            "messages": [],
            "tools": TOOLS,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        events = streamed(ask(f"{server.url}/chat/completions", body))
    assert events.pop() == "[DONE]"
    assert events[-1]["usage"]["completion_tokens"] == 25
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Looking."
    assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "It may be empty."
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert (calls[0]["id"], calls[0]["function"]["name"]) == ("call_1", "shell")
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"command": "ls"}
    assert [c["finish_reason"] for e in events for c in e["choices"]][-1] == "tool_calls"


def test_a_responses_request_gets_items_and_usage_in_one_document() -> None:
    with ModelServer(SCRIPT) as server:
        answer = json.loads(ask(f"{server.url}/responses", {"input": [], "tools": TOOLS}))
    reasoning, message, call = answer["output"]
    assert reasoning["summary"][0]["text"] == "It may be empty."
    assert message["content"][0]["text"] == "Looking."
    assert (call["type"], call["call_id"], call["name"]) == ("function_call", "call_1", "shell")
    assert json.loads(call["arguments"]) == {"command": "ls"}
    assert answer["usage"]["input_tokens"] == 100
    assert answer["usage"]["output_tokens_details"]["reasoning_tokens"] == 5


def test_a_streamed_responses_reply_gives_each_item_and_all_at_the_end() -> None:
    with ModelServer(SCRIPT) as server:
        events = streamed(ask(f"{server.url}/responses", {"input": [], "tools": TOOLS, "stream": True}))
    assert events[0]["type"] == "response.created"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert [item["type"] for item in done] == ["reasoning", "message", "function_call"]
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["output"] == done
    assert events[-1]["response"]["usage"]["total_tokens"] == 125


def test_a_custom_tool_gets_its_text_unchanged() -> None:
    patch = "*** Begin Patch\n*** End Patch"
    with ModelServer([Reply(calls=[Call("apply_patch", patch)])]) as server:
        tools = [{"type": "custom", "name": "apply_patch"}]
        answer = json.loads(ask(f"{server.url}/responses", {"input": [], "tools": tools}))
    assert answer["output"][0]["type"] == "custom_tool_call"
    assert answer["output"][0]["input"] == patch


def test_a_tool_in_a_namespace_is_called_with_it() -> None:
    with ModelServer([Reply(calls=[Call("spawn", {"task": "x"})])]) as server:
        tools = [{"type": "namespace", "name": "team", "tools": [{"type": "function", "name": "spawn"}]}]
        answer = json.loads(ask(f"{server.url}/responses", {"input": [], "tools": tools}))
    assert (answer["output"][0]["namespace"], answer["output"][0]["name"]) == ("team", "spawn")


def gemini(server: ModelServer, method: str) -> str:
    return f"{server.root}/v1beta/models/gemini-scripted:{method}"


GEMINI_TOOLS = [{"functionDeclarations": [{"name": "shell"}]}]
GEMINI_BODY = {"contents": [{"role": "user", "parts": [{"text": "Look."}]}], "tools": GEMINI_TOOLS}


def test_a_gemini_reply_has_parts_and_counts_cached_tokens_in_the_prompt() -> None:
    with ModelServer(SCRIPT) as server:
        answer = json.loads(ask(gemini(server, "generateContent"), GEMINI_BODY))
    assert answer["modelVersion"] == "gemini-scripted"
    (candidate,) = answer["candidates"]
    assert candidate["finishReason"] == "STOP"
    assert candidate["content"] == {
        "role": "model",
        "parts": [
            {"text": "It may be empty.", "thought": True},
            {"text": "Looking."},
            {"functionCall": {"id": "call_1", "name": "shell", "args": {"command": "ls"}}},
        ],
    }
    assert answer["usageMetadata"] == {
        "promptTokenCount": 100,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 5,
        "cachedContentTokenCount": 30,
        "totalTokenCount": 125,
    }


def test_gemini_chunks_join_and_only_the_last_one_has_usage() -> None:
    """As events with `alt=sse`, else as one list."""
    with ModelServer([*SCRIPT, *SCRIPT]) as server:
        events = streamed(ask(gemini(server, "streamGenerateContent") + "?alt=sse", GEMINI_BODY))
        ask(gemini(server, "generateContent"), GEMINI_BODY)
        listed = json.loads(ask(gemini(server, "streamGenerateContent"), GEMINI_BODY))
    for chunks in (events, listed):
        parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
        assert "".join(part["text"] for part in parts if "text" in part and not part.get("thought")) == "Looking."
        assert [part["functionCall"]["name"] for part in parts if "functionCall" in part] == ["shell"]
        assert [bool("usageMetadata" in chunk) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
        assert [chunk["candidates"][0].get("finishReason") for chunk in chunks][-1] == "STOP"


def test_gemini_function_responses_are_recorded() -> None:
    response = {"functionResponse": {"id": "call_1", "name": "shell", "response": {"output": "a"}}}
    contents = [{"role": "user", "parts": [response]}]
    with ModelServer(SCRIPT) as server:
        ask(gemini(server, "generateContent"), GEMINI_BODY)
        answer = json.loads(ask(gemini(server, "generateContent"), {**GEMINI_BODY, "contents": contents}))
        assert server.main_requests[1].body["contents"][0]["parts"] == [response]
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "All done."}]


@pytest.mark.parametrize("path", ["/v1beta/models/m:countTokens", "/v1/messages/count_tokens"])
def test_counting_tokens_uses_up_no_reply(path: str) -> None:
    with ModelServer(SCRIPT) as server:
        short, long = (
            json.loads(ask(server.root + path, {"contents": "x" * size, "tools": TOOLS})) for size in (10, 1000)
        )
        assert (server.unused_replies, server.main_requests) == (2, [])
    name = "totalTokens" if "countTokens" in path else "input_tokens"
    assert 0 < short[name] < long[name]


def test_gemini_models_and_errors_have_their_form() -> None:
    with ModelServer([Reply("slow down", status=429)], model="tiny") as server:
        listed = json.loads(ask(f"{server.root}/v1beta/models"))
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(gemini(server, "generateContent"), GEMINI_BODY)
        with caught.value as answer:
            error = json.loads(answer.read())["error"]
    assert [model["name"] for model in listed["models"]] == ["models/tiny"]
    assert error == {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}


MESSAGES_TOOLS = [{"name": "shell", "input_schema": {"type": "object"}}]
MESSAGES_BODY = {
    "model": "m",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Look."}],
    "tools": MESSAGES_TOOLS,
}
MESSAGES_BLOCKS = [
    {"type": "thinking", "thinking": "It may be empty.", "signature": "c2NyaXB0ZWQ="},
    {"type": "text", "text": "Looking."},
    {"type": "tool_use", "id": "call_1", "name": "shell", "input": {"command": "ls"}},
]


def test_an_anthropic_reply_has_blocks_and_counts_cached_tokens_outside_the_input() -> None:
    with ModelServer(SCRIPT) as server:
        answer = json.loads(ask(f"{server.url}/messages", MESSAGES_BODY))
    assert (answer["type"], answer["role"], answer["model"], answer["stop_reason"]) == (
        "message",
        "assistant",
        "m",
        "tool_use",
    )
    assert answer["content"] == MESSAGES_BLOCKS
    assert answer["usage"] == {
        "input_tokens": 70,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 30,
        "output_tokens": 25,
    }


def test_anthropic_events_join_to_the_whole_reply() -> None:
    with ModelServer(SCRIPT) as server:
        events = streamed(ask(f"{server.url}/messages", {**MESSAGES_BODY, "stream": True}))
    assert [events[0]["type"], events[-2]["type"], events[-1]["type"]] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    blocks: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "content_block_start":
            assert event["index"] == len(blocks)
            blocks.append({**event["content_block"], "partial_json": ""})
        elif event["type"] == "content_block_delta":
            (name,) = (name for name in event["delta"] if name != "type")
            blocks[-1][name] += event["delta"][name]
    for block in blocks:
        partial = block.pop("partial_json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(partial)
    assert blocks == MESSAGES_BLOCKS
    assert events[0]["message"]["usage"]["cache_read_input_tokens"] == 30
    assert (events[-2]["delta"]["stop_reason"], events[-2]["usage"]["output_tokens"]) == ("tool_use", 25)


def test_anthropic_results_are_recorded_and_errors_have_their_form() -> None:
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "a"}]}
    with ModelServer([*SCRIPT, Reply("busy", status=529)]) as server:
        ask(f"{server.url}/messages", MESSAGES_BODY)
        answer = json.loads(ask(f"{server.url}/messages", {**MESSAGES_BODY, "messages": [result]}))
        assert server.main_requests[1].body["messages"] == [result]
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(f"{server.url}/messages", MESSAGES_BODY)
        with caught.value as refused:
            error = json.loads(refused.read())
    assert (answer["stop_reason"], answer["content"]) == ("end_turn", [{"type": "text", "text": "All done."}])
    assert error == {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}


def test_requests_without_tools_can_get_another_text() -> None:
    with ModelServer(side_text="<summary/>") as server:
        side = json.loads(ask(f"{server.url}/messages", {"messages": []}))
    assert side["content"] == [{"type": "text", "text": "<summary/>"}]


def test_no_key_is_recorded_from_headers_or_address() -> None:
    with ModelServer() as server:
        address = gemini(server, "streamGenerateContent") + "?alt=sse&key=secret"
        headers = {"x-goog-api-key": "secret", "x-api-key": "secret", "content-type": "application/json"}
        asked = urllib.request.Request(address, json.dumps(GEMINI_BODY).encode(), headers)
        with urllib.request.urlopen(asked, timeout=HUNG) as answer:
            answer.read()
        (request,) = server.requests
    assert request.path == "/v1beta/models/gemini-scripted:streamGenerateContent?alt=sse"
    assert "secret" not in str(request)


def test_requests_without_tools_use_up_no_reply() -> None:
    with ModelServer([Reply("One.")]) as server:
        side = json.loads(ask(f"{server.url}/chat/completions", {"messages": []}))
        main = json.loads(ask(f"{server.url}/chat/completions", {"messages": [], "tools": TOOLS}))
        after = json.loads(ask(f"{server.url}/chat/completions", {"messages": [], "tools": TOOLS}))
        assert server.unused_replies == 0
        assert [request.auxiliary for request in server.requests] == [True, False, False]
        assert len(server.main_requests) == 2
    texts = [answer["choices"][0]["message"]["content"] for answer in (side, main, after)]
    assert texts == [AUXILIARY_TEXT, "One.", FINAL_TEXT]


def test_requests_are_recorded_without_their_key() -> None:
    with ModelServer() as server:
        ask(f"{server.url}/responses?beta=1", {"input": "hello", "tools": TOOLS})
        (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/responses?beta=1")
    assert request.headers["x-session"] == "one"
    assert "authorization" not in request.headers
    assert request.body["input"] == "hello"


@pytest.mark.parametrize("path", ["/v1/models", "/api/v1/models", "/v1/models?client_version=1"])
def test_the_scripted_model_is_listed(path: str) -> None:
    with ModelServer(model="tiny") as server:
        answer = json.loads(ask(server.root + path))
    assert [entry["id"] for entry in answer["data"]] == ["tiny"]


def test_a_reply_with_another_status_is_an_http_error() -> None:
    with ModelServer([Reply("slow down", status=429), Reply("Fine.")]) as server:
        body = {"messages": [], "tools": TOOLS}
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(f"{server.url}/chat/completions", body)
        with caught.value as answer:
            assert answer.code == 429
            assert json.loads(answer.read())["error"]["message"] == "slow down"
        fine = json.loads(ask(f"{server.url}/chat/completions", body))
    assert fine["choices"][0]["message"]["content"] == "Fine."


def test_an_unknown_path_is_not_found_and_recorded() -> None:
    with ModelServer() as server:
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(f"{server.root}/v1/embeddings", {"input": "x"})
        caught.value.close()
        assert caught.value.code == 404
        assert [request.path for request in server.requests] == ["/v1/embeddings"]


def test_the_command_line_prints_its_port_and_serves_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "From a file.", "usage": {"input": 7, "output": 3}}]))
    command = [sys.executable, "-m", "preheat.testing.model_server", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            body = {"messages": [], "tools": TOOLS}
            answer = json.loads(ask(f"http://127.0.0.1:{port}/v1/chat/completions", body))
        finally:
            process.terminate()
    assert answer["choices"][0]["message"]["content"] == "From a file."
    assert answer["usage"]["prompt_tokens"] == 7
