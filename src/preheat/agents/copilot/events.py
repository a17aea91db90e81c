"""Folds the events of a Copilot CLI session into it and its subagents.

One file holds the main agent and every subagent, told apart by `agentId`. The conversation is read from the messages; the
start and the end of a call add times, exit codes and failures. Knows nothing of where the lines come from.
"""

import os
from collections.abc import Callable
from typing import Any

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.copilot.records import Data, Line
from preheat.agents.copilot.results import ending_of
from preheat.agents.copilot.state import Call, CopilotState
from preheat.agents.copilot.tokens import Tally, totals_of, usage_of, usage_of_event
from preheat.agents.copilot.tools import kind_of
from preheat.agents.parsing import LinesParser, arguments, origin_of, seconds
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Reasoning,
    Rewind,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

QUIET = (
    # Frames, settings, and copies of what other events say.
    "assistant.turn_start", "assistant.turn_retry", "hook.start", "session.compaction_start", "session.usage_checkpoint",
    "session.usage_info", "permission.requested", "subagent.selected", "subagent.deselected", "subagent.configured",
    "subagent.completed", "assistant.idle", "session.idle", "assistant.intent",
)  # fmt: skip
_HEADLESS = "running in non-interactive mode"
_INTERACTIVE = "an interactive CLI"


class CopilotParser(LinesParser[CopilotState, Line]):
    """Folds one file of events."""

    agent = "copilot"
    record_type = Line
    state_type = CopilotState

    def __init__(self, path: str) -> None:
        super().__init__(path)
        folder, _, name = path.replace("\\", "/").rpartition("/")
        self._name = os.path.basename(folder) if name == "events.jsonl" else name.partition(".jsonl")[0]

    def record(self, record: Line, line: int) -> None:
        if record.ephemeral is True and record.type != "assistant.usage":
            return  # pieces of what comes whole later; only a captured stream has them
        data, at = record.data or Data(), seconds(record.timestamp)
        if record.type == "session.start" and isinstance(data.sessionId, str):
            self._start(data)
        heading = self.draft().heading
        heading.id = heading.id or self._name
        key = self._agent_of(record, data)
        self.draft(key).heading.seen(at)
        self.draft().heading.seen(at)
        act = _ACTS.get(record.type)
        if act is not None and record.data is not None:
            act(self, data, key, line, at)
            if record.type == "user.message" and not key and isinstance(record.id, str):
                self.state.prompts[record.id] = line
        elif record.type not in QUIET:
            self.other(record.type or "unknown", line, at, key)

    # Whose events these are.
    def _start(self, data: Data) -> None:
        if self.state.known:
            return
        self.state.known = True
        heading = self.draft().heading
        heading.id = heading.id or string(data.sessionId)
        heading.version = string(data.copilotVersion)
        heading.model = string(data.selectedModel)
        heading.seen(seconds(data.startTime))
        self._where(mapping(data.context))
        if string(data.detachedFromSpawningParentSessionId):
            heading.parent, heading.relation = string(data.detachedFromSpawningParentSessionId), "continuation"
            heading.starter = "background"

    def _where(self, context: dict[str, Any]) -> None:
        heading = self.draft().heading
        heading.project = heading.project or string(context.get("cwd")) or string(context.get("gitRoot"))
        heading.branch = heading.branch or string(context.get("branch"))

    def _agent_of(self, record: Line, data: Data) -> str:
        """The agent an event belongs to; empty for the main one."""
        key = string(record.agentId)
        if not key:
            parent = string(data.parentToolCallId)
            if record.type == "subagent.started":
                parent = string(data.toolCallId)
            elif record.type.startswith("subagent."):
                return ""
            key = self.state.children.get(parent, parent and f"call-{parent}")
        if key and key not in self.state.headings:
            main = self.draft().heading
            child = self.draft(key).heading
            child.id, child.parent, child.relation = f"{main.id}:agent-{key}", main.id, "subagent"
            child.version, child.project, child.branch, child.model = (
                main.version,
                main.project,
                main.branch,
                main.model,
            )
            child.starter = main.starter
        return key

    def _subagent(self, data: Data, key: str, line: int, at: float | None) -> None:
        if not key:
            self.other("subagent.started", line, at)
            return
        call_id = string(data.toolCallId)
        self.state.children[call_id] = key
        heading = self.draft(key).heading
        heading.title = string(data.agentDisplayName) or string(data.agentName)
        heading.model = string(data.model) or heading.model
        parent = self.state.owners.get(call_id, string(data.parentId))
        if parent == key or parent not in self.state.headings:
            parent = ""
        heading.parent = self.draft(parent).heading.id
        self._add(parent, Spawn(line=line, at=at, session=heading.id, call_id=self._own(call_id)))

    def _own(self, call_id: str) -> str:
        call = self.state.open.get(call_id)
        return call.own if call is not None else call_id

    # What was said.
    def _user(self, data: Data, key: str, line: int, at: float | None) -> None:
        text, source = string(data.content), string(data.source)
        injected = bool(key) or source not in ("", "user") or data.isAutopilotContinuation is True
        images = sum(string(mapping(item).get("mimeType")).startswith("image/") for item in sequence(data.attachments))
        self._add(key, UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected), images=images))

    def _notified(self, data: Data, key: str, line: int, at: float | None) -> None:
        text, kind = string(data.content), mapping(data.kind)
        self._add(key, UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected=True)))
        if "exitCode" in kind:  # a command that ran on after its result was written
            self._add(key, Other(line=line, at=at, name="late_ending", raw=data.kind))

    def _system(self, data: Data, key: str, line: int, at: float | None) -> None:
        heading, text = self.draft(key).heading, string(data.content)[:2000]
        if not key and heading.starter == "unknown":
            heading.starter = "headless" if _HEADLESS in text else "human" if _INTERACTIVE in text else "unknown"
        self.other("system", line, at, key)

    def _assistant(self, data: Data, key: str, line: int, at: float | None) -> None:
        response = string(data.apiCallId) or string(data.messageId) or f"line {line}"
        heading, model = self.draft(key).heading, string(data.model)
        heading.model = heading.model or model
        thought = string(data.reasoningText)
        if (thought and thought != self.state.thought) or (
            not thought and (data.reasoningOpaque or data.encryptedContent)
        ):
            self._add(key, Reasoning(line=line, at=at, text=thought, response=response))
        self.state.thought = ""
        used = None
        if not self.state.by_record and isinstance(data.outputTokens, int):
            used = self._tally(key).take(response, Usage(output=count(data.outputTokens)))
            heading.reported = None if used else heading.reported
        text = string(data.content)
        self._add(key, AssistantMessage(line=line, at=at, text=text, response=response, model=model, usage=used))
        for request in sequence(data.toolRequests):
            asked = mapping(request)
            # What the program asks in the model's name has neither a model nor a response.
            by_program = not model and not data.apiCallId
            self._call(
                string(asked.get("toolCallId")),
                string(asked.get("name")),
                asked.get("arguments"),
                response,
                key,
                line,
                at,
            ).by_program = by_program

    def _thought(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.thought = string(data.content)
        self._add(key, Reasoning(line=line, at=at, text=self.state.thought))

    # What was done.
    def _call(
        self, call_id: str, tool: str, given: object, response: str, key: str, line: int, at: float | None
    ) -> Call:
        call_id = call_id or f"line {line}"
        own = call_id if f"{key} {call_id}" not in self.state.seen else f"{call_id} {line}"
        own = own if f"{key} {own}" not in self.state.seen else f"{own}.{len(self.state.seen)}"
        self.state.seen.add(f"{key} {own}")
        call = self.state.open[call_id] = Call(own, key)
        self.state.owners[call_id] = key
        asked = arguments(given)
        kind = kind_of(tool, asked)
        self._add(key, ToolCall(line=line, at=at, call_id=own, tool=tool, kind=kind, input=asked, response=response))
        return call

    def _began(self, data: Data, key: str, line: int, at: float | None) -> None:
        call_id = string(data.toolCallId)
        if call_id in self.state.by_person:
            return
        call = self.state.open.get(call_id)
        if call is None or call.started is not None:
            # Asked for by no message: the events begin in the middle, or an id came twice.
            call = self._call(call_id, string(data.toolName), data.arguments, "", key, line, at)
        call.started = at

    def _ended(self, data: Data, key: str, line: int, at: float | None) -> None:
        call_id = string(data.toolCallId)
        call = self.state.open.pop(call_id, None)
        if call is None:
            self.other("person's_call" if call_id in self.state.by_person else "result_without_call", line, at, key)
            return
        ending = ending_of(data, self.state.hooked)
        detail = dict(ending.detail)
        if call_id in self.state.denied:
            detail["permission"] = self.state.denied.pop(call_id)
        if call.by_program:
            detail["by_program"] = True
        took = None if at is None or call.started is None or at < call.started else round(at - call.started, 3)
        self._add(
            call.key,
            ToolResult(
                line=line,
                at=at,
                call_id=call.own,
                text=ending.text,
                is_error=ending.is_error,
                exit_code=ending.exit_code,
                seconds=took,
                detail=detail,
                frame=("", ending.trailer),
            ),
        )

    def _by_person(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.by_person.add(string(data.toolCallId))
        self.other("tool.user_requested", line, at, key)

    def _permitted(self, data: Data, key: str, line: int, at: float | None) -> None:
        kind = string(mapping(data.result).get("kind"))
        if kind.startswith("denied") and string(data.toolCallId):
            self.state.denied[string(data.toolCallId)] = kind[:100]

    def _hooked(self, data: Data, key: str, line: int, at: float | None) -> None:
        said = string(mapping(data.output).get("additionalContext"))
        if said:
            self.state.hooked = True
            self._add(key, UserMessage(line=line, at=at, text=said, origin=origin_of(said, injected=True)))
        if data.success is False or (data.output is not None and not said):
            self.other("hook.end", line, at, key)

    def _turned(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.hooked = False

    # What it cost.
    def _tally(self, key: str) -> Tally:
        return self.state.tallies.setdefault(key, Tally())

    def _used(self, response: str, used: Usage | None, model: str, key: str, line: int, at: float | None) -> None:
        if used is None:
            return
        self.draft(key).heading.reported = None  # what was reported before is no longer all of it
        used = self._tally(key).take(response, used)
        if used is not None:
            self._add(key, AssistantMessage(line=line, at=at, text="", response=response, model=model, usage=used))

    def _record_of_usage(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.by_record = True
        fields = mapping(data.usage)
        response = string(fields.get("apiCallId")) or f"usage {line}"
        self._used(response, usage_of(fields), string(fields.get("model")), key, line, at)

    def _usage(self, data: Data, key: str, line: int, at: float | None) -> None:
        if not self.state.by_record:
            response = string(data.apiCallId) or f"usage {line}"
            self._used(response, usage_of_event(data), string(data.model), key, line, at)

    def _closed(self, data: Data, key: str, line: int, at: float | None) -> None:
        """The totals. They are stated by agent, or (in older versions) for all of them together."""
        by_agent = mapping(data.agentMetrics)
        if totals_of(mapping(by_agent.get("main")).get("modelMetrics")) is not None:
            for name, metrics in by_agent.items():
                owner = "" if name == "main" else name
                if owner in self.state.headings:
                    self._total(owner, totals_of(mapping(metrics).get("modelMetrics")), Usage(), line, at)
        elif (totals := totals_of(data.modelMetrics)) is not None:
            others = sum((tally.total for owner, tally in self.state.tallies.items() if owner), Usage())
            self._total("", totals, others, line, at)
        self.other("session.shutdown", line, at, key)

    def _total(self, key: str, totals: Usage | None, others: Usage, line: int, at: float | None) -> None:
        if totals is None:
            return
        tally = self._tally(key)
        rest = tally.close(totals, others)
        if rest is None:
            return
        if rest != Usage():
            self._used(f"totals {line}", rest, "", key, line, at)
        self.draft(key).heading.reported = tally.total

    # What was taken away.
    def _compacted(self, data: Data, key: str, line: int, at: float | None) -> None:
        if data.success is False:
            self.other("session.compaction_complete", line, at, key)
            return
        tokens = count(data.preCompactionTokens) or None
        summary, trigger = string(data.summaryContent), string(data.trigger)
        self._add(key, Compaction(line=line, at=at, trigger=trigger, summary=summary, tokens_before=tokens))
        if data.compactionTokensUsed is not None:  # the program's own totals leave these out
            self._add(key, Other(line=line, at=at, name="compaction_usage", raw=data.compactionTokensUsed))

    def _truncated(self, data: Data, key: str, line: int, at: float | None) -> None:
        tokens = count(data.preTruncationTokensInMessages) or None
        self._add(key, Compaction(line=line, at=at, trigger="truncation", tokens_before=tokens))

    def _rewound(self, data: Data, key: str, line: int, at: float | None) -> None:
        first = self.state.prompts.get(string(data.upToEventId), line - count(data.eventsRemoved))
        if 0 < first < line:
            self._add(key, Rewind(line=line, at=at, after=first - 1))
        else:
            self.other("session.snapshot_rewind", line, at, key)

    # What changed.
    def _began_session(self, data: Data, key: str, line: int, at: float | None) -> None:
        self._where(mapping(data.context))

    def _moved(self, data: Data, key: str, line: int, at: float | None) -> None:
        heading = self.draft(key).heading
        heading.branch = heading.branch or string(data.branch)

    def _model(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.draft(key).heading.model = string(data.newModel) or self.draft(key).heading.model

    def _titled(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.draft(key).heading.title = string(data.title) or self.draft(key).heading.title

    def _add(self, key: str, event: Event) -> None:
        self.draft(key).events.append(event)


_Act = Callable[[CopilotParser, Data, str, int, float | None], None]
_ACTS: dict[str, _Act] = {
    "session.start": CopilotParser._began_session,
    "session.resume": CopilotParser._began_session,
    "session.context_changed": CopilotParser._moved,
    "session.model_change": CopilotParser._model,
    "session.title_changed": CopilotParser._titled,
    "session.usage_record": CopilotParser._record_of_usage,
    "session.shutdown": CopilotParser._closed,
    "session.compaction_complete": CopilotParser._compacted,
    "session.truncation": CopilotParser._truncated,
    "session.snapshot_rewind": CopilotParser._rewound,
    "user.message": CopilotParser._user,
    "system.message": CopilotParser._system,
    "system.notification": CopilotParser._notified,
    "assistant.message": CopilotParser._assistant,
    "assistant.reasoning": CopilotParser._thought,
    "assistant.turn_end": CopilotParser._turned,
    "assistant.usage": CopilotParser._usage,
    "tool.execution_start": CopilotParser._began,
    "tool.execution_complete": CopilotParser._ended,
    "tool.user_requested": CopilotParser._by_person,
    "permission.completed": CopilotParser._permitted,
    "hook.end": CopilotParser._hooked,
    "subagent.started": CopilotParser._subagent,
}
