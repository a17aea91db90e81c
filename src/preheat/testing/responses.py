"""The wire format of the OpenAI responses interface: one reply as a document or as stream events.

Knows nothing of HTTP nor of scripts.
"""

from collections.abc import Iterator
from typing import Any

from preheat.model.session import Usage
from preheat.testing.script import CREATED, NumberedReply, argument_text


def document(numbered: NumberedReply) -> dict[str, Any]:
    """The answer to a request without `stream`."""
    return _response(numbered, "completed", _items(numbered), usage_block(numbered.reply.usage))


def events(numbered: NumberedReply) -> Iterator[dict[str, Any]]:
    """The answer to a request with `stream`."""
    for sequence, event in enumerate(_events(numbered)):
        yield {**event, "sequence_number": sequence}


def usage_block(usage: Usage) -> dict[str, Any]:
    """Tokens as this interface counts them: what came from the cache is inside the input."""
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": prompt + usage.output,
    }


def _events(numbered: NumberedReply) -> Iterator[dict[str, Any]]:
    started = _response(numbered, "in_progress", [], None)
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    for index, item in enumerate(_items(numbered)):
        opening = {**item, "status": "in_progress"}
        for name in ("content", "summary"):
            if name in item:
                opening[name] = []
        for name in ("arguments", "input"):
            if name in item:
                opening[name] = ""
        yield {"type": "response.output_item.added", "output_index": index, "item": opening}
        yield from _deltas(index, item)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": document(numbered)}


def _deltas(index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        part, where = item["content"][0], {**place, "content_index": 0}
        yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **where, "delta": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **where, "part": part}
    elif item["type"] == "reasoning":
        part, where = item["summary"][0], {**place, "summary_index": 0}
        yield {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}}
        yield {"type": "response.reasoning_summary_text.delta", **where, "delta": part["text"]}
        yield {"type": "response.reasoning_summary_text.done", **where, "text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done", **where, "part": part}
    elif item["type"] == "custom_tool_call":
        yield {"type": "response.custom_tool_call_input.delta", **place, "delta": item["input"]}
        yield {"type": "response.custom_tool_call_input.done", **place, "input": item["input"]}
    else:
        text = item["arguments"]
        yield {"type": "response.function_call_arguments.delta", **place, "delta": text}
        yield {
            "type": "response.function_call_arguments.done",
            **place,
            "name": item["name"],
            "arguments": text,
        }


def _items(numbered: NumberedReply) -> list[dict[str, Any]]:
    reply = numbered.reply
    items: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": f"rs_{numbered.id}", "summary": summary, "status": "completed"})
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}]
        items.append(
            {
                "type": "message",
                "id": f"msg_{numbered.id}",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    for call in numbered.calls:
        custom = call.name in numbered.custom
        item = {
            "type": "custom_tool_call" if custom else "function_call",
            "id": f"item_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "input" if custom else "arguments": argument_text(call),
            "status": "completed",
        }
        if call.name in numbered.namespaces:
            item["namespace"] = numbered.namespaces[call.name]
        items.append(item)
    return items


def _response(
    numbered: NumberedReply, status: str, output: list[dict[str, Any]], usage: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "id": numbered.id,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "model": numbered.model,
        "output": output,
        "usage": usage,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": None,
        "top_p": None,
    }
