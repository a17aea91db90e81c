"""The wire format of the Anthropic messages interface: one reply as a document or as stream events, a count of tokens.

Knows nothing of HTTP nor of scripts. What came from the cache is outside the input here, and thinking is inside the output.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.model.session import Usage
from preheat.testing.script import NumberedReply, halve

SIGNATURE = "c2NyaXB0ZWQ="
"""In the place of the provider's signature on its reasoning."""


def document(numbered: NumberedReply) -> dict[str, Any]:
    """The answer to a request without `stream`."""
    return _message(numbered, _blocks(numbered), _stop_reason(numbered), usage_block(numbered.reply.usage))


def events(numbered: NumberedReply) -> Iterator[dict[str, Any]]:
    """The answer to a request with `stream`."""
    usage = usage_block(numbered.reply.usage)
    yield {"type": "message_start", "message": _message(numbered, [], None, {**usage, "output_tokens": 1})}
    for index, block in enumerate(_blocks(numbered)):
        yield {"type": "content_block_start", "index": index, "content_block": _opening(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": _stop_reason(numbered), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def count_tokens(body: Any) -> dict[str, Any]:
    """The answer to `count_tokens`: a quarter of the characters, as good as any other number here."""
    return {"input_tokens": len(msgspec.json.encode(body)) // 4}


def error(status: int, message: str) -> dict[str, Any]:
    """How an error looks."""
    names = {400: "invalid_request_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    return {"type": "error", "error": {"type": names.get(status, "api_error"), "message": message}}


def usage_block(usage: Usage) -> dict[str, Any]:
    """Tokens as this interface counts them."""
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }


def _message(
    numbered: NumberedReply, content: list[dict[str, Any]], stop_reason: str | None, usage: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": f"msg_{numbered.id}",
        "type": "message",
        "role": "assistant",
        "model": numbered.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _stop_reason(numbered: NumberedReply) -> str:
    return "tool_use" if numbered.calls else "end_turn"


def _blocks(numbered: NumberedReply) -> list[dict[str, Any]]:
    reply = numbered.reply
    blocks: list[dict[str, Any]] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": SIGNATURE})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    for call in numbered.calls:
        # Arguments are an object in this format; a text goes under the key `text`.
        arguments = call.arguments if isinstance(call.arguments, dict) else {"text": call.arguments}
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return blocks


def _opening(block: dict[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {"thinking": "", "signature": "", "text": "", "input": {}}
    return {name: empty.get(name, value) for name, value in block.items()}


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "thinking":
        for piece in halve(block["thinking"]):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif block["type"] == "text":
        for piece in halve(block["text"]):
            yield {"type": "text_delta", "text": piece}
    else:
        for piece in halve(msgspec.json.encode(block["input"]).decode()):
            yield {"type": "input_json_delta", "partial_json": piece}
