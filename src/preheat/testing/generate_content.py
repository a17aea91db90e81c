"""The wire format of the Gemini interface: one reply as a document or as stream chunks, and a count of tokens.

Knows nothing of HTTP nor of scripts. What came from the cache is inside the prompt here, and thoughts are outside the
candidates.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.model.session import Usage
from preheat.testing.script import Call, NumberedReply

ENDINGS = (":generateContent", ":streamGenerateContent", ":countTokens")


def model_of(path: str) -> str:
    """The model that a path asks for: it stands there and not in the body."""
    return path.rpartition("/")[2].partition(":")[0]


def document(numbered: NumberedReply) -> dict[str, Any]:
    """The answer to `generateContent`."""
    return _response(numbered, _parts(numbered), last=True)


def chunks(numbered: NumberedReply) -> Iterator[dict[str, Any]]:
    """The answer to `streamGenerateContent`: a part a chunk, texts in two; usage and the end with the last."""
    parts = [piece for part in _parts(numbered) for piece in _halves(part)]
    for index, part in enumerate(parts):
        yield _response(numbered, [part], last=index == len(parts) - 1)
    if not parts:
        yield _response(numbered, [], last=True)


def count_tokens(body: Any) -> dict[str, Any]:
    """The answer to `countTokens`: a quarter of the characters, as good as any other number here."""
    return {"totalTokens": len(msgspec.json.encode(body)) // 4}


def list_models(model: str) -> dict[str, Any]:
    """The answer to the question which models there are."""
    methods = [ending[1:] for ending in ENDINGS]
    return {
        "models": [
            {
                "name": f"models/{model}",
                "displayName": model,
                "inputTokenLimit": 200_000,
                "outputTokenLimit": 8_192,
                "supportedGenerationMethods": methods,
            }
        ]
    }


def error(status: int, message: str) -> dict[str, Any]:
    """How an error looks."""
    names = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
    return {"error": {"code": status, "message": message, "status": names.get(status, "INTERNAL")}}


def usage_block(usage: Usage) -> dict[str, Any]:
    """Tokens as this interface counts them."""
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cache_read,
        "totalTokenCount": prompt + usage.output,
    }


def _response(numbered: NumberedReply, parts: list[dict[str, Any]], last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    answer: dict[str, Any] = {"candidates": [candidate], "modelVersion": numbered.model, "responseId": numbered.id}
    if last:
        candidate["finishReason"] = "STOP"
        answer["usageMetadata"] = usage_block(numbered.reply.usage)
    return answer


def _parts(numbered: NumberedReply) -> list[dict[str, Any]]:
    reply = numbered.reply
    parts: list[dict[str, Any]] = []
    if reply.reasoning:
        parts.append({"text": reply.reasoning, "thought": True})
    if reply.text:
        parts.append({"text": reply.text})
    return parts + [{"functionCall": _function_call(call)} for call in numbered.calls]


def _function_call(call: Call) -> dict[str, Any]:
    # Arguments are an object in this format; a text goes under the key `text`.
    args = call.arguments if isinstance(call.arguments, dict) else {"text": call.arguments}
    return {"id": call.id, "name": call.name, "args": args}


def _halves(part: dict[str, Any]) -> list[dict[str, Any]]:
    # Two pieces, so that a client that does not join them fails; a thought is always whole.
    text = part.get("text")
    if not text or part.get("thought") or len(text) < 2:
        return [part]
    middle = len(text) // 2
    return [{**part, "text": text[:middle]}, {**part, "text": text[middle:]}]
