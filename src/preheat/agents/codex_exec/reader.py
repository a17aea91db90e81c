"""Reads what `codex exec --json` printed: threads, turns and items, one event a line.

An item is announced (`item.started`), may change, and ends (`item.completed`); quick ones only end. Ids of items begin anew
with every run of the program. The prompt, the times and the model are not in it. Knows nothing of the rollout that the
same run left behind.
"""

from typing import Any

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, count, mapping, sequence, string
from preheat.agents.codex_exec.items import CALL_KINDS, call_of, result_of
from preheat.agents.parsing import LinesParser, ParserState, decode_json, whole_lines
from preheat.agents.reader import Framing, Parser
from preheat.model.session import AssistantMessage, Event, Reasoning, Spawn, ToolCall, ToolResult, Usage

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
    joiner: CallMatcher = msgspec.field(default_factory=CallMatcher)
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
            self._thread(string(record.thread_id))
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

    def _thread(self, thread: str) -> None:
        main = self.draft().heading
        self.state.thread = "" if main.id in ("", thread) else thread
        heading = self.draft(self.state.thread).heading
        heading.id, heading.starter = thread, "headless"
        self.state.joiner.drop_open_calls()
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
        call_id = self.state.joiner.close_call(name) if is_over else ""
        if not call_id:
            requested = call_of(item)
            if not is_over and not requested.input and item["type"] == "web_search":
                return  # announced before the query is known
            call_id = self.state.joiner.open_call(RequestedCall(name, requested.tool, requested.input), f"line {line}")
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
                self.state.joiner.close_call(name)
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
