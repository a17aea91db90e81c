"""Where a rollout's session came from, and which of its records are copies of the parent's.

A forked thread or a sub-agent may begin with the parent's whole history, written again with new times. Its
own part begins, in this order of trust, at the ordinal it names, or with the first turn whose id (a version
7 UUID: it starts with the time) is not older than the thread's own, or (in versions whose turns have no such
ids) once the burst is over in which the copies are written. A `history_base` means that the parent's part
stayed in the parent's file. Knows nothing of what the records say.
"""

import re

import msgspec

from preheat.agents.chat import mapping, string
from preheat.agents.codex.records import Line, Payload, whole_number
from preheat.agents.parsing import epoch_seconds, unattended_starter
from preheat.agents.reader import Heading
from preheat.model.session import Relation, Starter

_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_TURN_TYPES = ("task_started", "turn_started", "user_message")
_BURST_SECONDS = 2.0
_HUMAN_SOURCES = ("cli", "vscode")
_HEADLESS_SOURCES = ("exec", "mcp")
_HUMAN_THREAD_SOURCES = ("", "user", "subagent")


class Lineage(msgspec.Struct):
    """Whether the records being read are this session's own."""

    known: bool = False
    """The session's first record was read."""
    copies: bool = False
    """The records being read now are copies of the parent's."""
    born: str = ""
    """The time in the thread's own id; empty if it has none."""
    written_at: float | None = None
    first_own_ordinal: int | None = None
    dated: bool = False
    """The ids of the copied turns contain their times."""
    subagent: bool = False

    def begin(self, payload: Payload, at: float | None) -> None:
        """Read the session's own first record."""
        self.known = True
        self.born = _time_in(string(payload.id))
        self.written_at = at
        self.first_own_ordinal = whole_number(payload.subagent_history_start_ordinal)
        self.subagent = _is_subagent(payload)
        forked = bool(payload.forked_from_id) and not payload.history_base
        self.copies = forked or self.first_own_ordinal is not None

    def take_further_meta(self, payload: Payload, own_id: str) -> None:
        """Read a further `session_meta`: it is the parent's if it has another id."""
        if string(payload.id) != own_id:
            self.copies = True

    def is_copy(self, line: Line, payload: Payload, at: float | None) -> bool:
        """Whether a record is a copy; the session's own part begins with the first that is not."""
        if self.copies and self._own_part_begins(line, payload, at):
            self.copies = False
        return self.copies

    def _own_part_begins(self, line: Line, payload: Payload, at: float | None) -> bool:
        if self.first_own_ordinal is not None and (ordinal := whole_number(line.ordinal)) is not None:
            return ordinal >= self.first_own_ordinal
        if line.type != "turn_context" and payload.type not in _TURN_TYPES:
            return False
        time = _time_in(string(payload.turn_id))
        if time and self.born:
            self.dated = True
            return time >= self.born
        if self.dated or at is None or self.written_at is None:
            return False
        return at > self.written_at + _BURST_SECONDS


def fill_heading(heading: Heading, payload: Payload, stem: str) -> None:
    """Fill the heading from the session's first record; `stem` is the file's name without its endings."""
    heading.id = string(payload.id)
    heading.version = string(payload.cli_version)
    heading.project = string(payload.cwd)
    heading.branch = string(mapping(payload.git).get("branch"))
    heading.starter = _starter(payload)
    heading.parent, heading.relation = _parent(payload)
    heading.include_time(epoch_seconds(payload.timestamp))
    if heading.id and stem.rpartition("_")[0].endswith(heading.id):
        # A thread that was rolled back goes on in a second file under the same thread id.
        heading.parent, heading.relation = heading.id, "continuation"
        heading.id = f"{heading.id}_{stem.rpartition('_')[2]}"


def _parent(payload: Payload) -> tuple[str | None, Relation | None]:
    spawn = mapping(mapping(mapping(payload.source).get("subagent")).get("thread_spawn"))
    forked_from = string(payload.forked_from_id) or string(mapping(payload.history_base).get("thread_id"))
    if _is_subagent(payload):
        parent = string(payload.parent_thread_id) or string(spawn.get("parent_thread_id")) or forked_from
        return parent or None, "subagent"
    if forked_from:
        return forked_from, "fork"
    return None, None


def _is_subagent(payload: Payload) -> bool:
    return "subagent" in mapping(payload.source) or bool(payload.parent_thread_id)


def _starter(payload: Payload) -> Starter:
    source, originator = payload.source, string(payload.originator)
    if originator.startswith("preheat"):
        return "preheat"
    if "internal" in mapping(source) or string(payload.thread_source) not in _HUMAN_THREAD_SOURCES:
        return "background"
    if source in _HEADLESS_SOURCES or originator == "codex_exec":
        return unattended_starter(string(payload.cwd))
    if source in _HUMAN_SOURCES or originator:
        return "human"
    return "unknown"


def _time_in(name: str) -> str:
    """The milliseconds that a version 7 UUID begins with, as text that can be compared."""
    match = _UUID7.match(name)
    return match[1] + match[2] if match else ""
