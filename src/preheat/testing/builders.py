"""Builds transcripts for tests and demonstrations, deterministically: records in the form of Claude Code's files.

Knows nothing of how they are read. A builder is immutable: every method returns a new one with one more record.
"""

import os
from datetime import UTC, datetime
from typing import Any

import msgspec

from preheat.model.session import Usage

SESSION = "0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607"
STARTED = 1_767_606_000.0
_USAGE = Usage(input=100, output=20, cache_read=1000, cache_write=50)


class ClaudeTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript that grows by prompts, answers, calls and results; `agent` makes it a subagent's."""

    session: str = SESSION
    project: str = "/w/proj"
    branch: str = "main"
    version: str = "2.1.220"
    model: str = "claude-sonnet-4-5"
    agent: str = ""
    started: float = STARTED
    pace: float = 2.0
    """Seconds between two records."""
    records: tuple[Any, ...] = ()
    """Records, or the bytes of a damaged line."""

    # Adding records.
    def prompt(self, text: str) -> "ClaudeTranscript":
        """A person's prompt."""
        return self._message("user", text, {"origin": {"kind": "human"}})

    def inject(self, text: str) -> "ClaudeTranscript":
        """A text that the program inserts."""
        return self._message("user", text, {"isMeta": True})

    def reasoning(self, text: str) -> "ClaudeTranscript":
        """Reasoning: a response begins."""
        return self._assistant({"type": "thinking", "thinking": text}, _USAGE, begins=True)

    def answer(self, text: str, usage: Usage = _USAGE) -> "ClaudeTranscript":
        """A text of the model: a response begins, unless the last record was its reasoning."""
        return self._assistant({"type": "text", "text": text}, usage, begins=self._last_block() != "thinking")

    def call(
        self, tool: str, arguments: dict[str, Any], call_id: str = "", usage: Usage = _USAGE
    ) -> "ClaudeTranscript":
        """A tool call, in the same response as a text right before it."""
        block = {"type": "tool_use", "id": call_id or self.next_call, "name": tool, "input": arguments}
        return self._assistant(block, usage, begins=self._last_block() == "")

    def result(
        self,
        text: str,
        call_id: str = "",
        is_error: bool = False,
        outcome: dict[str, Any] | str | None = None,
    ) -> "ClaudeTranscript":
        """The result of a call, the last one unless an id is given; `outcome` is what the program records beside it."""
        block = {"type": "tool_result", "tool_use_id": call_id or self.last_call, "content": text}
        if is_error:
            block["is_error"] = True  # type: ignore[assignment]
        return self._message("user", [block], {} if outcome is None else {"toolUseResult": outcome})

    def run(self, command: str, output: str, exit_code: int = 0) -> "ClaudeTranscript":
        """A shell command with its result."""
        text = f"Exit code {exit_code}\n{output}" if exit_code else output
        return self.call("Bash", {"command": command}).result(text, is_error=exit_code != 0)

    def compaction(self, summary: str = "", trigger: str = "auto", tokens_before: int = 120_000) -> "ClaudeTranscript":
        """The conversation is replaced by a summary of it."""
        boundary = self._with(
            {
                "type": "system",
                "subtype": "compact_boundary",
                "compactMetadata": {"trigger": trigger, "preTokens": tokens_before},
            }
        )
        return boundary._message("user", summary, {"isCompactSummary": True}) if summary else boundary

    def rewind(self, prompts: int = 1) -> "ClaudeTranscript":
        """The person goes back before the last so many prompts: the next record continues from there."""
        places = [index for index, record in enumerate(self.records) if _is_prompt(record)]
        return self._with({"type": "_back_to", "index": places[-prompts] - 1})

    def title(self, text: str) -> "ClaudeTranscript":
        return self._with({"type": "custom-title", "customTitle": text})

    def line(self, raw: bytes) -> "ClaudeTranscript":
        """Any bytes as a line of their own."""
        return msgspec.structs.replace(self, records=(*self.records, raw))

    # The result.
    @property
    def next_call(self) -> str:
        """The id that the next call gets if it is given none."""
        return f"toolu_{self.session[:8]}_{len(self.records)}"

    @property
    def last_call(self) -> str:
        for record in reversed(self.records):
            if isinstance(record, dict) and record.get("type") == "assistant":
                return str(record["message"]["content"][0].get("id", ""))
        return ""

    def lines(self) -> list[bytes]:
        """The file's lines, without their ends."""
        found: list[bytes] = []
        parent: str | None = None
        names: list[str | None] = []
        for index, record in enumerate(self.records):
            if isinstance(record, bytes):
                found.append(record)
            elif record["type"] == "_back_to":
                parent = names[record["index"]] if record["index"] >= 0 else None
            else:
                name = f"{index:08x}-0000-4000-8000-{self.session.replace('-', '')[:12]:0>12}"
                found.append(
                    msgspec.json.encode({**self._heading(index), "uuid": name, "parentUuid": parent, **record})
                )
                parent = name
            names.append(parent)
        return found

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines())

    def write(self, projects: str) -> str:
        """Write the file where the program would, below its folder `projects`; returns the path."""
        folder = "".join(letter if letter.isalnum() else "-" for letter in self.project)
        path = (
            os.path.join(projects, folder, self.session, "subagents", f"agent-{self.agent}.jsonl")
            if self.agent
            else os.path.join(projects, folder, f"{self.session}.jsonl")
        )
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(self.data())
        return path

    # Making records.
    def _with(self, record: dict[str, Any]) -> "ClaudeTranscript":
        return msgspec.structs.replace(self, records=(*self.records, record))

    def _heading(self, index: int) -> dict[str, Any]:
        at = datetime.fromtimestamp(self.started + index * self.pace, UTC)
        heading: dict[str, Any] = {
            "isSidechain": bool(self.agent),
            "sessionId": self.session,
            "cwd": self.project,
            "gitBranch": self.branch,
            "version": self.version,
            "entrypoint": "cli",
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        return {**heading, "agentId": self.agent} if self.agent else heading

    def _message(self, role: str, content: Any, more: dict[str, Any]) -> "ClaudeTranscript":
        return self._with({"type": role, "message": {"role": role, "content": content}, **more})

    def _assistant(self, block: dict[str, Any], usage: Usage, begins: bool) -> "ClaudeTranscript":
        number = len(self.records)
        if not begins:
            number = int(self.records[-1]["message"]["id"].rpartition("_")[2])
        message = {
            "id": f"msg_{self.session[:8]}_{number}",
            "role": "assistant",
            "model": self.model,
            "content": [block],
            "usage": {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_read_input_tokens": usage.cache_read,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_hour,
                    "ephemeral_1h_input_tokens": usage.cache_write_hour,
                },
            },
        }
        return self._with({"type": "assistant", "message": message})

    def _last_block(self) -> str:
        """The kind of block that the last record ends with; empty if it is no response."""
        last = self.records[-1] if self.records else None
        if not isinstance(last, dict) or last.get("type") != "assistant":
            return ""
        return str(last["message"]["content"][0]["type"])


def _is_prompt(record: Any) -> bool:
    return isinstance(record, dict) and "origin" in record
