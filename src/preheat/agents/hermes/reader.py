"""Reads Hermes's sessions: recognises its database, and folds the lines that `database.dump` wrote of a session into events.

Rows are taken in the order of their ids, never of their times. The parser knows nothing of the database: the same lines come from
a running program's database and out of the archive.
"""

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.databases import MAGIC
from preheat.agents.hermes import DATABASE, database
from preheat.agents.hermes.records import (
    CopyTracker,
    Entry,
    SummaryMessage,
    WaitingRow,
    call_id,
    calls_of,
    content_of,
    fill_heading,
    find_summary,
    is_review,
    is_written_by_program,
    key_of,
)
from preheat.agents.hermes.tools import SCRIPT_TOOL, call_in_script, kind_of, result_of, split_advisory
from preheat.agents.parsing import LinesParser, ParserState, arguments_of, decode_json, epoch_seconds, origin_of
from preheat.agents.reader import DatabasePart, Framing, Parser
from preheat.errors import SourceUnreadable
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    Spawn,
    ToolCall,
    ToolResult,
    UserMessage,
)

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
    has_preheat_text: bool = msgspec.field(default=False, name="given")  # the name in stored states


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
            self.state.has_preheat_text = True
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
            tool, values = call_in_script(values) if name == SCRIPT_TOOL else (name, values)
            script = name if tool != name else ""
            yield ToolCall(
                line=line,
                at=at,
                call_id=own,
                tool=tool,
                kind=kind_of(tool),
                input=values,
                response=response,
                script=script,
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


# The lines of a session: which of its rows are messages, copies or rewound.
TOTAL_RESPONSE = "session total"
"""The name of the response that carries the usage: Hermes counts tokens for the whole session only."""


class HermesParser(MessageParser):
    """Folds the lines of one session."""

    agent = "hermes"
    record_type = Record
    state_type = HermesState

    def record(self, record: Record, line: int) -> None:
        row = record.row
        if record.table == "messages":
            self._take_row(row, line)
        elif record.table == "sessions":
            self._take_session(row, line)
        elif record.table == "lineage":
            self.state.session["lineage"] = {name: value for name, value in row.items() if name != "keys"}
            fill_heading(self.draft().heading, self.state.session)
            keys = row.get("keys")
            if isinstance(keys, list) and self.draft().heading.relation != "subagent":
                self.state.replay.begin_with([key for key in keys if isinstance(key, str)])
        elif record.table == "children":
            self._take_child(row, line)
        elif record.table == "problem":
            self.add_problem(str(row.get("message")), None)
        elif record.table == "end":
            self._take_end(line)
        else:
            self.keep_record(record.table or "unknown", line)

    # The session itself.
    def _take_session(self, row: dict[str, Any], line: int) -> None:
        self.state.session = {name: value for name, value in row.items() if name != "system_prompt"}
        fill_heading(self.draft().heading, self.state.session)
        events = self.draft().events
        events.append(Other(line=line, name="session", raw=self.state.session.copy()))
        if prompt := row.get("system_prompt"):
            events.append(Other(line=line, name="system_prompt", raw=prompt))

    def _take_child(self, row: dict[str, Any], line: int) -> None:
        session = row.get("id")
        if not isinstance(session, str) or row.get("source") != "subagent":
            self.keep_record("children", line)
            return
        goal = content_of(row.get("goal")).text.strip()
        call = self.state.goals.get(goal, "")
        self.draft().events.append(
            Spawn(line=line, at=epoch_seconds(row.get("started_at")), session=session, call_id=call)
        )

    def _take_end(self, line: int) -> None:
        self._release_waiting()
        self._add_rewind(line)
        draft = self.draft()
        if self.state.has_preheat_text and not self.state.prompted:
            draft.heading.starter = "preheat"  # imported into the store, and not continued yet
        if draft.heading.reported is not None:
            draft.events.append(
                AssistantMessage(
                    line=line,
                    text="",
                    response=TOTAL_RESPONSE,
                    model=draft.heading.model,
                    usage=draft.heading.reported,
                )
            )

    # Which rows are messages, which are copies of messages, and which were rewound.
    def _take_row(self, row: dict[str, Any], line: int) -> None:
        replay = self.state.replay
        if not _is_rewound(row):
            self._add_rewind(line)
        key = key_of(row)
        time = epoch_seconds(row.get("timestamp")) or 0.0
        if replay.copying and replay.in_place and not replay.may_still_copy(time):
            replay.stop()
        if replay.may_begin(key) and self._summary_of(row) is None:
            replay.waiting.append(WaitingRow(row, line))
            return
        if replay.archived and not replay.copying:
            if self._summary_of(row) is not None or replay.is_stored_together(time):
                self._begin_compaction(line, time)
            elif replay.waiting:
                self._release_waiting()
                self._take_row(row, line)
                return
        self._place_row(row, key, line, time)

    def _begin_compaction(self, line: int, time: float) -> None:
        replay = self.state.replay
        for waiting, entry in zip(replay.waiting, replay.entries, strict=False):
            if _is_rewound(waiting.row):
                self._mark_rewound(entry, line)
        replay.begin(time)

    def _release_waiting(self) -> None:
        """The waiting rows turned out not to be copies."""
        replay = self.state.replay
        waiting, replay.waiting = replay.waiting, []
        for each in waiting:
            self._place_row(each.row, key_of(each.row), each.line, epoch_seconds(each.row.get("timestamp")) or 0.0)

    def _place_row(self, row: dict[str, Any], key: str, line: int, time: float) -> None:
        replay = self.state.replay
        pieces = self._summary_of(row)
        if pieces is not None:
            self._add_compaction(row, pieces, line, time)
            return
        original = replay.find_original(key)
        if original is not None:
            replay.entries.append(Entry(key, original.line or line))
            if _is_rewound(row):
                self._mark_rewound(original, line)
        else:
            if replay.copying and not replay.may_still_copy(time):
                replay.stop()
            replay.entries.append(Entry(key, line))
            self.add_message(row, line)
            if _is_rewound(row):
                self._mark_rewound(Entry(key, line), line)
        self._note_row(row, time)

    def _note_row(self, row: dict[str, Any], time: float) -> None:
        replay = self.state.replay
        replay.newest = max(replay.newest, time)
        if replay.copying and not replay.in_place:
            replay.stored = time
        if not _is_rewound(row):
            replay.archived = bool(row.get("compacted"))

    def _summary_of(self, row: dict[str, Any]) -> SummaryMessage | None:
        if row.get("role") not in ("user", "assistant"):
            return None
        return find_summary(content_of(row.get("content")).text)

    def _add_compaction(self, row: dict[str, Any], pieces: SummaryMessage, line: int, time: float) -> None:
        replay = self.state.replay
        key = key_of(row)
        # Looked up in a branch only: a merged message is looked up below, and a look-up moves past the original it finds.
        is_copy = self.draft().heading.relation == "fork" and replay.find_original(key) is not None
        # A second summary in one compaction is that of an earlier one, kept as a message.
        if not is_copy and not (replay.copying and replay.summarised):
            at = epoch_seconds(row.get("timestamp"))
            self.draft().events.append(Compaction(line=line, at=at, summary=pieces.summary))
            self.draft().heading.include_time(at)
        replay.summarised = True
        replay.entries.append(Entry(key, line))
        self._note_row(row, time)
        text = pieces.before or pieces.after
        if (text or row.get("tool_calls")) and not is_copy:
            merged = {**row, "content": text, "api_content": None}
            self._place_row(merged, key_of(merged), line, time)

    def _mark_rewound(self, entry: Entry, line: int) -> None:
        after = (entry.line or line) - 1
        self.state.rewind = after if self.state.rewind is None else min(self.state.rewind, after)

    def _add_rewind(self, line: int) -> None:
        after, self.state.rewind = self.state.rewind, None
        if after is not None:
            self.draft().events.append(Rewind(line=line, after=after))
            self.state.replay.take_back(after)


def _is_rewound(row: dict[str, Any]) -> bool:
    """Whether the person rewound a row: it is then neither active nor compacted away."""
    return row.get("active") == 0 and not row.get("compacted")


class HermesReader:
    """Reads `state.db`."""

    agent = "hermes"

    def framing(self, path: str) -> Framing:
        return "database"

    def detect(self, head: bytes, path: str) -> bool:
        if not head.startswith(MAGIC):
            return False
        try:
            # The tables may still be in the log beside the file, so its first bytes are not enough.
            return database.is_hermes_database(path)
        except SourceUnreadable:
            return os.path.basename(path) == DATABASE

    def parser(self, path: str, part: str = "") -> Parser:
        return HermesParser(path)

    def parts(self, path: str) -> list[DatabasePart]:
        return database.parts(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return database.dump(path, part)


READER = HermesReader()
