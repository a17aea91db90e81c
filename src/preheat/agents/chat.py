"""Messages in OpenAI's chat form, for every format that is made of them: text, calls, tokens, matching results to calls.

Knows no agent and no file. No type is trusted: a value of an unexpected type reads as empty.
"""

import json
from typing import Any, NamedTuple

import msgspec

from preheat.agents.parsing import arguments_of, decode_json
from preheat.model.session import PREHEAT_MARK, Usage

NO_RESULT = f"{PREHEAT_MARK}no-result>This call has no recorded result.</preheat-no-result>"
"""Replaces a result that was never recorded: providers refuse a call without a result, and inventing one would be wrong."""
_LARGEST_COUNT = 2**53


class RequestedCall(NamedTuple):
    """A call as the model asked for it; the id may be missing."""

    id: str
    tool: str
    input: dict[str, Any]


class CallMatcher(msgspec.Struct):
    """Gives every call of a session a unique id and finds the call that a result belongs to.

    Part of a parser's saved state, so that a file that has grown can be read from where the last reading ended.
    """

    _known: set[str] = set()
    _latest: dict[str, str] = {}
    _open: dict[str, str] = {}
    """The calls without a result, oldest first, and their tools."""

    def open_call(self, requested: RequestedCall, suffix: str) -> str:
        """Note a call and return a unique id for it: the suffix is added to an id that was used before."""
        name = requested.id or f"call {suffix}"
        call_id = name if name not in self._known else f"{name} {suffix}"
        self._known.add(call_id)
        self._latest[name] = call_id
        self._open[call_id] = requested.tool
        return call_id

    def close_call(self, name: str, tool: str = "") -> str:
        """The id of the call that a result is for: by its id, else the oldest open call (of that tool), else empty."""
        if name:
            call_id = self._latest.get(name, "")
            return call_id if self._open.pop(call_id, None) is not None else ""
        call_id = next((call_id for call_id, its_tool in self._open.items() if its_tool == tool), "") if tool else ""
        call_id = call_id or next(iter(self._open), "")
        self._open.pop(call_id, None)
        return call_id

    @property
    def has_open_calls(self) -> bool:
        return bool(self._open)

    def drop_open_calls(self) -> None:
        """Forget the calls without a result: none will come any more."""
        self._open.clear()


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_COUNT:
        return value
    return 0


def text_of(content: object) -> str:
    """The text of a message's content, which is a string, a list of parts, or None."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part if isinstance(part, str) else string(mapping(part).get("text")) for part in content]
        return "\n".join(text for text in texts if text)
    return "" if content is None else json.dumps(content)


def images_in(content: object) -> int:
    return sum("image" in string(mapping(part).get("type")) for part in sequence(content))


def calls_of(message: dict[str, Any]) -> list[RequestedCall]:
    """The calls in a message: `tool_calls` as a list or as JSON text, or the older `function_call`."""
    requested = message.get("tool_calls")
    if isinstance(requested, str):
        try:
            requested = decode_json(requested.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            requested = None
    calls = [
        _call(call) for call in (requested if isinstance(requested, list) else [requested]) if isinstance(call, dict)
    ]
    older = message.get("function_call")
    return [*calls, _call(older)] if isinstance(older, dict) and not calls else calls


def _call(call: dict[str, Any]) -> RequestedCall:
    function = call.get("function")
    body = function if isinstance(function, dict) else call
    tool = string(function) or string(body.get("name")) or string(call.get("name"))
    tool_input = next((body[name] for name in ("arguments", "args", "input") if name in body), None)
    return RequestedCall(string(call.get("id")) or string(call.get("call_id")), tool, arguments_of(tool_input))


def usage_of(value: object) -> Usage | None:
    """Tokens of a response; the providers count cached tokens as input, here they are subtracted from it."""
    stated = mapping(value)
    if "prompt_tokens" not in stated and "completion_tokens" not in stated:
        return None
    prompt_details, completion_details = (
        mapping(stated.get("prompt_tokens_details")),
        mapping(stated.get("completion_tokens_details")),
    )
    cached = count(prompt_details.get("cached_tokens")) or count(stated.get("cache_read_input_tokens"))
    cached = cached or count(stated.get("prompt_cache_hit_tokens"))
    written = count(stated.get("cache_creation_input_tokens"))
    return Usage(
        input=max(0, count(stated.get("prompt_tokens")) - cached - written),
        output=count(stated.get("completion_tokens")),
        cache_read=cached,
        cache_write=written,
        reasoning=count(completion_details.get("reasoning_tokens")),
    )
