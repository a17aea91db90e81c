"""Results of agent benchmarks: one document with many runs, each a conversation with a simulated person.

Knows no benchmark: each reader finds the runs in its document and names them.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from preheat.agents.chat import CallMatcher, calls_of, mapping, sequence, string, text_of, usage_of
from preheat.agents.documents import DocumentParser
from preheat.agents.parsing import Draft, decode_json, epoch_seconds, origin_of
from preheat.agents.reader import Heading
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    ToolCall,
    ToolResult,
    UserMessage,
)


class SimulationsParser(DocumentParser):
    """A document of many runs; each becomes a session."""

    # Each benchmark's parser implements these.
    def runs(self, document: Any) -> list[Any] | None:
        """The runs in a document, or None if it is of another format."""
        raise NotImplementedError

    def fold(self, run: dict[str, Any], draft: Draft) -> None:
        """Fold one run into the draft."""
        raise NotImplementedError

    # Shared by all of them.
    def read(self, block: bytes, line: int) -> None:
        try:
            document = decode_json(block)
        except (ValueError, RecursionError) as error:
            self.add_problem(f"not a whole JSON document ({str(error)[:120]})", line)
            return
        found = self.runs(document)
        if found is None:
            self.add_problem("no results of simulations in it", line)
        for number, run in enumerate(found or (), 1):
            if isinstance(run, dict):
                draft = Draft(Heading(starter="headless"))
                self.fold(run, draft)
                self.add(draft)
            else:
                self.add_problem(f"result {number} is no object; passed over", line)


def short_digest(value: object) -> str:
    """A short hash of a value."""
    return sha256(json.dumps(value, sort_keys=True).encode("utf-8", "replace")).hexdigest()[:12]


def number_or_none(value: object) -> float | None:
    """The value if it is a number, else None."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def run_title(name: str, task: object, trial: object, reward: object) -> str:
    """The title of a run: task, trial and reward."""
    reward_number = number_or_none(reward)
    ending = "" if reward_number is None else f": reward {reward_number:g}"
    which = "" if number_or_none(trial) is None else f", trial {trial}"
    return f"{name} {task}{which}{ending}"


def utc_seconds(value: object) -> float | None:
    """A time in seconds; one without a zone is taken as UTC, so that it is the same on every machine."""
    if isinstance(value, str) and len(value) >= 19 and value[10] in "T " and value[-1] != "Z" and "+" not in value:
        return epoch_seconds(f"{value}+00:00")
    return epoch_seconds(value)


def fold_messages(draft: Draft, messages: object) -> int:
    """Fold the messages of one run into the draft; returns the number of the next line."""
    matcher = CallMatcher()
    line = 1
    for message in _flatten(messages):
        at = utc_seconds(mapping(message).get("timestamp"))
        draft.heading.include_time(at)
        _fold_message(draft, matcher, message, line, at)
        line += 1
    return line


def _flatten(messages: object) -> Iterator[Any]:
    """The messages, with several results in one message as one message each."""
    for message in sequence(messages):
        inner = mapping(message).get("tool_messages")
        if isinstance(inner, list):
            yield from inner
        else:
            yield message


def _fold_message(draft: Draft, matcher: CallMatcher, message: Any, line: int, at: float | None) -> None:
    role = mapping(message).get("role")
    if role == "assistant":
        _add_answer(draft, matcher, message, line, at)
    elif role == "user":
        text = text_of(message.get("content"))
        calls = calls_of(message)
        if text or not calls:
            origin = origin_of(text, injected=False)
            draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin))
        _add_calls(draft, matcher, message, "", line, at)
    elif role == "tool":
        _add_result(draft, matcher, message, line, at)
    else:
        name = "system" if role == "system" else "unknown"
        draft.events.append(Other(line=line, at=at, name=name, raw=message))


def _add_answer(draft: Draft, matcher: CallMatcher, message: dict[str, Any], line: int, at: float | None) -> None:
    response = f"message {line}"
    thought = string(message.get("reasoning")) or string(message.get("reasoning_content"))
    if thought:
        draft.events.append(Reasoning(line=line, at=at, text=thought, response=response))
    draft.events.append(
        AssistantMessage(
            line=line,
            at=at,
            text=text_of(message.get("content")),
            response=response,
            model=draft.heading.model,
            usage=usage_of(message.get("usage")),
        )
    )
    _add_calls(draft, matcher, message, response, line, at)


def _add_calls(
    draft: Draft, matcher: CallMatcher, message: dict[str, Any], response: str, line: int, at: float | None
) -> None:
    for number, requested in enumerate(calls_of(message), 1):
        call_id = matcher.open_call(requested, f"{line}.{number}")
        kind = kind_by_name(requested.tool)
        draft.events.append(
            ToolCall(
                line=line,
                at=at,
                call_id=call_id,
                tool=requested.tool,
                kind=kind,
                input=requested.input,
                response=response,
            )
        )


def _add_result(draft: Draft, matcher: CallMatcher, message: dict[str, Any], line: int, at: float | None) -> None:
    name = string(message.get("tool_call_id")) or string(message.get("id"))
    call_id = matcher.close_call(name, string(message.get("name")))
    if not call_id:
        draft.events.append(Other(line=line, at=at, name="result without a call", raw=message))
        return
    flag = message.get("error")
    # The simulated person has tools too; only `requestor` tells whose call it was.
    detail = {"requestor": "user"} if message.get("requestor") == "user" else {}
    draft.events.append(
        ToolResult(
            line=line,
            at=at,
            call_id=call_id,
            text=text_of(message.get("content")),
            is_error=flag if isinstance(flag, bool) else None,
            detail=detail,
        )
    )
