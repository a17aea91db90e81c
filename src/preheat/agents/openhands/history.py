"""Folds the histories of older OpenHands versions (`action` and `observation` events) into a session. Knows no file.

They stand in the outputs of evaluations, one run a line, and alone in a trajectory file.
"""

from hashlib import sha256
from typing import Any

from preheat.agents.chat import CallMatcher, RequestedCall, mapping, sequence, string, text_of, usage_of
from preheat.agents.openhands.tools import RecordedResult, kind_of, split_exit_code
from preheat.agents.parsing import Draft, arguments_of, epoch_seconds, origin_of
from preheat.agents.reader import Heading
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

_CALLS = frozenset(
    ["run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "think", "delegate", "finish",
     "call_tool_mcp", "task_tracking", "kill"]
)  # fmt: skip
"""Actions that are calls even if the model's own call was not recorded."""
_NO_ARGUMENTS = ("thought", "blocking", "is_static", "hidden", "confirmation_state", "security_risk", "is_input")
_ABOUT = ("instance_id", "test_result", "error", "metrics", "report", "resolved")


def draft_of_run(document: dict[str, Any], stem: str) -> Draft:
    """The draft of one run: an evaluation's record, or `{"history": events}` for a file of events only."""
    events = _flatten_pairs(sequence(document.get("history")))
    draft = Draft(Heading(starter="headless" if "instance_id" in document else "unknown"))
    heading, settings = draft.heading, mapping(document.get("metadata"))
    heading.model = string(mapping(settings.get("llm_config")).get("model"))
    name = str(document.get("instance_id") or stem)
    first = mapping(next(iter(events), None))
    mark = repr([first.get("timestamp"), text_of(first.get("message"))[:1000], settings.get("start_time")])
    heading.id = f"{name}-{sha256(mark.encode('utf-8', 'replace')).hexdigest()[:12]}"
    history = _History(draft)
    for number, event in enumerate(events, 1):
        history.add(event, number)
    history.finish(mapping(document.get("metrics")))
    if about := {name: document[name] for name in _ABOUT if document.get(name)}:
        draft.events.append(Other(line=len(events) + 1, name="ending", raw=about))
    return draft


def _flatten_pairs(events: list[Any]) -> list[Any]:
    """The events one by one; the oldest versions wrote pairs of an action and its observation."""
    return [part for event in events for part in (event if isinstance(event, list) else [event])]


class _History:
    """Folds the events of one run into a draft."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._matcher = CallMatcher()
        self._call_ids: dict[Any, str] = {}
        """Ids of the open calls by the id of their event, because a model may use one id for several calls."""
        self._responses: set[str] = set()
        self._used = Usage()

    def add(self, value: Any, line: int) -> None:
        event = mapping(value)
        at = epoch_seconds(event.get("timestamp"))
        self._draft.heading.include_time(at)
        action, action_arguments = string(event.get("action")), mapping(event.get("args"))
        if "observation" in event:
            self._take_observation(event, value, line, at)
        elif action == "message" and event.get("source") == "user":
            self._take_user(action_arguments, line, at)
        elif action == "message":
            self._add_answer(event, text_of(action_arguments.get("content")), line, at)
        elif action == "condensation":
            summary = string(action_arguments.get("summary"))
            self._draft.events.append(Compaction(line=line, at=at, trigger="condenser", summary=summary))
        elif event.get("source") == "agent" and (event.get("tool_call_metadata") or action in _CALLS):
            self._take_call(event, action, action_arguments, line, at)
        else:
            self._draft.events.append(Other(line=line, at=at, name=action or "unknown", raw=value))

    def finish(self, metrics: dict[str, Any]) -> None:
        """Take the program's totals if the responses add up to them."""
        stated = mapping(metrics.get("accumulated_token_usage"))
        total = usage_of(
            {
                **stated,
                "cache_read_input_tokens": stated.get("cache_read_tokens"),
                "cache_creation_input_tokens": stated.get("cache_write_tokens"),
            }
        )
        if total is not None and total == self._used:
            self._draft.heading.reported = total

    def _take_user(self, action_arguments: dict[str, Any], line: int, at: float | None) -> None:
        text = text_of(action_arguments.get("content"))
        images = len(sequence(action_arguments.get("image_urls")))
        origin = origin_of(text, injected=False)
        self._draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images))

    def _add_answer(self, event: dict[str, Any], text: str, line: int, at: float | None) -> str:
        """Add the text of a response once: each of its calls carries a copy of the whole response."""
        model_response = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
        response = string(model_response.get("id")) or f"event {line}"
        if response in self._responses:
            return response
        self._responses.add(response)
        choice = mapping(next(iter(sequence(model_response.get("choices"))), None))
        message, usage = mapping(choice.get("message")), usage_of(model_response.get("usage"))
        if thought := string(message.get("reasoning_content")):
            self._draft.events.append(Reasoning(line=line, at=at, text=thought, response=response))
        self._used = self._used + usage if usage else self._used
        model = string(model_response.get("model")) or self._draft.heading.model
        message_text = text_of(message.get("content")) or text
        if message_text or usage is not None:
            self._draft.events.append(
                AssistantMessage(line=line, at=at, text=message_text, response=response, model=model, usage=usage)
            )
        return response

    def _take_call(
        self, event: dict[str, Any], action: str, action_arguments: dict[str, Any], line: int, at: float | None
    ) -> None:
        response = self._add_answer(event, text_of(action_arguments.get("thought")), line, at)
        metadata = mapping(event.get("tool_call_metadata"))
        name = string(metadata.get("tool_call_id"))
        tool = string(metadata.get("function_name")) or action
        own_arguments = {
            key: value for key, value in action_arguments.items() if key not in _NO_ARGUMENTS and value is not None
        }
        requested = RequestedCall(name, tool, _arguments_as_written(metadata, name) or own_arguments)
        call_id = self._matcher.open_call(requested, str(line))
        self._call_ids[event.get("id") if isinstance(event.get("id"), int | str) else line] = call_id
        kind = kind_of(tool, requested.input)
        self._draft.events.append(
            ToolCall(line=line, at=at, call_id=call_id, tool=tool, kind=kind, input=requested.input, response=response)
        )

    def _take_observation(self, event: dict[str, Any], value: Any, line: int, at: float | None) -> None:
        cause = event.get("cause")
        call_id = self._call_ids.pop(cause, "") if isinstance(cause, int | str) else ""
        if not call_id:
            name = string(event.get("observation")) or "unknown"
            self._draft.events.append(Other(line=line, at=at, name=name, raw=value))
            return
        outcome = _result_of(event)
        self._draft.events.append(ToolResult(line=line, at=at, call_id=call_id, **outcome._asdict()))


def _arguments_as_written(metadata: dict[str, Any], name: str) -> dict[str, Any]:
    """The arguments as the model wrote them."""
    choice = mapping(next(iter(sequence(mapping(metadata.get("model_response")).get("choices"))), None))
    for call in map(mapping, sequence(mapping(choice.get("message")).get("tool_calls"))):
        if call.get("id") == name:
            return arguments_of(mapping(call.get("function")).get("arguments"))
    return {}


def _result_of(event: dict[str, Any]) -> RecordedResult:
    extras, kind = mapping(event.get("extras")), string(event.get("observation"))
    text = text_of(event.get("content"))
    if kind == "error":
        error = string(extras.get("error_id"))
        return RecordedResult(text, True, None, {"error": error} if error else {})
    if kind == "user_rejected":
        return RecordedResult(text, True, None, {"rejected": "user"})
    code, detail = split_exit_code(mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code")))
    return RecordedResult(text, None, code, detail)
