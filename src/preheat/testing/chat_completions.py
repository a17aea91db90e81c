"""The wire format of OpenAI chat completions: one reply as a document or as stream chunks.

Knows nothing of HTTP nor of scripts.
"""

from collections.abc import Iterator
from typing import Any

from preheat.model.session import Usage
from preheat.testing.script import CREATED, NumberedReply, argument_text, halve


def document(numbered: NumberedReply) -> dict[str, Any]:
    """The answer to a request without `stream`."""
    reply = numbered.reply
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if numbered.calls:
        message["tool_calls"] = _tool_calls(numbered)
    choice = {"index": 0, "message": message, "finish_reason": _finish(numbered), "logprobs": None}
    return {
        "id": numbered.id,
        "object": "chat.completion",
        "created": CREATED,
        "model": numbered.model,
        "choices": [choice],
        "usage": usage_block(reply.usage),
    }


def chunks(numbered: NumberedReply, with_usage: bool) -> Iterator[dict[str, Any]]:
    """The answer to a request with `stream`, without the closing `[DONE]`."""
    reply = numbered.reply
    yield _chunk(numbered, {"role": "assistant", "content": ""})
    if reply.reasoning:
        yield _chunk(numbered, {"reasoning_content": reply.reasoning})
    for piece in halve(reply.text):
        yield _chunk(numbered, {"content": piece})
    for index, call in enumerate(_tool_calls(numbered)):
        function = call["function"]
        opening = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield _chunk(numbered, {"tool_calls": [opening]})
        for piece in halve(function["arguments"]):
            yield _chunk(numbered, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chunk(numbered, {}, _finish(numbered))
    if with_usage:
        yield {**_chunk(numbered, {}), "choices": [], "usage": usage_block(reply.usage)}


def usage_block(usage: Usage) -> dict[str, Any]:
    """Tokens as this interface counts them: what came from the cache is inside the prompt."""
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _tool_calls(numbered: NumberedReply) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": argument_text(call)}}
        for call in numbered.calls
    ]


def _finish(numbered: NumberedReply) -> str:
    return "tool_calls" if numbered.calls else "stop"


def _chunk(numbered: NumberedReply, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": numbered.id,
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": numbered.model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
