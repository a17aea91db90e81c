"""Reads Codex rollouts: recognises them, and folds their records into a session, in both history modes and for old versions.

A rollout holds nearly everything twice: what went to and from the model (`response_item`) and what the program showed of it
(`event_msg`). The conversation is read from the first; the second adds exit codes, failures and token counts, and counts only
where its response item is missing. Knows nothing of where the lines come from.
"""

import os
import re
from typing import Any, Literal, TypeAlias

import msgspec

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.codex.code_mode import SCRIPT_TOOL, WAIT_TOOL, Answer, Cells, MadeCall
from preheat.agents.codex.records import (
    Item,
    Line,
    Lineage,
    Payload,
    TokenTally,
    fill_heading,
    message_text,
    split_user_text,
    whole_number,
)
from preheat.agents.codex.tools import (
    SPAWN_TOOL,
    CallOutput,
    RecordedResult,
    full_name,
    kind_of,
    parse_output,
    result_of_event,
    result_of_item,
)
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, epoch_seconds, origin_of
from preheat.agents.reader import Framing
from preheat.model.session import (
    CONTEXT_WINDOW,
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

# The state of the rollout parser, kept between two feeds.
Speaker: TypeAlias = Literal["user", "assistant"]


class ShownMessage(msgspec.Struct):
    """A message that the program showed and that no response item has repeated yet."""

    text: str
    line: int
    at: float | None


class MessagePairs(msgspec.Struct):
    """Unpaired messages of one speaker: each is stored as a response item and as an event, in either order."""

    items: int = 0
    """Response items that no event has repeated yet."""
    shown: list[ShownMessage] = msgspec.field(default_factory=list)


class OpenCall(msgspec.Struct):
    """A call without an output so far."""

    tool: str
    ending: RecordedResult | None = None


class CodexState(ParserState):
    lineage: Lineage = msgspec.field(default_factory=Lineage)
    tally: TokenTally = msgspec.field(default_factory=TokenTally)
    twins: dict[Speaker, MessagePairs] = msgspec.field(
        default_factory=lambda: {"user": MessagePairs(), "assistant": MessagePairs()}
    )
    calls: dict[str, OpenCall] = msgspec.field(default_factory=dict)
    ended: set[str] = msgspec.field(default_factory=set)
    """Calls that have their result."""
    running: set[str] = msgspec.field(default_factory=set)
    """Calls whose result says that they still run."""
    cells: Cells = msgspec.field(default_factory=Cells)
    spawned: set[str] = msgspec.field(default_factory=set)
    responses: int = 0
    responding: bool = False
    turn_line: int | None = None
    """The line of the newest turn's start, until its prompt is read."""
    prompts: list[int] = msgspec.field(default_factory=list)
    """The line at which each prompt's turn began, to know what a roll-back removes."""
    model: str = ""
    window: int = 0


# The records of a rollout, in both history modes and of old versions.
ENVELOPES = (
    "session_meta", "turn_context", "world_state", "response_item", "event_msg", "compacted",
    "token_usage_record", "inter_agent_communication", "inter_agent_communication_metadata",
    "security_risk_score",
)  # fmt: skip
_IGNORED_ENVELOPES = ("world_state", "inter_agent_communication_metadata")
_IGNORED_EVENTS = (
    # Copies of what the response items say.
    "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break", "web_search_end",
    "context_compacted", "image_generation_end", "view_image_tool_call",
    # Frames and settings.
    "thread_settings_applied", "task_complete", "turn_complete", "collab_agent_interaction_end",
    "collab_waiting_end", "collab_close_end", "collab_resume_end",
)  # fmt: skip
_IGNORED_ITEMS = (
    "Reasoning", "WebSearch", "ImageView", "ImageGeneration", "ContextCompaction", "HookPrompt", "Plan",
)  # fmt: skip
_ENDINGS = ("exec_command_end", "patch_apply_end", "mcp_tool_call_end")
_ENDING_ITEMS = ("CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "CollabAgentToolCall")


class CodexParser(LinesParser[CodexState, Line]):
    """Folds one rollout file into its session."""

    agent = "codex"
    record_type = Line
    state_type = CodexState

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._stem = os.path.basename(path.replace("\\", "/")).partition(".jsonl")[0]

    def record(self, record: Line, line: int) -> None:
        envelope, payload = record.type, record.payload
        if payload is None:
            envelope, payload = self._unwrap_bare(record)
        at = epoch_seconds(record.timestamp)
        if envelope == "session_meta":
            self._take_session_meta(payload, at)
            return
        if self.state.lineage.is_copy(record, payload, at):
            self._inherit_tokens(envelope, payload)
            return
        self.draft().heading.include_time(at)
        if envelope == "response_item":
            self._take_response_item(payload, line, at)
        elif envelope == "event_msg":
            self._take_event(payload, line, at)
        elif envelope == "turn_context":
            self._take_turn_context(payload)
        elif envelope == "token_usage_record":
            used = self.state.tally.take_record(payload.thread_token_usage or payload.usage, payload.usage)
            self._add_usage(used, line, at)
        elif envelope == "compacted":
            context = self.state.tally.context
            self._add(Compaction(line=line, at=at, summary=string(payload.message), tokens_before=context))
        elif envelope not in _IGNORED_ENVELOPES:
            self.keep_record(envelope or string(record.record_type) or "unknown", line, at)

    def _unwrap_bare(self, record: Line) -> tuple[str, Payload]:
        # The first versions wrote no envelope: a first record without a type, then the items themselves.
        if record.type:
            return ("" if record.type in ENVELOPES else "response_item"), record
        is_first = not self.state.lineage.known and isinstance(record.id, str)
        return ("session_meta" if is_first else ""), record

    def _take_session_meta(self, payload: Payload, at: float | None) -> None:
        heading = self.draft().heading
        if self.state.lineage.known:
            self.state.lineage.take_further_meta(payload, heading.id.partition("_")[0])
            return
        self.state.lineage.begin(payload, at)
        fill_heading(heading, payload, self._stem)
        heading.include_time(at)

    def _take_turn_context(self, payload: Payload) -> None:
        heading = self.draft().heading
        self.state.model = heading.model = string(payload.model) or self.state.model
        heading.project = heading.project or string(payload.cwd)

    # What went to and from the model.
    def _take_response_item(self, payload: Payload, line: int, at: float | None) -> None:
        kind = payload.type
        if kind == "message":
            self._take_message(payload, line, at)
        elif kind == "reasoning":
            reasoning = message_text(payload.summary) or message_text(payload.content)
            self._add(Reasoning(line=line, at=at, text=reasoning, response=self._current_response()))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call"):
            self._add_call(payload, line, at)
        elif kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            self._add_output(payload, line, at)
        elif kind in ("web_search_call", "image_generation_call"):
            self._add_hosted_call(payload, line, at)
        elif kind == "agent_message":
            content = message_text(payload.content)
            self._add(UserMessage(line=line, at=at, text=content, origin=origin_of(content, injected=True)))
        else:
            self.keep_record(kind or "unknown", line, at)

    def _take_message(self, payload: Payload, line: int, at: float | None) -> None:
        if payload.role == "assistant":
            self._match_response_item("assistant")
            content = message_text(payload.content)
            response, model = self._current_response(), self.state.model
            self._add(AssistantMessage(line=line, at=at, text=content, response=response, model=model))
            return
        self.state.responding = False
        if payload.role != "user":  # developer, system
            content = message_text(payload.content)
            self._add(UserMessage(line=line, at=at, text=content, origin=origin_of(content, injected=True)))
            return
        message = split_user_text(payload)
        if message.program:
            origin = origin_of(message.program, injected=True)
            self._add(UserMessage(line=line, at=at, text=message.program, origin=origin))
        if message.human or message.images:
            self._match_response_item("user")
            self._add_prompt(message.human, message.images, line, at)

    def _add_prompt(self, prompt: str, images: int, line: int, at: float | None) -> None:
        state = self.state
        state.prompts.append(line if state.turn_line is None else state.turn_line)
        state.turn_line = None
        # A sub-agent's prompt is its parent's words, not a person's.
        origin = origin_of(prompt, injected=state.lineage.subagent)
        self._add(UserMessage(line=line, at=at, text=prompt, origin=origin, images=images))

    def _add_call(self, payload: Payload, line: int, at: float | None) -> None:
        call_id = string(payload.call_id) or string(payload.id) or f"line {line}"
        if call_id in self.state.calls or call_id in self.state.ended:
            self.add_problem(f"a second call with the id `{call_id}`; passed over", line)
            return
        tool = full_name(string(payload.name), string(payload.namespace))
        call_input: dict[str, Any]
        if payload.type == "local_shell_call":
            tool, call_input = "local_shell", mapping(payload.action)
        elif payload.type == "custom_tool_call":
            call_input = {"text": string(payload.input)}
        else:
            tool = tool or string(payload.type).removesuffix("_call")
            call_input = arguments_of(payload.arguments)
        self.state.calls[call_id] = OpenCall(tool)
        kind = kind_of(string(payload.name) or tool)
        if tool == SCRIPT_TOOL and payload.type == "custom_tool_call":
            for made in self.state.cells.begin(call_id, call_input["text"], at):
                self._add_made_call(made, line, at)
            return
        if tool == WAIT_TOOL and self.state.cells.look(call_id, call_input):
            kind = "shell"
        response = self._current_response()
        self._add(
            ToolCall(line=line, at=at, call_id=call_id, tool=tool, kind=kind, input=call_input, response=response)
        )

    def _add_made_call(self, made: MadeCall, line: int, at: float | None) -> None:
        self._add(
            ToolCall(
                line=line,
                at=at,
                call_id=made.call_id,
                tool=made.tool,
                kind=made.kind,
                input=made.input,
                response=self._current_response(),
                script=SCRIPT_TOOL if made.tool != SCRIPT_TOOL else "",
            )
        )

    def _add_output(self, payload: Payload, line: int, at: float | None) -> None:
        call_id = string(payload.call_id)
        if not call_id or call_id in self.state.ended:
            self.keep_record("second_output" if call_id else "output_without_call", line, at)
            return
        cells = self.state.cells
        in_script = call_id in cells.open
        if in_script and payload.name == SCRIPT_TOOL:  # what a script says while it runs
            self.keep_record("notification", line, at)
            return
        self.state.responding = False
        call = self.state.calls.pop(call_id, None)
        self.state.ended.add(call_id)
        if in_script or call_id in cells.looks:
            first = cells.open[call_id].calls[0].call_id if in_script else call_id
            answers, late = cells.finish(call_id, payload.output, at)
            for each in answers or [Answer(first, parse_output(payload.output))]:
                self._add_result(each.call_id, each.output, each.ending, line, at)
            for ending in late:
                raw = {"call_id": ending.call_id, "exit_code": ending.exit_code, "told_by": ending.told_by}
                self._add(Other(line=line, at=at, name=LATE_ENDING, raw=raw))
            return
        answer = parse_output(payload.output if payload.output is not None else payload.tools and "")
        self._add_result(call_id, answer, call.ending if call else None, line, at)
        if call is not None and call.tool == SPAWN_TOOL:
            self._add_spawn(_agent_id_in(answer.text), call_id, line, at)

    def _add_result(
        self, call_id: str, answer: CallOutput, ending: RecordedResult | None, line: int, at: float | None
    ) -> None:
        ending = ending or RecordedResult()
        detail: dict[str, Any] = {}
        if ending.status:
            detail["status"] = ending.status
        if answer.running:
            detail["running"] = answer.running
            self.state.running.add(call_id)
        if answer.images:
            detail["images"] = answer.images
        self._add(
            ToolResult(
                line=line,
                at=at,
                call_id=call_id,
                text=answer.text,
                is_error=answer.is_error if ending.is_error is None else ending.is_error,
                exit_code=answer.exit_code if ending.exit_code is None else ending.exit_code,
                seconds=answer.seconds if ending.seconds is None else ending.seconds,
                detail=detail,
                frame=(answer.header, ""),
            )
        )

    def _add_hosted_call(self, payload: Payload, line: int, at: float | None) -> None:
        # It ran at the provider: the record of the call is also the only record of its result.
        call_id = string(payload.id) or string(payload.call_id) or f"line {line}"
        if call_id in self.state.ended:
            return
        self.state.ended.add(call_id)
        tool = string(payload.type).removesuffix("_call")
        self._add(
            ToolCall(
                line=line,
                at=at,
                call_id=call_id,
                tool=tool,
                kind=kind_of(tool),
                input=mapping(payload.action),
                response=self._current_response(),
            )
        )
        status = string(payload.status)
        is_error = {"completed": False, "failed": True}.get(status)
        detail = {"status": status} if status else {}
        self._add(ToolResult(line=line, at=at, call_id=call_id, text="", is_error=is_error, detail=detail))

    # What the program reports of it.
    def _take_event(self, payload: Payload, line: int, at: float | None) -> None:
        kind = payload.type
        if kind == "token_count":
            info = mapping(payload.info)
            used = self.state.tally.take_total(info.get("total_token_usage"), info.get("last_token_usage"))
            self._add_usage(used, line, at)
            self._note_window(whole_number(info.get("model_context_window")), line, at)
        elif kind == "item_completed" and payload.item is not None:
            self._take_item(payload.item, line, at)
        elif kind in _ENDINGS:
            self._take_ending(string(payload.call_id), result_of_event(payload), kind, payload.command, line, at)
        elif kind in ("user_message", "agent_message"):
            self._take_shown("user" if kind == "user_message" else "assistant", string(payload.message), line, at)
        elif kind in ("task_started", "turn_started"):
            self._flush_shown()
            self.state.turn_line = line
        elif kind == "thread_rolled_back":
            self._roll_back(whole_number(payload.num_turns) or 0, line, at)
        elif kind == "thread_name_updated":
            self.draft().heading.title = string(payload.thread_name) or self.draft().heading.title
        elif kind == "collab_agent_spawn_end":
            self._add_spawn(string(payload.new_thread_id), string(payload.call_id), line, at)
        elif kind == "sub_agent_activity":
            self._add_spawn(string(payload.agent_thread_id), self._known_call(payload.call_id or payload.id), line, at)
        elif kind not in _IGNORED_EVENTS:
            self.keep_record(kind or "event", line, at)
        if kind in ("task_complete", "turn_complete", "turn_aborted"):
            self._flush_shown()
            self.state.responding = False

    def _take_item(self, item: Item, line: int, at: float | None) -> None:
        if item.type in ("UserMessage", "AgentMessage"):
            speaker: Speaker = "user" if item.type == "UserMessage" else "assistant"
            self._take_shown(speaker, message_text(item.content), line, at)
        elif item.type == "SubAgentActivity":
            self._add_spawn(string(item.agent_thread_id), self._known_call(item.id), line, at)
        elif item.type in _ENDING_ITEMS:
            for session in sequence(item.receiver_thread_ids) if _is_spawn(string(item.tool)) else ():
                self._add_spawn(string(session), string(item.id), line, at)
            self._take_ending(string(item.id), result_of_item(item), item.type, item.command, line, at)
        elif item.type not in _IGNORED_ITEMS:
            self.keep_record(item.type or "item", line, at)

    def _take_ending(
        self, call_id: str, ending: RecordedResult, name: str, command: object, line: int, at: float | None
    ) -> None:
        call = self.state.calls.get(call_id)
        if call is not None:
            call.ending = ending
        elif self.state.cells.take_ending(call_id, name, command, ending):
            return
        elif call_id in self.state.running:
            # The model had already got the result that the command still runs; that result is kept.
            raw = {"call_id": call_id, "exit_code": ending.exit_code, "status": ending.status}
            self._add(Other(line=line, at=at, name=LATE_ENDING, raw=raw))
        elif call_id not in self.state.ended:
            # A command the person ran, or one inside another call: not a call of the model.
            self.keep_record(name, line, at)

    def _take_shown(self, speaker: Speaker, content: str, line: int, at: float | None) -> None:
        twins = self.state.twins[speaker]
        if twins.items:
            twins.items -= 1
        elif content:
            twins.shown.append(ShownMessage(content, line, at))

    def _match_response_item(self, speaker: Speaker) -> None:
        """A response item came: drop the shown message that repeats it, or expect one."""
        twins = self.state.twins[speaker]
        if twins.shown:
            twins.shown.pop(0)
        else:
            twins.items += 1

    def _flush_shown(self) -> None:
        """At the end of a turn, shown messages that no response item repeats become events."""
        for speaker, twins in self.state.twins.items():
            for shown in twins.shown:
                if speaker == "user":
                    self._add_prompt(shown.text, 0, shown.line, shown.at)
                else:
                    response, model = self._current_response(), self.state.model
                    self._add(
                        AssistantMessage(line=shown.line, at=shown.at, text=shown.text, response=response, model=model)
                    )
            twins.shown.clear()
            twins.items = 0

    def _roll_back(self, turns: int, line: int, at: float | None) -> None:
        prompts = self.state.prompts
        if turns <= 0 or not prompts:
            self.keep_record("thread_rolled_back", line, at)
            return
        start = prompts[max(0, len(prompts) - turns)]
        del prompts[max(0, len(prompts) - turns) :]
        self._add(Rewind(line=line, at=at, after=start - 1))

    def _add_spawn(self, session: str, call_id: str, line: int, at: float | None) -> None:
        if session and session not in self.state.spawned:
            self.state.spawned.add(session)
            self._add(Spawn(line=line, at=at, session=session, call_id=call_id))

    def _known_call(self, name: object) -> str:
        """The id if it is a known call's, else empty."""
        return name if isinstance(name, str) and (name in self.state.calls or name in self.state.ended) else ""

    # Responses and their tokens.
    def _current_response(self) -> str:
        """The response a record belongs to: rollouts do not name it, but token counts and outputs end it."""
        if not self.state.responding:
            self.state.responding = True
            self.state.responses += 1
        return f"response {self.state.responses}"

    def _add_usage(self, used: Usage | None, line: int, at: float | None) -> None:
        if used is None:
            return
        response, model = self._current_response(), self.state.model
        self._add(AssistantMessage(line=line, at=at, text="", response=response, model=model, usage=used))
        self.state.responding = False
        self.draft().heading.reported = self.state.tally.own_total()

    def _note_window(self, size: int | None, line: int, at: float | None) -> None:
        """Every token count repeats the size of the model's context window; an event is added only when it changes."""
        if size and size != self.state.window:
            self.state.window = size
            self._add(Other(line=line, at=at, name=CONTEXT_WINDOW, raw=size))

    def _inherit_tokens(self, envelope: str, payload: Payload) -> None:
        if envelope == "token_usage_record":
            self.state.tally.inherit(payload.thread_token_usage)
        elif payload.type == "token_count":
            self.state.tally.inherit(mapping(payload.info).get("total_token_usage"))

    def _add(self, event: Event) -> None:
        self.draft().events.append(event)


def _is_spawn(tool: str) -> bool:
    # Written `SpawnAgent`, `spawnAgent` or `spawn_agent`, depending on the version.
    return tool.replace("_", "").lower() == "spawnagent"


def _agent_id_in(output: str) -> str:
    try:
        return string(mapping(decode_json(output.encode("utf-8", "replace"))).get("agent_id"))
    except (ValueError, RecursionError):
        return ""


_SESSION_META = re.compile(rb'\A\s*\{\s*"timestamp"[^{]{0,200}"type"\s*:\s*"session_meta"\s*,\s*"payload"\s*:')
"""The beginning of a first record, which can be longer than the bytes given to `detect`."""


class CodexReader:
    """Reads rollout files."""

    agent = "codex"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        if _SESSION_META.match(head):
            return True
        for place, line in enumerate(head.split(b"\n", 5)[:5]):
            try:
                record = mapping(decode_json(line))
            except (ValueError, RecursionError):
                continue
            if record.get("type") in ENVELOPES and isinstance(record.get("payload"), dict):
                return True
            if place == 0 and "type" not in record and {"id", "timestamp", "instructions"} <= record.keys():
                return True
        return False

    def parser(self, path: str, part: str = "") -> CodexParser:
        return CodexParser(path)


READER = CodexReader()
