"""Reads what `codex exec --json` printed: threads, turns and items, one event a line.

An item is announced (`item.started`), may change, and ends (`item.completed`); quick ones only end. Ids of items start again
with every run of the program. The prompt, the times and the model are not in it. Knows nothing of the rollout that the same
run left.
"""

from typing import Any, NamedTuple

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, count, mapping, sequence, string, text_of
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, whole_lines
from preheat.agents.reader import Framing, Parser
from preheat.model.outcome import Dialect
from preheat.model.session import AssistantMessage, Event, Reasoning, Spawn, ToolCall, ToolKind, ToolResult, Usage

# How `codex exec --json` words what becomes of a call.
DIALECT = Dialect(fields={"status": {"declined": "denied", "in_progress": "running"}})


# The items that are calls
CALL_KINDS: dict[object, ToolKind] = {
    "command_execution": "shell",
    "file_change": "edit",
    "mcp_tool_call": "other",
    "collab_tool_call": "delegate",
    "web_search": "web",
    "todo_list": "plan",
}
"""The types of items that are calls, with their kinds."""
_LARGEST_CODE = 2**31


class RecordedResult(NamedTuple):
    """The result of a call, as recorded by the program."""

    text: str = ""
    is_error: bool | None = None
    exit_code: int | None = None


def call_of(item: dict[str, Any]) -> RequestedCall:
    """The call of an item: tool and arguments."""
    kind = str(item["type"])
    if kind == "command_execution":
        return RequestedCall("", kind, {"command": string(item.get("command"))})
    if kind == "mcp_tool_call":
        tool = f"mcp__{string(item.get('server'))}__{string(item.get('tool'))}"
        return RequestedCall("", tool, arguments_of(item.get("arguments")))
    if kind == "collab_tool_call":
        tool_input = {name: item[name] for name in ("prompt", "receiver_thread_ids") if item.get(name)}
        return RequestedCall("", string(item.get("tool")) or kind, tool_input)
    names = {"file_change": ("changes",), "web_search": ("query", "action"), "todo_list": ("items",)}[kind]
    return RequestedCall("", kind, {name: item[name] for name in names if item.get(name)})


def result_of(item: dict[str, Any]) -> RecordedResult:
    """The result of a completed item."""
    flag = {"completed": False, "failed": True, "declined": True}.get(string(item.get("status")))
    kind = item["type"]
    if kind == "command_execution":
        code = item.get("exit_code")
        code = code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < _LARGEST_CODE else None
        # With an exit code, the status only says whether the code is 0.
        refused = item.get("status") == "declined"
        return RecordedResult(string(item.get("aggregated_output")), flag if code is None or refused else None, code)
    if kind == "mcp_tool_call":
        result, error = mapping(item.get("result")), mapping(item.get("error"))
        says_so = result.get("is_error") is True or result.get("isError") is True
        return RecordedResult(text_of(result.get("content")) or string(error.get("message")), says_so or flag)
    return RecordedResult("", flag)


# The printed events.
TOTAL_RESPONSE = "thread total"
"""The response that carries the usage: each turn ends with a new total for the whole thread."""
_MAX_LINES = 5


class Record(msgspec.Struct):
    """One printed event."""

    type: str = ""
    thread_id: Any = None
    usage: Any = None
    item: Any = None


class ExecState(ParserState):
    thread: str = ""
    """The key of the current thread: empty for the first in the file, else its id."""
    matcher: CallMatcher = msgspec.field(default_factory=CallMatcher, name="joiner")  # the name in stored states
    ended: set[str] = msgspec.field(default_factory=set)
    """The items of this run that have ended."""


class ExecParser(LinesParser[ExecState, Record]):
    """Folds one file: usually one run, sometimes several one after the other."""

    agent = "codex_exec"
    record_type = Record
    state_type = ExecState

    def record(self, record: Record, line: int) -> None:
        item = mapping(record.item)
        if record.type == "thread.started" and string(record.thread_id):
            self._begin_thread(string(record.thread_id))
        elif record.type == "turn.completed":
            self._add_totals(record, line)
        elif record.type in ("item.started", "item.completed") and item.get("type") in CALL_KINDS:
            self._add_call(item, record.type == "item.completed", line)
        elif record.type == "item.completed" and item.get("type") == "agent_message":
            self._add(AssistantMessage(line=line, text=string(item.get("text")), response=f"line {line}"))
        elif record.type == "item.completed" and item.get("type") == "reasoning":
            self._add(Reasoning(line=line, text=string(item.get("text")), response=f"line {line}"))
        elif record.type != "turn.started":  # holds nothing else
            name = f"{record.type}/{item['type']}" if string(item.get("type")) else record.type
            self.keep_record(name or "record", line, key=self.state.thread)

    def _add(self, event: Event) -> None:
        self.draft(self.state.thread).events.append(event)

    def _begin_thread(self, thread: str) -> None:
        main = self.draft().heading
        self.state.thread = "" if main.id in ("", thread) else thread
        heading = self.draft(self.state.thread).heading
        heading.id, heading.starter = thread, "headless"
        self.state.matcher.drop_open_calls()
        self.state.ended.clear()

    def _add_totals(self, record: Record, line: int) -> None:
        total = _usage(record.usage)
        if total is None:
            self.keep_record(record.type, line, key=self.state.thread)
            return
        self.draft(self.state.thread).heading.reported = total
        self._add(AssistantMessage(line=line, text="", response=TOTAL_RESPONSE, usage=total))

    # Calls and their results.
    def _add_call(self, item: dict[str, Any], is_over: bool, line: int) -> None:
        name = string(item.get("id")) or f"line {line}"
        if name in self.state.ended:
            self.keep_record(f"second {item['type']}", line, key=self.state.thread)
            return
        call_id = self.state.matcher.close_call(name) if is_over else ""
        if not call_id:
            requested = call_of(item)
            if not is_over and not requested.input and item["type"] == "web_search":
                return  # announced before the query is known
            call_id = self.state.matcher.open_call(RequestedCall(name, requested.tool, requested.input), f"line {line}")
            self._add(
                ToolCall(
                    line=line,
                    call_id=call_id,
                    tool=requested.tool,
                    kind=CALL_KINDS[item["type"]],
                    input=requested.input,
                )
            )
            if is_over:
                self.state.matcher.close_call(name)
        if is_over:
            self.state.ended.add(name)
            self._add_result(item, call_id, line)

    def _add_result(self, item: dict[str, Any], call_id: str, line: int) -> None:
        ending = result_of(item)
        status = string(item.get("status"))
        self._add(
            ToolResult(
                line=line,
                call_id=call_id,
                text=ending.text,
                is_error=ending.is_error,
                exit_code=ending.exit_code,
                detail={"status": status} if status else {},
            )
        )
        if item["type"] == "collab_tool_call" and item.get("tool") == "spawn_agent":
            for thread in filter(None, map(string, sequence(item.get("receiver_thread_ids")))):
                self._add(Spawn(line=line, session=thread, call_id=call_id))


def _usage(value: object) -> Usage | None:
    stated = mapping(value)
    if "input_tokens" not in stated:
        return None
    read, written = count(stated.get("cached_input_tokens")), count(stated.get("cache_write_input_tokens"))
    return Usage(
        input=max(0, count(stated.get("input_tokens")) - read - written),
        output=count(stated.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=count(stated.get("reasoning_output_tokens")),
    )


class ExecReader:
    """Reads the printed events."""

    agent = "codex_exec"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        # What the program warns of may stand before the first event.
        for line in whole_lines(head)[:_MAX_LINES]:
            if b'"thread.started"' not in line:
                continue
            try:
                record = mapping(decode_json(line))
            except (ValueError, RecursionError):
                continue
            if record.get("type") == "thread.started" and string(record.get("thread_id")):
                return True
        return False

    def parser(self, path: str, part: str = "") -> Parser:
        return ExecParser(path)


READER = ExecReader()
