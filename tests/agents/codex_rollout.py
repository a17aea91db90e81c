"""Builds small Codex rollouts, record by record.

Knows the shapes of the records, not how they are read.
"""

import json
from typing import Any

PARENT = "019d0000-0000-7000-8000-000000000001"
THREAD = "019d0001-0000-7000-8000-000000000001"
"""A version 7 UUID: its first twelve digits are the time, here a minute after the parent's."""
PARENT_TURN = "019d0000-0010-7000-8000-000000000002"
OWN_TURN = "019d0001-0010-7000-8000-000000000002"


class Rollout:
    """A rollout being written: every method adds a record (some add two) and returns the rollout."""

    def __init__(self, thread: str = THREAD, **meta: Any) -> None:
        self.lines: list[bytes] = []
        self.second = 0
        self.ordinal: int | None = None
        self.meta(thread, **meta)

    def meta(self, thread: str, **fields: Any) -> "Rollout":
        """The record a session begins with."""
        payload = {"id": thread, "timestamp": self._now(), "cwd": "/w/proj", "originator": "codex-tui"}
        return self.add("session_meta", {**payload, "cli_version": "0.100.0", "source": "cli", **fields})

    def add(self, envelope: str, payload: Any) -> "Rollout":
        """Any record."""
        record = {"timestamp": self._now(), "type": envelope, "payload": payload}
        if self.ordinal is not None:
            record["ordinal"] = self.ordinal
            self.ordinal += 1
        return self.raw(json.dumps(record).encode())

    def raw(self, line: bytes) -> "Rollout":
        """Any line at all."""
        self.lines.append(line)
        return self

    def item(self, kind: str, /, **fields: Any) -> "Rollout":
        """Something that went to or from the model."""
        return self.add("response_item", {"type": kind, **fields})

    def event(self, kind: str, /, **fields: Any) -> "Rollout":
        """An event of the program."""
        return self.add("event_msg", {"type": kind, **fields})

    def done(self, kind: str, /, **fields: Any) -> "Rollout":
        """A finished item of a paginated rollout."""
        return self.event("item_completed", item={"type": kind, **fields})

    def message(self, role: str, *texts: str, **fields: Any) -> "Rollout":
        """A message, one piece of content for each text."""
        kind = "output_text" if role == "assistant" else "input_text"
        return self.item("message", role=role, content=[{"type": kind, "text": text} for text in texts], **fields)

    def prompt(self, text: str) -> "Rollout":
        """What a person typed: two records, as the legacy mode writes them."""
        return self.message("user", text).event("user_message", message=text, images=[])

    def reply(self, text: str) -> "Rollout":
        """What the model said: two records, in the order of the legacy mode."""
        return self.event("agent_message", message=text).message("assistant", text)

    def call(self, call_id: str, name: str = "exec_command", **arguments: Any) -> "Rollout":
        """A tool call."""
        return self.item("function_call", call_id=call_id, name=name, arguments=json.dumps(arguments))

    def output(self, call_id: str, output: Any) -> "Rollout":
        """The output of a call, as the model got it."""
        return self.item("function_call_output", call_id=call_id, output=output)

    def turn(self, turn_id: str = OWN_TURN) -> "Rollout":
        """The start of a turn: two records."""
        self.event("task_started", turn_id=turn_id)
        return self.add("turn_context", {"turn_id": turn_id, "cwd": "/w/proj", "model": "gpt-5.5"})

    def tokens(self, total: dict[str, int], last: dict[str, int] | None = None) -> "Rollout":
        """A statement of running totals."""
        info = {"total_token_usage": total, "last_token_usage": last if last is not None else total}
        return self.event("token_count", info=info, rate_limits=None)

    def data(self) -> bytes:
        """The file's bytes."""
        return b"".join(line + b"\n" for line in self.lines)

    def _now(self) -> str:
        self.second += 1
        return f"2026-03-01T10:{self.second // 60:02d}:{self.second % 60:02d}.000Z"


def token_counts(input_tokens: int, cached: int = 0, output: int = 0, reasoning: int = 0) -> dict[str, int]:
    """A block of token counts as Codex writes them: what came from the cache is inside the input."""
    return {
        "input_tokens": input_tokens,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": input_tokens + output,
    }
