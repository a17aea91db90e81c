"""Folds the events of an OpenHands conversation (SDK form, discriminated by `kind`) into events. Knows no file."""

from typing import Any

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, images_in, mapping, sequence, string, text_of
from preheat.agents.openhands.tools import (
    RecordedResult,
    kind_of,
    result_of_error,
    result_of_observation,
    result_of_rejection,
)
from preheat.agents.parsing import Draft, ParserState, arguments_of, epoch_seconds, origin_of
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

ROOT_PARENT = "__root__"
"""The parent of an event that begins a new conversation in the same log."""
_NUDGES = ("Your last response did not include a function call", "The task appears incomplete (iteration ")
"""Texts that the program sends in the person's name."""
_OUTSIDE_TREE = ("ConversationStateUpdateEvent", "ConversationErrorEvent")
"""Kinds that are no part of the tree of events."""
_DONE = ("completed", "failed")


class EventState(ParserState):
    """The parser's state between two events."""

    matcher: CallMatcher = msgspec.field(default_factory=CallMatcher, name="joiner")  # the name in stored states
    usages: dict[str, Usage] = msgspec.field(default_factory=dict)
    """Tokens by response, from the conversation's state; each is removed once it is in an event."""
    places: dict[str, int] = msgspec.field(default_factory=dict)
    """The line of each event, by its id."""
    head: str = ""
    responses: list[str] = msgspec.field(default_factory=list)
    model: str = ""


def fold_event(draft: Draft, state: EventState, value: Any, line: int) -> None:
    """Fold one event of OpenHands into the draft."""
    event = mapping(value)
    kind, at = string(event.get("kind")), epoch_seconds(event.get("timestamp"))
    draft.heading.include_time(at)
    _note_branch(draft, state, event, line)
    if kind == "MessageEvent":
        _take_message(draft, state, event, line, at)
    elif kind == "ActionEvent":
        _take_action(draft, state, event, line, at)
    elif kind == "ObservationEvent":
        _add_result(draft, state, event, line, result_of_observation(event), at)
    elif kind == "AgentErrorEvent":
        _add_result(draft, state, event, line, result_of_error(event), at)
    elif kind == "UserRejectObservation":
        _add_result(draft, state, event, line, result_of_rejection(event), at)
    elif kind == "ACPToolCallEvent":
        _take_foreign_call(draft, state, event, line, at)
    elif kind == "Condensation":
        _add_silent_usage(draft, state, string(event.get("llm_response_id")), line, at)
        draft.events.append(Compaction(line=line, at=at, trigger="condenser", summary=string(event.get("summary"))))
    else:
        name = "system" if kind == "SystemPromptEvent" else kind or "unknown"
        draft.events.append(Other(line=line, at=at, name=name, raw=value))


def _note_branch(draft: Draft, state: EventState, event: dict[str, Any], line: int) -> None:
    """Add a `Rewind` if the event's parent is not the newest event: the person went back."""
    name, parent = string(event.get("id")), string(event.get("parent_id"))
    if event.get("kind") in _OUTSIDE_TREE:
        return
    if state.head and parent and parent != state.head:
        after = 0 if parent == ROOT_PARENT else state.places.get(parent)
        if after is not None:
            draft.events.append(Rewind(line=line, after=after))
    if name:
        state.places[name] = line
        state.head = name


def _take_message(draft: Draft, state: EventState, event: dict[str, Any], line: int, at: float | None) -> None:
    message = mapping(event.get("llm_message"))
    text = text_of(message.get("content"))
    if event.get("source") == "agent":
        response = string(event.get("llm_response_id")) or string(event.get("id")) or f"event {line}"
        _add_answer(draft, state, response, text, _thought_in(message), line, at)
        return
    injected = event.get("source") != "user" or bool(event.get("sender")) or text.startswith(_NUDGES)
    images = images_in(message.get("content"))
    origin = origin_of(text, injected)
    draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images))
    if added := text_of(event.get("extended_content")):
        draft.events.append(UserMessage(line=line, at=at, text=added, origin=origin_of(added, injected=True)))


def _take_action(draft: Draft, state: EventState, event: dict[str, Any], line: int, at: float | None) -> None:
    response = string(event.get("llm_response_id")) or string(event.get("id")) or f"event {line}"
    _add_answer(draft, state, response, text_of(event.get("thought")), _thought_in(event), line, at)
    call = mapping(event.get("tool_call"))
    tool = string(event.get("tool_name")) or string(call.get("name"))
    action = {name: value for name, value in mapping(event.get("action")).items() if name != "kind"}
    # The model's own arguments are kept even if the program could not parse them.
    tool_input = arguments_of(call["arguments"]) if "arguments" in call else action
    requested = RequestedCall(string(event.get("tool_call_id")) or string(call.get("id")), tool, tool_input)
    call_id = state.matcher.open_call(requested, str(line))
    draft.events.append(
        ToolCall(
            line=line,
            at=at,
            call_id=call_id,
            tool=tool,
            kind=kind_of(tool, tool_input),
            input=tool_input,
            response=response,
        )
    )


def _add_answer(
    draft: Draft, state: EventState, response: str, text: str, thought: str, line: int, at: float | None
) -> None:
    """Add the text of a response; only the first of its calls carries it."""
    if thought:
        draft.events.append(Reasoning(line=line, at=at, text=thought, response=response))
    usage = state.usages.pop(response, None)
    if text or usage is not None or response not in state.responses:
        draft.events.append(
            AssistantMessage(line=line, at=at, text=text, response=response, model=state.model, usage=usage)
        )
    if response not in state.responses:
        state.responses = [*state.responses[-8:], response]


def _add_silent_usage(draft: Draft, state: EventState, response: str, line: int, at: float | None) -> None:
    """Add the tokens of a response without text."""
    usage = state.usages.pop(response, None)
    if usage is not None:
        draft.events.append(
            AssistantMessage(line=line, at=at, text="", response=response, model=state.model, usage=usage)
        )


def _add_result(
    draft: Draft, state: EventState, event: dict[str, Any], line: int, outcome: RecordedResult, at: float | None
) -> None:
    call_id = state.matcher.close_call(name) if (name := string(event.get("tool_call_id"))) else ""
    if not call_id:
        draft.events.append(Other(line=line, at=at, name="result without a call", raw=event))
        return
    draft.events.append(ToolResult(line=line, at=at, call_id=call_id, **outcome._asdict()))


def _take_foreign_call(draft: Draft, state: EventState, event: dict[str, Any], line: int, at: float | None) -> None:
    """A call that another agent made inside OpenHands; the event is repeated whenever its status changes."""
    name = string(event.get("tool_call_id"))
    status = string(event.get("status"))
    if name and name not in state.places:
        state.places[name] = line
        tool = string(event.get("title")) or string(event.get("tool_kind"))
        requested = RequestedCall(name, tool, arguments_of(event.get("raw_input")))
        call_id = state.matcher.open_call(requested, str(line))
        kind = kind_of(string(event.get("tool_kind")), requested.input)
        draft.events.append(ToolCall(line=line, at=at, call_id=call_id, tool=tool, kind=kind, input=requested.input))
    if status not in _DONE or not (call_id := state.matcher.close_call(name)):
        if status in _DONE:
            draft.events.append(Other(line=line, at=at, name="result without a call", raw=event))
        return
    output = event.get("raw_output")
    text = output if isinstance(output, str) else text_of(event.get("content")) or text_of(output)
    failed = event.get("is_error") is True or status == "failed"
    draft.events.append(ToolResult(line=line, at=at, call_id=call_id, text=text, is_error=failed))


def _thought_in(value: dict[str, Any]) -> str:
    if thought := string(value.get("reasoning_content")):
        return thought
    blocks = [string(mapping(block).get("thinking")) for block in sequence(value.get("thinking_blocks"))]
    return "\n".join(block for block in blocks if block)
