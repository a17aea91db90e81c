"""Reads Claude Code transcripts: recognises them, and folds their records, one a line, into the session and its subagents.

`uuid` and `parentUuid` make a tree; one response of the model is spread over several records that share `message.id`. Knows
nothing of where the lines come from: a file, its new end, or the archive.
"""

import os
import re
from zlib import crc32

import msgspec

from preheat.agents.claude_code.records import (
    Block,
    Message,
    Record,
    ToolOutcome,
    child_id,
    detail_of,
    short_id,
    text_of,
    usage_of,
)
from preheat.agents.claude_code.tools import kind_of
from preheat.agents.parsing import Draft, LinesParser, ParserState, arguments_of, origin_of, unattended_starter
from preheat.agents.reader import Framing, Heading
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Reasoning,
    Rewind,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

_SESSION_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_PROGRAM_TEXT = (
    "<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-input>", "<bash-stdout>",
    "<bash-stderr>", "<task-notification>", "<system-reminder>", "<user-memory-input>", "<ide_opened_file>",
    "<ide_selection>", "[Request interrupted", "Caveat: The messages below were generated",
)  # fmt: skip
"""Beginnings of user records that the program wrote, not the person."""
_HUMAN_ENTRYPOINTS = ("cli", "claude-desktop", "claude-vscode", "vscode", "claude-jetbrains", "jetbrains")
_EXIT_LINE = re.compile(r"(?:Error: )?Exit code (\d{1,3})(?:\n|$)")
_MAIN_TYPES = ("user", "assistant")


class Chain(msgspec.Struct):
    """State of one conversation in the file: the main session or a subagent."""

    key: str = ""
    turn_line: int = 0
    """The line where the newest prompt or response began."""
    response: str = ""
    blocks: list[int] = []
    """Marks of the blocks of that response that became events already: responses are also stored as growing snapshots."""
    text: str = ""
    usage: Usage | None = None
    compacted: bool = False
    """A compaction boundary was read, but its summary not yet."""


class ClaudeState(ParserState):
    lines: dict[int, int] = msgspec.field(default_factory=dict)
    """The line of each record, by the short form of its uuid."""
    responses: set[int] = msgspec.field(default_factory=set)
    spawned: set[str] = msgspec.field(default_factory=set)
    chains: dict[str, Chain] = msgspec.field(default_factory=dict)


class ClaudeParser(LinesParser[ClaudeState, Record]):
    """Folds one transcript file: its session and, in old files, the subagents written in between."""

    agent = "claude_code"
    record_type = Record
    state_type = ClaudeState

    def __init__(self, path: str) -> None:
        super().__init__(path)
        folder, name = os.path.split(path.replace("\\", "/"))
        self._stem = name.partition(".")[0]
        self._is_subagent_file = folder.endswith("/subagents") or self._stem.startswith("agent-")

    def record(self, record: Record, line: int) -> None:
        if record.uuid:
            name = short_id(record.uuid)
            if name in self.state.lines:
                return  # the same record again, as in files that were copied together
            self.state.lines[name] = line
        if record.forkedFrom is not None and record.type in _MAIN_TYPES:
            self._take_fork(record)
            return
        key = self._session_key(record) if record.isSidechain else ""
        draft = self.drafts.get(key) or self.draft(key)
        heading = draft.heading
        if record.gitBranch != heading.branch or record.entrypoint or not heading.id:
            self._fill_heading(heading, record, key)
        at = record.timestamp.timestamp() if record.timestamp is not None else None
        heading.include_time(at)
        if record.type == "assistant" and isinstance(record.message, Message):
            self._take_assistant(draft, self._chain(key), record, record.message, line, at)
        elif record.type == "user" and isinstance(record.message, Message):
            self._take_user(draft, self._chain(key), record, record.message, line, at)
        else:
            self._take_other(draft, key, record, line, at)

    # Which session a record belongs to.
    def _session_key(self, record: Record) -> str:
        """The key of the record's session: empty for the main one, else the subagent's name, whose records old files hold too."""
        if self._is_subagent_file:
            return ""
        if record.agentId:
            return record.agentId
        start = self.state.lines.get(short_id(record.parentUuid)) if record.parentUuid else None
        if start is None:
            return f"line-{self.state.lines[short_id(record.uuid)]}" if record.uuid else ""
        openings = [int(name[5:]) for name in self.state.headings if name.startswith("line-")]
        return f"line-{max((line for line in openings if line <= start), default=start)}"

    def _fill_heading(self, heading: Heading, record: Record, key: str) -> None:
        if not heading.id and record.sessionId:
            self._set_id(heading, record, record.sessionId, key)
        if record.version and not heading.version:
            heading.version = record.version
        if record.cwd and not heading.project:
            heading.project = record.cwd
        if record.gitBranch:
            heading.branch = record.gitBranch
        if record.entrypoint and heading.starter == "unknown":
            heading.starter = (
                "human" if record.entrypoint in _HUMAN_ENTRYPOINTS else unattended_starter(heading.project)
            )

    def _set_id(self, heading: Heading, record: Record, session: str, key: str) -> None:
        if key or self._is_subagent_file or (record.isSidechain and record.agentId):
            agent = record.agentId or key or self._stem.removeprefix("agent-")
            heading.id, heading.parent, heading.relation = child_id(session, agent), session, "subagent"
        elif _SESSION_ID.fullmatch(self._stem) and self._stem != session:
            # A resumed session: its file begins with the records of the one before.
            heading.id, heading.parent, heading.relation = self._stem, session, "continuation"
        else:
            heading.id = session

    def _take_fork(self, record: Record) -> None:
        """Take the heading from a record that was copied from the session this one was forked from; its events belong there."""
        heading = self.draft().heading
        self._fill_heading(heading, record, "")
        if record.forkedFrom is not None and record.forkedFrom.sessionId:
            heading.parent, heading.relation = record.forkedFrom.sessionId, "fork"

    def _chain(self, key: str) -> Chain:
        chain = self.state.chains.get(key)
        if chain is None:
            chain = self.state.chains[key] = Chain(key)
        return chain

    # Messages.
    def _begin_turn(self, draft: Draft, chain: Chain, record: Record, line: int, at: float | None) -> None:
        """Note that a prompt or a response begins; a parent before the newest turn means that the person went back."""
        parent = self.state.lines.get(short_id(record.parentUuid)) if record.parentUuid else None
        if parent is not None and chain.turn_line > parent:
            draft.events.append(Rewind(line=line, at=at, after=parent))
        chain.turn_line = line

    def _take_assistant(
        self, draft: Draft, chain: Chain, record: Record, message: Message, line: int, at: float | None
    ) -> None:
        response = message.id or record.uuid or f"line-{line}"
        if response != chain.response:
            name = short_id(response)
            if name in self.state.responses:
                return  # a copy of a response that was read before
            self.state.responses.add(name)
            self._begin_turn(draft, chain, record, line, at)
            chain.response, chain.blocks, chain.text, chain.usage = response, [], "", None
        heading = draft.heading
        model = "" if message.model.startswith("<") else message.model
        if model:
            heading.model = model
        usage = usage_of(message)
        text = ""
        blocks = (
            message.content if isinstance(message.content, list) else [Block(type="text", text=message.content or "")]
        )
        for position, block in enumerate(blocks):
            if block.type == "text":
                text += self._new_text(chain, block)
                continue
            if block.type in ("tool_use", "server_tool_use"):
                self._add_call(draft, chain, block, response, line, at)
                continue
            mark = crc32(f"{position} {block.type} {block.thinking}".encode("utf-8", "replace"))
            if mark in chain.blocks:
                continue
            chain.blocks.append(mark)
            if block.type in ("thinking", "redacted_thinking"):
                draft.events.append(Reasoning(line=line, at=at, text=block.thinking, response=response))
            else:
                self.keep_record(f"assistant/{block.type}", line, at, chain.key)
        if text or usage != chain.usage:
            chain.usage = usage
            draft.events.append(
                AssistantMessage(line=line, at=at, text=text, response=response, model=model, usage=usage)
            )

    def _new_text(self, chain: Chain, block: Block) -> str:
        """The part of a text block that is no event yet."""
        if chain.text and block.text.startswith(chain.text):
            new = block.text[len(chain.text) :]
        elif block.text and chain.text.endswith(block.text):
            return ""
        else:
            new = block.text
        chain.text = block.text
        return new

    def _add_call(self, draft: Draft, chain: Chain, block: Block, response: str, line: int, at: float | None) -> None:
        if block.id:
            if (mark := crc32(block.id.encode("utf-8", "replace"))) in chain.blocks:
                return
            chain.blocks.append(mark)
        draft.events.append(
            ToolCall(
                line=line, at=at, call_id=block.id, tool=block.name, kind=kind_of(block.name),
                input=arguments_of(block.input), response=response,
            )
        )  # fmt: skip

    def _take_user(
        self, draft: Draft, chain: Chain, record: Record, message: Message, line: int, at: float | None
    ) -> None:
        content = message.content
        texts: list[str] = [content] if isinstance(content, str) else []
        images = 0
        for block in content if isinstance(content, list) else ():
            if block.type == "tool_result":
                self._add_result(draft, record, block, line, at)
            elif block.type == "text":
                texts.append(block.text)
            elif block.type in ("image", "document"):
                images += 1
            else:
                self.keep_record(f"user/{block.type}", line, at, chain.key)
        if not texts and not images:
            return
        text = "\n".join(texts)
        if record.isCompactSummary:
            self._add_summary(draft, chain, text, line, at)
            return
        origin = origin_of(text, self._is_injected(record, text))
        if origin == "human":
            self._begin_turn(draft, chain, record, line, at)
        draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images))

    def _is_injected(self, record: Record, text: str) -> bool:
        if record.isMeta or record.isSidechain or self._is_subagent_file:
            return True
        kind = record.origin if isinstance(record.origin, str) else record.origin.kind if record.origin else "human"
        return kind != "human" or text.lstrip().startswith(_PROGRAM_TEXT)

    def _add_summary(self, draft: Draft, chain: Chain, text: str, line: int, at: float | None) -> None:
        if chain.compacted:
            chain.compacted = False
            draft.events.append(UserMessage(line=line, at=at, text=text, origin="injected"))
        else:
            draft.events.append(Compaction(line=line, at=at, summary=text))

    def _add_result(self, draft: Draft, record: Record, block: Block, line: int, at: float | None) -> None:
        text = text_of(block.content)
        outcome = record.toolUseResult
        detail = detail_of(record, outcome)
        exit_code = outcome.exitCode if isinstance(outcome, ToolOutcome) else None
        if exit_code is None and block.is_error and (found := _EXIT_LINE.match(text)):
            exit_code = int(found[1])
        took = None
        if isinstance(outcome, ToolOutcome):
            took = outcome.durationMs if outcome.durationMs is not None else outcome.totalDurationMs
            if outcome.agentId:
                self._add_spawn(draft, outcome.agentId, block.tool_use_id, line, at)
        draft.events.append(
            ToolResult(
                line=line, at=at, call_id=block.tool_use_id, text=text,
                # The program leaves the flag out for most successes and never for a failure.
                is_error=bool(block.is_error), exit_code=exit_code,
                seconds=None if took is None else took / 1000, detail=detail,
            )
        )  # fmt: skip

    def _add_spawn(self, draft: Draft, agent: str, call_id: str, line: int, at: float | None) -> None:
        if agent in self.state.spawned:
            return
        self.state.spawned.add(agent)
        draft.events.append(Spawn(line=line, at=at, session=child_id(draft.heading.id, agent), call_id=call_id))

    # Everything that is no message.
    def _take_other(self, draft: Draft, key: str, record: Record, line: int, at: float | None) -> None:
        attachment = record.attachment
        if record.type == "system" and record.subtype == "compact_boundary":
            metadata = record.compactMetadata
            self._chain(key).compacted = True
            draft.events.append(
                Compaction(
                    line=line, at=at, trigger=metadata.trigger if metadata else "",
                    tokens_before=metadata.preTokens if metadata else None,
                )
            )  # fmt: skip
            return
        if record.type == "attachment" and attachment is not None and attachment.type == "queued_command":
            text = text_of(attachment.prompt)
            injected = attachment.commandMode not in (None, "prompt") or text.lstrip().startswith(_PROGRAM_TEXT)
            draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin_of(text, injected)))
            return
        if record.type == "progress" and record.data is not None and record.data.agentId:
            self._add_spawn(draft, record.data.agentId, record.parentToolUseID or "", line, at)
        title = record.customTitle or record.aiTitle or (record.summary if not draft.heading.title else None)
        if title:
            draft.heading.title = title
        name = (
            record.subtype or (attachment.type if attachment else None) or (record.data.type if record.data else None)
        )
        self.keep_record(f"{record.type}/{name}" if name else record.type or "record", line, at, key)


class ClaudeReader:
    """Claude Code's transcripts."""

    agent = "claude_code"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        if b'"payload"' in head[:400] or not head.lstrip().startswith(b"{"):
            return False
        return any(
            (b'"sessionId"' in line and (b'"uuid"' in line or b'"leafUuid"' in line)) or _is_opening(line)
            for line in head.split(b"\n", 40)[:40]
        )

    def parser(self, path: str, part: str = "") -> ClaudeParser:
        return ClaudeParser(path)


def _is_opening(line: bytes) -> bool:
    return line.startswith((b'{"type":"file-history-snapshot"', b'{"type":"summary","summary"'))


READER = ClaudeReader()
