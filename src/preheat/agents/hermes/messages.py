"""Turns the rows of a Hermes session's messages into events.

Does not know which rows are copies or were rewound: `parser.py` decides that.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.hermes.replay import CopyTracker
from preheat.agents.hermes.results import result_of, split_advisory
from preheat.agents.hermes.session import is_review
from preheat.agents.hermes.texts import call_id, calls_of, content_of, is_written_by_program
from preheat.agents.hermes.tools import kind_of
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, epoch_seconds, origin_of
from preheat.model.session import AssistantMessage, Other, Reasoning, ToolCall, ToolResult, UserMessage

_USUAL_ENDS = (None, "", "stop", "tool_calls")


class Record(msgspec.Struct):
    """One line."""

    table: str = ""
    row: dict[str, Any] = {}


class HermesState(ParserState):
    replay: CopyTracker = msgspec.field(default_factory=CopyTracker)
    session: dict[str, Any] = msgspec.field(default_factory=dict)
    names: dict[str, str] = msgspec.field(default_factory=dict)
    """The tool of every call."""
    renamed: dict[str, str] = msgspec.field(default_factory=dict)
    """A call's unique name, by the id it shares with an earlier call: some models count again in each response."""
    goals: dict[str, str] = msgspec.field(default_factory=dict)
    """The call that delegated a task, by the task's text."""
    rewind: int | None = None
    """The line before the rewound rows that were just read."""
    prompted: bool = False
    given: bool = False
    """The session contains a text of Preheat."""


class MessageParser(LinesParser[HermesState, Record]):
    """The part of the parser that turns messages into events."""

    def add_message(self, row: dict[str, Any], line: int) -> None:
        at = epoch_seconds(row.get("timestamp"))
        self.draft().heading.include_time(at)
        role = row.get("role")
        if role == "user":
            self._add_user(row, line, at)
        elif role == "assistant":
            self._add_assistant(row, line, at)
        elif role == "tool":
            self._add_result(row, line, at)
        else:
            self.draft().events.append(Other(line=line, at=at, name=f"message.{role}", raw=row))

    def _add_user(self, row: dict[str, Any], line: int, at: float | None) -> None:
        draft = self.draft()
        text, images = content_of(row.get("content"))
        # A subagent's prompt was written by the model that started it.
        by_program = is_written_by_program(text) or draft.heading.relation == "subagent"
        origin = origin_of(text, by_program)
        if origin == "preheat":
            self.state.given = True
        elif not self.state.prompted:
            self.state.prompted = True
            if is_review(text):
                draft.heading.starter = "background"
        draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images))
        sent = row.get("api_content")
        if isinstance(sent, str) and sent and sent != text:
            # The text sent to the model: the message, and what plugins and memory added to it.
            added = sent[len(text) :] if sent.startswith(text) else sent
            if added := added.strip():
                draft.events.append(UserMessage(line=line, at=at, text=added, origin=origin_of(added, injected=True)))

    def _add_assistant(self, row: dict[str, Any], line: int, at: float | None) -> None:
        draft = self.draft()
        response = f"row {row.get('id', line)}"
        reasoning = _reasoning_of(row)
        if reasoning is not None:
            draft.events.append(Reasoning(line=line, at=at, text=reasoning, response=response))
        text = content_of(row.get("content")).text
        calls = list(self._read_calls(row, line, at, response))
        if text or not calls:
            draft.events.append(
                AssistantMessage(line=line, at=at, text=text, response=response, model=draft.heading.model)
            )
        draft.events.extend(calls)
        end = row.get("finish_reason")
        if end not in _USUAL_ENDS:
            draft.events.append(Other(line=line, at=at, name="finish_reason", raw=end))

    def _read_calls(self, row: dict[str, Any], line: int, at: float | None, response: str) -> Iterator[ToolCall]:
        try:
            calls = calls_of(row)
        except (ValueError, RecursionError) as error:
            self.add_problem(f"tool calls that cannot be read ({str(error)[:120]}); kept as they are", line)
            self.draft().events.append(Other(line=line, at=at, name="tool_calls", raw=row.get("tool_calls")))
            return
        for place, call in enumerate(calls):
            function = call.get("function")
            function = function if isinstance(function, dict) else {}
            name = str(function.get("name") or call.get("name") or "")
            raw_id = call_id(call)
            own = raw_id or f"{response} call {place}"
            if own in self.state.names:
                own = f"{raw_id} {response}.{place}"
                self.state.renamed[raw_id] = own
            else:
                self.state.renamed.pop(raw_id, None)
            self.state.names[own] = name
            values = arguments_of(function.get("arguments", call.get("arguments")))
            if name == "delegate_task":
                self._note_goals(values, own)
            yield ToolCall(
                line=line, at=at, call_id=own, tool=name, kind=kind_of(name), input=values, response=response
            )

    def _note_goals(self, values: dict[str, Any], call: str) -> None:
        tasks = values.get("tasks")
        for task in [values, *(tasks if isinstance(tasks, list) else [])]:
            goal = task.get("goal") if isinstance(task, dict) else None
            if isinstance(goal, str) and goal.strip():
                self.state.goals[goal.strip()] = call

    def _add_result(self, row: dict[str, Any], line: int, at: float | None) -> None:
        draft = self.draft()
        raw_id = str(row.get("tool_call_id") or "")
        own = self.state.renamed.get(raw_id, raw_id)
        # Calls that were refused are stored without the tool's name.
        tool = str(row.get("tool_name") or self.state.names.get(own, ""))
        text, advisory = split_advisory(content_of(row.get("content")).text)
        facts = result_of(text, tool)
        disposition = row.get("effect_disposition")
        if isinstance(disposition, str) and disposition:
            facts.detail["effect_disposition"] = disposition
        draft.events.append(
            ToolResult(
                line=line,
                at=at,
                call_id=own,
                text=text,
                is_error=facts.is_error,
                exit_code=facts.exit_code,
                detail=facts.detail,
            )
        )
        if advisory:
            draft.events.append(UserMessage(line=line, at=at, text=advisory, origin=origin_of(advisory, injected=True)))
        # What a person types while a tool runs is stored in the tool's result.
        for steering in facts.steered:
            draft.events.append(
                UserMessage(line=line, at=at, text=steering, origin=origin_of(steering, injected=False))
            )


def _reasoning_of(row: dict[str, Any]) -> str | None:
    """The reasoning of a response; empty if only an encrypted form is stored, None without reasoning."""
    for name in ("reasoning_content", "reasoning"):
        text = row.get(name)
        if isinstance(text, str) and text.strip():
            return text
    found = False
    for name in ("reasoning_details", "codex_reasoning_items"):
        value = row.get(name)
        try:
            items = decode_json(value.encode()) if isinstance(value, str) and value else None
        except (ValueError, RecursionError):
            continue
        found = found or bool(items)
        for item in items if isinstance(items, list) else ():
            text = item.get("text") or item.get("summary") if isinstance(item, dict) else None
            if isinstance(text, str) and text.strip():
                return text
    return "" if found else None
