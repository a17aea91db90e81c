"""Reads Cline's sessions: recognises the files, and folds the rows that `storage.py` wrote out into a session.

Messages have the form of Anthropic's; older ones hold calls as tags in the model's text and results as texts of the user. A
session is always read whole. Knows nothing of files.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, count, images_in, mapping, sequence, string, text_of
from preheat.agents.cline import COMPACTION, HISTORY, HISTORY_ITEM, storage
from preheat.agents.cline.records import calls_in, continues_result, folder_in, is_written_by_program, unwrap
from preheat.agents.cline.tools import HEADER, RecordedResult, kind_of, result_of, result_of_text
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, epoch_seconds, origin_of
from preheat.agents.reader import DatabasePart, Framing
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Reasoning,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

_LONGEST_TITLE = 200


class Row(msgspec.Struct):
    """One row of a session, as `storage.py` writes it out."""

    table: str = ""
    about: Any = None
    manifest: Any = None
    message: Any = None
    summary: Any = None
    at: Any = None
    usage: Any = None
    error: Any = None


class ClineParser(LinesParser[ParserState, Row]):
    """Folds the rows of one session."""

    agent = "cline"
    record_type = Row
    state_type = ParserState

    def __init__(self, path: str, name: str) -> None:
        super().__init__(path)
        self._name = name
        self._matcher = CallMatcher()
        self._open_tagged_calls: dict[str, str] = {}
        """Calls that were tags in a text and have no result yet, with their tools."""
        self._usage_so_far = Usage()
        self._from_editor = False

    def save(self) -> bytes | None:
        return None  # the files are rewritten whole

    def record(self, record: Row, line: int) -> None:
        heading = self.draft().heading
        heading.id = heading.id or string(mapping(record.about).get("sessionId")) or self._name
        if record.table == "session":
            self._take_session(mapping(record.about), mapping(record.manifest), line)
        elif record.table == "task":
            self._take_task(mapping(record.about), line)
        elif record.table == "message":
            self._take_message(mapping(record.message), line)
        elif record.table == "compaction":
            self._add(Compaction(line=line, at=epoch_seconds(record.at), summary=string(record.summary)))
        elif record.table == "totals":
            self._take_totals(usage_of(mapping(record.usage)), line)
        else:
            if record.table == "unreadable":
                self.add_problem(f"not a whole JSON document ({string(record.error)}); kept as it is", line)
            self.keep_record(record.table or "unknown", line)

    # The heading.
    def _take_session(self, about: dict[str, Any], manifest: dict[str, Any], line: int) -> None:
        heading, origin = self.draft().heading, mapping(about.get("origin"))
        heading.version = string(origin.get("version"))
        heading.model = string(manifest.get("model"))
        heading.project = string(manifest.get("cwd")) or string(manifest.get("workspace_root"))
        heading.title = string(mapping(manifest.get("metadata")).get("title"))[:_LONGEST_TITLE]
        parent = string(origin.get("parentThreadId"))
        if parent:
            heading.parent, heading.relation = parent, "subagent" if origin.get("mode") == "subagent" else "fork"
        if isinstance(manifest.get("interactive"), bool):
            heading.starter = "human" if manifest["interactive"] else "headless"
        for time in (manifest.get("started_at"), manifest.get("ended_at"), about.get("updated_at")):
            heading.include_time(epoch_seconds(time))
        self.keep_record("session", line)

    def _take_task(self, about: dict[str, Any], line: int) -> None:
        heading = self.draft().heading
        self._from_editor, heading.starter = True, "human"
        heading.project = string(about.get("workspace"))
        heading.title = string(about.get("task"))[:_LONGEST_TITLE]
        if string(about.get("parentTaskId")):
            heading.parent, heading.relation = string(about.get("parentTaskId")), "subagent"
        if about:
            self.keep_record("task", line)

    def _take_totals(self, totals: Usage | None, line: int) -> None:
        """The program's totals; tokens beyond those of the messages (of lost responses) are counted too."""
        if totals is None:
            return
        rest = Usage(
            totals.input - self._usage_so_far.input,
            totals.output - self._usage_so_far.output,
            totals.cache_read - self._usage_so_far.cache_read,
            totals.cache_write - self._usage_so_far.cache_write,
        )
        if min(rest.input, rest.output, rest.cache_read, rest.cache_write) < 0:
            return  # the totals cover only the last run
        if rest != Usage():
            self._add(AssistantMessage(line=line, text="", response="totals", usage=rest))
        self.draft().heading.reported = totals

    # Messages.
    def _take_message(self, message: dict[str, Any], line: int) -> None:
        at = epoch_seconds(message.get("ts"))
        self.draft().heading.include_time(at)
        metadata = mapping(message.get("metadata"))
        if message.get("isSummary") is True or metadata.get("kind") in ("compaction_summary", "compaction"):
            self._add(Compaction(line=line, at=at, summary=text_of(message.get("content"))))
        elif message.get("isTruncationMarker") is True:
            self._add(Compaction(line=line, at=at, trigger="truncation"))
        elif message.get("type") == "reasoning":
            self._add(Reasoning(line=line, at=at, text=string(message.get("text"))))
        elif message.get("role") == "assistant":
            self._take_assistant(message, metadata, line, at)
        elif message.get("role") == "user":
            self._take_user(message, metadata, line, at)
        else:
            self.keep_record("message", line, at)

    def _take_assistant(self, message: dict[str, Any], metadata: dict[str, Any], line: int, at: float | None) -> None:
        response = string(message.get("id")) or f"message {line}"
        blocks = [mapping(block) for block in _blocks_of(message.get("content"))]
        thoughts = [string(block.get("thinking")) for block in blocks if "thinking" in string(block.get("type"))]
        if string(message.get("reasoning_content")):
            thoughts.append(string(message.get("reasoning_content")))
        for thought in thoughts:
            self._add(Reasoning(line=line, at=at, text=thought, response=response))
        text = "\n".join(filter(None, (string(block.get("text")) for block in blocks if block.get("type") == "text")))
        tool_blocks = [block for block in blocks if block.get("type") == "tool_use"]
        tagged, message_text = ([], text) if tool_blocks or not self._from_editor else calls_in(text)
        model = string(mapping(message.get("modelInfo")).get("id")) or string(
            mapping(message.get("modelInfo")).get("modelId")
        )
        self.draft().heading.model = self.draft().heading.model or model
        usage = usage_of(mapping(message.get("metrics")))
        self._usage_so_far += usage or Usage()
        self._add(AssistantMessage(line=line, at=at, text=message_text, response=response, model=model, usage=usage))
        invalid_inputs = {
            string(mapping(call).get("toolCallId")): string(mapping(mapping(call).get("input")).get("rawInputText"))
            for call in sequence(metadata.get("invalidToolCalls"))
        }
        for number, block in enumerate(tool_blocks, 1):
            name = string(block.get("id"))
            tool_input = arguments_of(block.get("input")) or arguments_of(invalid_inputs.get(name) or None)
            self._add_call(
                RequestedCall(name, string(block.get("name")), tool_input), f"{line}.{number}", response, line, at
            )
        for number, call in enumerate(tagged, 1):
            call_id = self._add_call(
                RequestedCall("", call.tool, dict(call.input)), f"{line}.{number}", response, line, at
            )
            self._open_tagged_calls[call_id] = call.tool

    def _add_call(self, requested: RequestedCall, place: str, response: str, line: int, at: float | None) -> str:
        call_id = self._matcher.open_call(requested, place)
        kind = kind_of(requested.tool)
        self._add(
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
        return call_id

    def _take_user(self, message: dict[str, Any], metadata: dict[str, Any], line: int, at: float | None) -> None:
        blocks = [mapping(block) for block in _blocks_of(message.get("content"))]
        injected = metadata.get("displayRole") == "system" or self.draft().heading.relation == "subagent"
        images = images_in(blocks)
        texts = [string(block.get("text")) for block in blocks if block.get("type") == "text"]
        for block in blocks:
            kind = block.get("type")
            if kind == "tool_result":
                self._take_result(block, line, at)
            elif kind == "file":
                self._add_user_message(
                    f"{string(block.get('path'))}\n{string(block.get('content'))}", True, 0, line, at
                )
        for text in self._take_tagged_results(texts, line, at) if self._open_tagged_calls else texts:
            program = is_written_by_program(text)
            if program and not self.draft().heading.project:
                self.draft().heading.project = folder_in(text)
            user_text, notice = (text, "") if program else unwrap(text)
            if notice:
                self._add_user_message(notice, True, 0, line, at)
            if user_text:
                self._add_user_message(user_text, injected or program, 0 if program else images, line, at)
                images = images if program else 0
        if images and not any(block.get("type") == "tool_result" for block in blocks):
            self._add_user_message("", injected, images, line, at)

    def _add_user_message(self, text: str, injected: bool, images: int, line: int, at: float | None) -> None:
        self._add(UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected), images=images))

    # Results.
    def _take_tagged_results(self, texts: list[str], line: int, at: float | None) -> list[str]:
        """Add the results among a user's texts as events; returns the other texts. A result may span several texts."""
        left: list[str] = []
        call_id, pieces = "", [""]
        for text in texts:
            header = HEADER.match(text)
            match = next((call for call, tool in self._open_tagged_calls.items() if header and tool == header[1]), "")
            if match:
                self._close_tagged(call_id, pieces, line, at)
                call_id, pieces = match, [text]
                del self._open_tagged_calls[match]
            elif call_id and continues_result(text):
                pieces.append(text)
            else:
                left.append(text)
        self._close_tagged(call_id, pieces, line, at)
        return left

    def _close_tagged(self, call_id: str, pieces: list[str], line: int, at: float | None) -> None:
        if call_id:
            self._matcher.close_call(call_id)
            self._add_result(call_id, result_of_text("\n".join(pieces)), line, at)

    def _take_result(self, block: dict[str, Any], line: int, at: float | None) -> None:
        name = string(block.get("tool_use_id"))
        call_id = self._matcher.close_call(name) if name else ""
        if call_id:
            self._add_result(call_id, result_of(block), line, at)
        else:
            self.keep_record("result_without_call", line, at)

    def _add_result(self, call_id: str, ending: RecordedResult, line: int, at: float | None) -> None:
        self._add(
            ToolResult(
                line=line,
                at=at,
                call_id=call_id,
                text=ending.text,
                is_error=ending.is_error,
                exit_code=ending.exit_code,
                detail=ending.detail,
                frame=ending.frame,
            )
        )

    def _add(self, event: Event) -> None:
        self.draft().events.append(event)


def usage_of(metrics: dict[str, Any]) -> Usage | None:
    """Tokens of a response or of a session; Cline counts cached tokens as input, here they are subtracted from it."""
    tokens = mapping(metrics.get("tokens"))  # the extension's form
    if tokens:
        cached = count(tokens.get("cached"))
        return Usage(max(0, count(tokens.get("prompt")) - cached), count(tokens.get("completion")), cached)
    if "inputTokens" not in metrics and "outputTokens" not in metrics:
        return None
    read, written = count(metrics.get("cacheReadTokens")), count(metrics.get("cacheWriteTokens"))
    return Usage(
        input=max(0, count(metrics.get("inputTokens")) - read - written),
        output=count(metrics.get("outputTokens")),
        cache_read=read,
        cache_write=written,
    )


def _blocks_of(content: object) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else sequence(content)


_MESSAGES = re.compile(
    rb'\A\s*\{\s*"version"\s*:\s*\d+\s*,\s*"updated_at"\s*:\s*"[^"]*"\s*,\s*(?:"agent"\s*:\s*"[^"]*"\s*,\s*)?"sessionId"\s*:'
)
_MANIFEST = re.compile(rb'\A\s*\{\s*"version"\s*:\s*\d+\s*,\s*"session_id"\s*:\s*"[^"]*"\s*,\s*"source"\s*:')


class ClineReader:
    """Reads a session's messages together with the files beside them."""

    agent = "cline"

    def framing(self, path: str) -> Framing:
        return "database"

    def detect(self, head: bytes, path: str) -> bool:
        name = os.path.basename(path.replace("\\", "/"))
        if name == HISTORY:
            return head.lstrip().startswith(b"[") and (b'"role"' in head or not head.strip(b"[] \r\n\t"))
        if name == HISTORY_ITEM:
            return head.lstrip().startswith(b"{") and b'"task"' in head and b'"ts"' in head
        if name.endswith(COMPACTION):
            return b'"source_message_count"' in head
        return bool(_MESSAGES.match(head) or _MANIFEST.match(head))

    def parser(self, path: str, part: str = "") -> ClineParser:
        return ClineParser(path, part or storage.session_name(path))

    def parts(self, path: str) -> list[DatabasePart]:
        return storage.parts(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return storage.dump(path)


READER = ClineReader()
