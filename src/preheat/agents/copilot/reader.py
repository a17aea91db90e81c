"""Reads Copilot CLI's sessions: recognises their events, and folds them into the session and its subagents.

One file holds the main agent and every subagent, told apart by `agentId`. The conversation is read from the messages; the start
and the end of a call add times, exit codes and failures. Knows nothing of where the lines come from.
"""

import os
from collections.abc import Callable
from typing import Any

import msgspec

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.copilot.records import Data, Line, TokenTally, totals_of, usage_of, usage_of_event
from preheat.agents.copilot.tools import kind_of, result_of
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, epoch_seconds, origin_of
from preheat.agents.reader import Framing
from preheat.model.session import (
    LATE_ENDING,
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
from preheat.remotes import normalise_remote


# The state of the event parser, kept between two feeds.
class OpenCall(msgspec.Struct):
    """A call without a result so far."""

    own: str
    """Its id in our session: some models count from zero in every response."""
    key: str
    """The agent that made it; empty for the main one."""
    started: float | None = None
    by_program: bool = False
    """The program made it in the model's name, to report on a background command."""


class CopilotState(ParserState):
    known: bool = False
    """The session's first event was read."""
    open: dict[str, OpenCall] = msgspec.field(default_factory=dict)
    seen: set[str] = msgspec.field(default_factory=set)
    """The ids of all calls so far, by agent."""
    owners: dict[str, str] = msgspec.field(default_factory=dict)
    """The agent that made each call: the parent of a subagent that the call starts."""
    by_person: set[str] = msgspec.field(default_factory=set)
    """Calls that the person made."""
    denied: dict[str, str] = msgspec.field(default_factory=dict)
    asked: dict[str, float] = msgspec.field(default_factory=dict)
    """When the person was asked to allow a call."""
    waited: dict[str, float] = msgspec.field(default_factory=dict)
    """Seconds until the person, or a rule, decided on a call."""
    children: dict[str, str] = msgspec.field(default_factory=dict)
    """The agent that a call started; early versions name only the call."""
    tallies: dict[str, TokenTally] = msgspec.field(default_factory=dict)
    by_record: bool = False
    """There are records of single responses, so other token counts are ignored."""
    prompts: dict[str, int] = msgspec.field(default_factory=dict)
    """The line of each message of the person, to know what a rewind removes."""
    thought: str = ""
    """The last reasoning that was an event of its own."""
    hooked: bool = False
    """A hook has added a text since the turn began."""


# The events of a session and of its subagents.
_IGNORED = (
    # Frames, settings, and copies of what other events say.
    "assistant.turn_start", "assistant.turn_retry", "hook.start", "session.compaction_start", "session.usage_checkpoint",
    "session.usage_info", "subagent.selected", "subagent.deselected", "subagent.configured",
    "subagent.completed", "assistant.idle", "session.idle", "assistant.intent",
)  # fmt: skip
_LEAST_WAIT = 1.0
"""Seconds: a rule decides faster than a person."""
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
            return  # pieces of later whole events; only a captured stream has them
        data, at = record.data or Data(), epoch_seconds(record.timestamp)
        if record.type == "session.start" and isinstance(data.sessionId, str):
            self._take_start(data)
        heading = self.draft().heading
        heading.id = heading.id or self._name
        key = self._agent_key(record, data)
        self.draft(key).heading.include_time(at)
        self.draft().heading.include_time(at)
        method = _METHODS.get(record.type)
        if method is not None and record.data is not None:
            method(self, data, key, line, at)
            if record.type == "user.message" and not key and isinstance(record.id, str):
                self.state.prompts[record.id] = line
        elif record.type not in _IGNORED:
            self.keep_record(record.type or "unknown", line, at, key)

    # Which agent an event belongs to.
    def _take_start(self, data: Data) -> None:
        if self.state.known:
            return
        self.state.known = True
        heading = self.draft().heading
        heading.id = heading.id or string(data.sessionId)
        heading.version = string(data.copilotVersion)
        heading.model = string(data.selectedModel)
        heading.include_time(epoch_seconds(data.startTime))
        self._set_project(mapping(data.context))
        if string(data.detachedFromSpawningParentSessionId):
            heading.parent, heading.relation = string(data.detachedFromSpawningParentSessionId), "continuation"
            heading.starter = "background"

    def _set_project(self, context: dict[str, Any]) -> None:
        heading = self.draft().heading
        heading.project = heading.project or string(context.get("cwd")) or string(context.get("gitRoot"))
        heading.branch = heading.branch or string(context.get("branch"))
        heading.repository = heading.repository or _repository(context)
        heading.commit = heading.commit or string(context.get("headCommit"))

    def _agent_key(self, record: Line, data: Data) -> str:
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

    def _take_subagent(self, data: Data, key: str, line: int, at: float | None) -> None:
        if not key:
            self.keep_record("subagent.started", line, at)
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
        self._add(parent, Spawn(line=line, at=at, session=heading.id, call_id=self._session_call_id(call_id)))

    def _session_call_id(self, call_id: str) -> str:
        call = self.state.open.get(call_id)
        return call.own if call is not None else call_id

    # Messages.
    def _take_user_message(self, data: Data, key: str, line: int, at: float | None) -> None:
        text, source = string(data.content), string(data.source)
        injected = bool(key) or source not in ("", "user") or data.isAutopilotContinuation is True
        images = sum(string(mapping(item).get("mimeType")).startswith("image/") for item in sequence(data.attachments))
        self._add(key, UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected), images=images))

    def _take_notification(self, data: Data, key: str, line: int, at: float | None) -> None:
        text, kind = string(data.content), mapping(data.kind)
        self._add(key, UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected=True)))
        if "exitCode" in kind:  # a command that kept running after its result was written
            self._add(key, Other(line=line, at=at, name=LATE_ENDING, raw=data.kind))

    def _take_system_message(self, data: Data, key: str, line: int, at: float | None) -> None:
        heading, text = self.draft(key).heading, string(data.content)[:2000]
        if not key and heading.starter == "unknown":
            heading.starter = "headless" if _HEADLESS in text else "human" if _INTERACTIVE in text else "unknown"
        self.keep_record("system", line, at, key)

    def _take_assistant_message(self, data: Data, key: str, line: int, at: float | None) -> None:
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
            used = self._tally(key).add(response, Usage(output=count(data.outputTokens)))
            heading.reported = None if used else heading.reported
        text = string(data.content)
        self._add(key, AssistantMessage(line=line, at=at, text=text, response=response, model=model, usage=used))
        for each in sequence(data.toolRequests):
            request = mapping(each)
            # A request that the program makes in the model's name has neither a model nor a response.
            by_program = not model and not data.apiCallId
            self._add_call(
                string(request.get("toolCallId")),
                string(request.get("name")),
                request.get("arguments"),
                response,
                key,
                line,
                at,
            ).by_program = by_program

    def _take_reasoning(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.thought = string(data.content)
        self._add(key, Reasoning(line=line, at=at, text=self.state.thought))

    # Calls.
    def _add_call(
        self, call_id: str, tool: str, raw_input: object, response: str, key: str, line: int, at: float | None
    ) -> OpenCall:
        call_id = call_id or f"line {line}"
        own = call_id if f"{key} {call_id}" not in self.state.seen else f"{call_id} {line}"
        own = own if f"{key} {own}" not in self.state.seen else f"{own}.{len(self.state.seen)}"
        self.state.seen.add(f"{key} {own}")
        call = self.state.open[call_id] = OpenCall(own, key)
        self.state.owners[call_id] = key
        call_input = arguments_of(raw_input)
        kind = kind_of(tool, call_input)
        self._add(
            key, ToolCall(line=line, at=at, call_id=own, tool=tool, kind=kind, input=call_input, response=response)
        )
        return call

    def _take_call_start(self, data: Data, key: str, line: int, at: float | None) -> None:
        call_id = string(data.toolCallId)
        if call_id in self.state.by_person:
            return
        call = self.state.open.get(call_id)
        if call is None or call.started is not None:
            # No message requested it: the events begin in the middle, or an id was used twice.
            call = self._add_call(call_id, string(data.toolName), data.arguments, "", key, line, at)
        call.started = at

    def _take_call_end(self, data: Data, key: str, line: int, at: float | None) -> None:
        call_id = string(data.toolCallId)
        call = self.state.open.pop(call_id, None)
        if call is None:
            self.keep_record(
                "person's_call" if call_id in self.state.by_person else "result_without_call", line, at, key
            )
            return
        ending = result_of(data, self.state.hooked)
        detail = dict(ending.detail)
        if call_id in self.state.denied:
            detail["permission"] = self.state.denied.pop(call_id)
        if call.by_program:
            detail["by_program"] = True
        duration = None if at is None or call.started is None or at < call.started else round(at - call.started, 3)
        waited = self.state.waited.pop(call_id, None)
        if waited is not None and waited >= _LEAST_WAIT:
            detail["waited"] = round(waited, 1)
            duration = waited if "permission" in detail else duration
        self._add(
            call.key,
            ToolResult(
                line=line,
                at=at,
                call_id=call.own,
                text=ending.text,
                is_error=ending.is_error,
                exit_code=ending.exit_code,
                seconds=duration,
                detail=detail,
                frame=("", ending.trailer),
            ),
        )

    def _take_person_call(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.by_person.add(string(data.toolCallId))
        self.keep_record("tool.user_requested", line, at, key)

    def _take_permission_request(self, data: Data, key: str, line: int, at: float | None) -> None:
        call_id = string(mapping(data.permissionRequest).get("toolCallId"))
        if call_id and at is not None:
            self.state.asked[call_id] = at

    def _take_permission(self, data: Data, key: str, line: int, at: float | None) -> None:
        asked = self.state.asked.pop(string(data.toolCallId), None)
        if asked is not None and at is not None and at >= asked:
            self.state.waited[string(data.toolCallId)] = at - asked
        kind = string(mapping(data.result).get("kind"))
        if kind.startswith("denied") and string(data.toolCallId):
            self.state.denied[string(data.toolCallId)] = kind[:100]

    def _take_hook_end(self, data: Data, key: str, line: int, at: float | None) -> None:
        context = string(mapping(data.output).get("additionalContext"))
        if context:
            self.state.hooked = True
            self._add(key, UserMessage(line=line, at=at, text=context, origin=origin_of(context, injected=True)))
        if data.success is False or (data.output is not None and not context):
            self.keep_record("hook.end", line, at, key)

    def _take_turn_end(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.hooked = False

    # Tokens.
    def _tally(self, key: str) -> TokenTally:
        return self.state.tallies.setdefault(key, TokenTally())

    def _add_usage(self, response: str, used: Usage | None, model: str, key: str, line: int, at: float | None) -> None:
        if used is None:
            return
        self.draft(key).heading.reported = None  # the totals reported before are out of date
        used = self._tally(key).add(response, used)
        if used is not None:
            self._add(key, AssistantMessage(line=line, at=at, text="", response=response, model=model, usage=used))

    def _take_usage_record(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.state.by_record = True
        fields = mapping(data.usage)
        response = string(fields.get("apiCallId")) or f"usage {line}"
        self._add_usage(response, usage_of(fields), string(fields.get("model")), key, line, at)

    def _take_usage(self, data: Data, key: str, line: int, at: float | None) -> None:
        if not self.state.by_record:
            response = string(data.apiCallId) or f"usage {line}"
            self._add_usage(response, usage_of_event(data), string(data.model), key, line, at)

    def _take_shutdown(self, data: Data, key: str, line: int, at: float | None) -> None:
        """The totals at the end: by agent, or (in older versions) for all agents together."""
        by_agent = mapping(data.agentMetrics)
        if totals_of(mapping(by_agent.get("main")).get("modelMetrics")) is not None:
            for name, metrics in by_agent.items():
                owner = "" if name == "main" else name
                if owner in self.state.headings:
                    self._add_total(owner, totals_of(mapping(metrics).get("modelMetrics")), Usage(), line, at)
        elif (totals := totals_of(data.modelMetrics)) is not None:
            others = sum((tally.total for owner, tally in self.state.tallies.items() if owner), Usage())
            self._add_total("", totals, others, line, at)
        self.keep_record("session.shutdown", line, at, key)

    def _add_total(self, key: str, totals: Usage | None, others: Usage, line: int, at: float | None) -> None:
        if totals is None:
            return
        tally = self._tally(key)
        rest = tally.take_totals(totals, others)
        if rest is None:
            return
        if rest != Usage():
            self._add_usage(f"totals {line}", rest, "", key, line, at)
        self.draft(key).heading.reported = tally.total

    # Compactions and rewinds.
    def _take_compaction(self, data: Data, key: str, line: int, at: float | None) -> None:
        if data.success is False:
            self.keep_record("session.compaction_complete", line, at, key)
            return
        tokens = count(data.preCompactionTokens) or None
        summary, trigger = string(data.summaryContent), string(data.trigger)
        self._add(key, Compaction(line=line, at=at, trigger=trigger, summary=summary, tokens_before=tokens))
        if data.compactionTokensUsed is not None:  # the program's own totals leave these out
            self._add(key, Other(line=line, at=at, name="compaction_usage", raw=data.compactionTokensUsed))

    def _take_truncation(self, data: Data, key: str, line: int, at: float | None) -> None:
        tokens = count(data.preTruncationTokensInMessages) or None
        self._add(key, Compaction(line=line, at=at, trigger="truncation", tokens_before=tokens))

    def _take_rewind(self, data: Data, key: str, line: int, at: float | None) -> None:
        first = self.state.prompts.get(string(data.upToEventId), line - count(data.eventsRemoved))
        if 0 < first < line:
            self._add(key, Rewind(line=line, at=at, after=first - 1))
        else:
            self.keep_record("session.snapshot_rewind", line, at, key)

    # Changes of the session.
    def _take_session_context(self, data: Data, key: str, line: int, at: float | None) -> None:
        self._set_project(mapping(data.context))

    def _take_branch(self, data: Data, key: str, line: int, at: float | None) -> None:
        heading = self.draft(key).heading
        heading.branch = heading.branch or string(data.branch)

    def _take_model(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.draft(key).heading.model = string(data.newModel) or self.draft(key).heading.model

    def _take_title(self, data: Data, key: str, line: int, at: float | None) -> None:
        self.draft(key).heading.title = string(data.title) or self.draft(key).heading.title

    def _add(self, key: str, event: Event) -> None:
        self.draft(key).events.append(event)


_Method = Callable[[CopilotParser, Data, str, int, float | None], None]
_METHODS: dict[str, _Method] = {
    "session.start": CopilotParser._take_session_context,
    "session.resume": CopilotParser._take_session_context,
    "session.context_changed": CopilotParser._take_branch,
    "session.model_change": CopilotParser._take_model,
    "session.title_changed": CopilotParser._take_title,
    "session.usage_record": CopilotParser._take_usage_record,
    "session.shutdown": CopilotParser._take_shutdown,
    "session.compaction_complete": CopilotParser._take_compaction,
    "session.truncation": CopilotParser._take_truncation,
    "session.snapshot_rewind": CopilotParser._take_rewind,
    "user.message": CopilotParser._take_user_message,
    "system.message": CopilotParser._take_system_message,
    "system.notification": CopilotParser._take_notification,
    "assistant.message": CopilotParser._take_assistant_message,
    "assistant.reasoning": CopilotParser._take_reasoning,
    "assistant.turn_end": CopilotParser._take_turn_end,
    "assistant.usage": CopilotParser._take_usage,
    "tool.execution_start": CopilotParser._take_call_start,
    "tool.execution_complete": CopilotParser._take_call_end,
    "tool.user_requested": CopilotParser._take_person_call,
    "permission.requested": CopilotParser._take_permission_request,
    "permission.completed": CopilotParser._take_permission,
    "hook.end": CopilotParser._take_hook_end,
    "subagent.started": CopilotParser._take_subagent,
}


_FIELDS = {"type", "data", "id", "timestamp", "parentId"}
_FAMILIES = ("session.", "user.", "assistant.", "tool.", "hook.", "system.", "subagent.")


class CopilotReader:
    """Reads `events.jsonl`."""

    agent = "copilot"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        for line in head.split(b"\n", 3)[:3]:
            try:
                record = mapping(decode_json(line))
            except (ValueError, RecursionError):
                continue
            kind, data = string(record.get("type")), record.get("data")
            if not isinstance(data, dict) or not kind.startswith(_FAMILIES):
                continue
            if record.keys() >= _FIELDS or (kind == "session.start" and "sessionId" in data):
                return True
        return False

    def parser(self, path: str, part: str = "") -> CopilotParser:
        return CopilotParser(path)


READER = CopilotReader()


def _repository(context: dict[str, Any]) -> str:
    """The remote that a context names: `owner/name` beside its host."""
    name = string(context.get("repository"))
    host = string(context.get("repositoryHost")) or ("github.com" if context.get("hostType") == "github" else "")
    return normalise_remote(f"{host}/{name}") if host and name else ""
