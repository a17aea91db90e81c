"""A session as an ATIF v1.7 trajectory (the Agent Trajectory Interchange Format of Harbor and Terminal-Bench).

The format is strict: facts without a field of their own (outcomes, compactions, rewinds) are in `extra`, readable for
others. Under `extra.preheat` are the notes from which Preheat's own reader restores the session exactly, event by event.
Knows nothing of files.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from preheat.agents.atif.notes import NOTES_KEY, PIECES, event_note, heading_note
from preheat.agents.atif.notes import VERSION as NOTES_VERSION
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    sum_usage,
    surviving_events,
)

VERSION = "ATIF-v1.7"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_trajectory(
    session: Session, file_name_of: Callable[[str], str] = lambda session: f"{session}.json"
) -> dict[str, Any]:
    """The trajectory; `steps` is empty (which the format does not allow) only if the session has no message at all.

    The function parameter names the file that a subagent's trajectory is written to.
    """
    steps = _Steps(session, file_name_of)
    for event in session.events:
        steps.add(event)
    return {
        "schema_version": VERSION,
        "session_id": session.id,
        "trajectory_id": f"{session.agent}:{session.id}",
        "agent": _without_empty(
            {"name": session.agent, "version": session.version or "unknown", "model_name": session.model}
        ),
        "steps": steps.finish(),
        "final_metrics": _final_metrics(session, len(steps.steps)),
        "extra": {
            **_without_empty(
                {
                    "project": session.project,
                    "branch": session.branch,
                    "title": session.title,
                    "parent": session.parent,
                    "relation": session.relation,
                    "starter": session.starter,
                    "rewinds": steps.rewinds,
                    "other_records": steps.others,
                    "problems": [str(problem) for problem in session.problems],
                }
            ),
            NOTES_KEY: {"version": NOTES_VERSION, "session": heading_note(session), "events": steps.notes},
        },
    }


class _Steps:
    """Builds the steps: one for each message of a person or program, one for each response with its results."""

    def __init__(self, session: Session, name_of: Callable[[str], str]) -> None:
        self._name_of = name_of
        self._remaining = {id(event) for event in surviving_events(session)}
        self.steps: list[dict[str, Any]] = []
        self.rewinds: list[dict[str, Any]] = []
        self.others: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._responses: dict[str, dict[str, Any]] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        self._usages: dict[str, Usage] = {}
        self._spawned: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}

    def add(self, event: Event) -> None:
        self.notes.append(event_note(event, self._add_event(event)))

    def _add_event(self, event: Event) -> list[Any] | None:
        """Put an event into the steps; returns the place of its bulk."""
        if isinstance(event, UserMessage):
            extra = {"origin": event.origin if event.origin != "human" else "", "images": event.images}
            return self._message_place(self._add_step(event, "user", event.text, extra), event.text)
        if isinstance(event, AssistantMessage):
            return self._add_assistant(event)
        if isinstance(event, Reasoning):
            return self._add_piece(self._step_of_response(event, event.response), "reasoning_content", event.text)
        if isinstance(event, ToolCall):
            return self._add_call(event)
        if isinstance(event, ToolResult):
            return self._add_result(event)
        if isinstance(event, Compaction):
            compaction = _without_empty({"trigger": event.trigger, "tokens_before": event.tokens_before})
            return self._message_place(
                self._add_step(event, "system", event.summary, {"compaction": compaction or True}), event.summary
            )
        if isinstance(event, Spawn):
            self._add_spawn(event)
        elif isinstance(event, Rewind):
            self.rewinds.append({"before_step": len(self.steps) + 1})
        elif isinstance(event, Other):
            self.others.append(
                {"after_step": len(self.steps), "line": event.line, "name": event.name, "raw": event.raw}
            )
            return ["other_records", len(self.others) - 1]
        return None

    def finish(self) -> list[dict[str, Any]]:
        for response, usage_of_response in self._usages.items():
            self._responses[response]["metrics"] = _metrics(usage_of_response)
        for (step_id, name), pieces in self._pieces.items():
            if len(pieces) > 1:
                self.steps[step_id - 1].setdefault("extra", {})[PIECES[name]] = pieces
        for call, spawned in self._spawned.items():
            for step, reference in spawned:
                call_reference = {"source_call_id": call} if call in self._calls else {}
                result = {**call_reference, "content": "", "subagent_trajectory_ref": [reference]}
                step.setdefault("observation", {"results": []})["results"].append(result)
        return self.steps

    def _add_step(self, event: Event, source: str, message: str, extra: dict[str, Any]) -> dict[str, Any]:
        step: dict[str, Any] = {"step_id": len(self.steps) + 1}
        if (at := _timestamp(event.at)) is not None:
            step["timestamp"] = at
        step |= {"source": source, "message": message}
        if known := _without_empty({**extra, "taken_back": id(event) not in self._remaining}):
            step["extra"] = known
        self.steps.append(step)
        return step

    def _message_place(self, step: dict[str, Any], text: str) -> list[Any] | None:
        return ["message", step["step_id"] - 1] if text else None

    def _add_piece(self, step: dict[str, Any], name: str, text: str) -> list[Any] | None:
        """Add a text to a response; the format joins them, so several are also kept one by one."""
        step[name] = _join(step.get(name, ""), text)
        if not text:
            if not step[name] and name != "message":
                del step[name]
            return None
        pieces = self._pieces.setdefault((step["step_id"], name), [])
        pieces.append(text)
        return [name, step["step_id"] - 1, len(pieces) - 1]

    def _step_of_response(self, event: Event, response: str) -> dict[str, Any]:
        """The step of a response, which may continue after the results of its first calls."""
        name = response or f"line {event.line}"
        if name not in self._responses:
            self._responses[name] = self._add_step(event, "agent", "", {})
        return self._responses[name]

    def _add_assistant(self, event: AssistantMessage) -> list[Any] | None:
        step = self._step_of_response(event, event.response)
        place = self._add_piece(step, "message", event.text)
        if event.model:
            step["model_name"] = event.model
        if event.usage is not None:
            self._usages[event.response or f"line {event.line}"] = event.usage
        return place

    def _add_call(self, event: ToolCall) -> list[Any] | None:
        step = self._step_of_response(event, event.response)
        name = event.call_id or f"line-{event.line}-{len(step.get('tool_calls', ()))}"
        call = {
            "tool_call_id": name,
            "function_name": event.tool or "unknown",
            "arguments": event.input,
            "extra": {"kind": event.kind},
        }
        step.setdefault("tool_calls", []).append(call)
        self._calls.setdefault(name, step)
        return ["tool_calls", step["step_id"] - 1, len(step["tool_calls"]) - 1]

    def _add_result(self, event: ToolResult) -> list[Any]:
        result: dict[str, Any] = {"content": event.text}
        step = self._calls.get(event.call_id)
        if step is None:
            # The format allows a result without its call only in a response, and without the call's id.
            step = self._last_response() or self._step_of_response(event, "")
        else:
            result = {"source_call_id": event.call_id, **result}
        facts = {
            "is_error": event.is_error,
            "exit_code": event.exit_code,
            "seconds": event.seconds,
            "ended_at": _timestamp(event.at),
            "detail": event.detail or None,
        }
        if spawned := self._spawned.pop(event.call_id, None):
            result["subagent_trajectory_ref"] = [reference for _, reference in spawned]
        if known := {name: value for name, value in facts.items() if value is not None}:
            result["extra"] = known
        results = step.setdefault("observation", {"results": []})["results"]
        results.append(result)
        return ["results", step["step_id"] - 1, len(results) - 1]

    def _add_spawn(self, event: Spawn) -> None:
        """Refer to a subagent from its call's result; some agents record the start before that result, some after it."""
        reference = {"trajectory_path": self._name_of(event.session), "session_id": event.session}
        step = self._calls.get(event.call_id) or self._last_response() or self._step_of_response(event, "")
        for result in step.get("observation", {"results": []})["results"]:
            if event.call_id and result.get("source_call_id") == event.call_id:
                result.setdefault("subagent_trajectory_ref", []).append(reference)
                return
        self._spawned.setdefault(event.call_id, []).append((step, reference))

    def _last_response(self) -> dict[str, Any] | None:
        return next((step for step in reversed(self.steps) if step["source"] == "agent"), None)


def _metrics(used: Usage) -> dict[str, Any]:
    """Tokens as the format counts them: the prompt includes cached tokens."""
    metrics: dict[str, Any] = {
        "prompt_tokens": used.input + used.cache_read + used.cache_write,
        "completion_tokens": used.output,
        "cached_tokens": used.cache_read,
    }
    if extra := _without_empty(
        {
            "cache_write_tokens": used.cache_write,
            "reasoning_tokens": used.reasoning,
            "cache_write_hour_tokens": used.cache_write_hour,
        }
    ):
        metrics["extra"] = extra
    return metrics


def _final_metrics(session: Session, steps: int) -> dict[str, Any]:
    metrics = _metrics(sum_usage(session))
    final: dict[str, Any] = {
        "total_prompt_tokens": metrics["prompt_tokens"],
        "total_completion_tokens": metrics["completion_tokens"],
        "total_cached_tokens": metrics["cached_tokens"],
        "total_steps": steps,
    }
    if session.reported is not None:
        final["extra"] = {"reported_by_agent": _metrics(session.reported)}
    return final


def _timestamp(at: float | None) -> str | None:
    if at is None:
        return None
    try:
        return (_EPOCH + timedelta(seconds=at)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return None


def _join(before: str, text: str) -> str:
    return f"{before}\n\n{text}" if before and text else before or text


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "", 0, [], {}, False)}
