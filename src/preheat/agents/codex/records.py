"""The records of a rollout: their fields, who wrote a message, which records are copies of a parent's, and what was used in
tokens.

Knows nothing of the order of a conversation. Nearly every field is optional and of any type: fields came and went over the
years. Fields not named here (base instructions, copies of outputs, replaced histories) are skipped at native speed.

A forked thread or a subagent may begin with the parent's whole history, written again with new times. Its own part begins, in
this order of trust, at the ordinal it names; with the first turn whose id (a version 7 UUID, which starts with the time) is not
older than the thread's own; or, in versions whose turns have no such ids, after the burst in which the copies were written. A
`history_base` means that the parent's part stayed in the parent's file.
"""

import re
from typing import Any, NamedTuple

import msgspec

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.parsing import epoch_seconds, unattended_starter
from preheat.agents.reader import Heading
from preheat.model.session import Relation, Starter, Usage
from preheat.remotes import normalise_remote

_LARGEST_WHOLE = 2**62


class Item(msgspec.Struct):
    """A finished item of a paginated rollout: `item_completed.item`."""

    type: str = ""
    id: Any = None
    status: Any = None
    command: Any = None
    exit_code: Any = None
    duration: Any = None
    success: Any = None
    error: Any = None
    result: Any = None
    content: Any = None
    tool: Any = None
    kind: Any = None
    receiver_thread_ids: Any = None
    agent_thread_id: Any = None


class Payload(msgspec.Struct):
    """What is inside the envelope; old rollouts have it bare."""

    type: str = ""
    id: Any = None
    timestamp: Any = None
    # What the conversation is made of.
    role: Any = None
    content: Any = None
    internal_chat_message_metadata_passthrough: Any = None
    summary: Any = None
    call_id: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Any = None
    input: Any = None
    output: Any = None
    action: Any = None
    tools: Any = None
    status: Any = None
    author: Any = None
    # What the program reports of it.
    item: Item | None = None
    message: Any = None
    images: Any = None
    local_images: Any = None
    turn_id: Any = None
    num_turns: Any = None
    command: Any = None
    exit_code: Any = None
    duration: Any = None
    success: Any = None
    result: Any = None
    new_thread_id: Any = None
    agent_thread_id: Any = None
    kind: Any = None
    thread_name: Any = None
    model: Any = None
    info: Any = None
    response_id: Any = None
    usage: Any = None
    thread_token_usage: Any = None
    # What the session is.
    cwd: Any = None
    originator: Any = None
    cli_version: Any = None
    source: Any = None
    thread_source: Any = None
    git: Any = None
    forked_from_id: Any = None
    parent_thread_id: Any = None
    history_base: Any = None
    subagent_history_start_ordinal: Any = None


class Line(Payload):
    """One line: an envelope with a payload, or (in old rollouts) the bare record."""

    ordinal: Any = None
    payload: Payload | None = None
    record_type: Any = None


def whole_number(value: object) -> int | None:
    """A whole number of sensible size; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and -_LARGEST_WHOLE < value < _LARGEST_WHOLE:
        return value
    return None


# Who wrote the text of a message in a rollout
_PROGRAM_TAGS = (
    "environment_context", "environments_instructions", "user_instructions", "INSTRUCTIONS",
    "permissions instructions", "skills_instructions", "apps_instructions", "plugins_instructions",
    "app-context", "collaboration_mode", "multi_agent_mode", "multi_agent_role", "turn_aborted",
    "subagent_notification", "user_shell_command", "skill", "hook_prompt", "goal_context", "model_switch",
    "personality_spec", "context_window", "context_window_guidance", "current_time_reminder",
    "image_resize_notice", "managed_developer_instructions", "realtime_conversation", "realtime_delegation",
    "recommended_plugins", "codex_internal_context", "user_action",
)  # fmt: skip
_PROGRAM_BEGINNINGS = (
    "# AGENTS.md instructions",
    *(f"<{tag}{end}" for tag in _PROGRAM_TAGS for end in (">", " ", "\n")),
)
_EDITOR_BEGINNING = "# Context from my IDE setup:"
_EDITOR_REQUEST = "## My request for Codex:"
_IMAGE_TYPES = ("input_image", "image", "local_image")


class UserText(NamedTuple):
    """The person's text and the program's text in one message."""

    human: str
    program: str
    images: int


def split_user_text(payload: Payload) -> UserText:
    """Separate the person's text in a user message from the program's."""
    kinds = sequence(mapping(payload.internal_chat_message_metadata_passthrough).get("content_item_kinds"))
    human: list[str] = []
    program: list[str] = []
    images = 0
    for place, part in enumerate(_parts(payload.content)):
        if part.get("type") in _IMAGE_TYPES:
            images += 1
            continue
        piece = string(part.get("text"))
        if _is_image_frame(piece):
            continue
        kind = string(kinds[place]) if place < len(kinds) else ""
        if kind.startswith("user.") or (kind in ("", "unknown") and not piece.startswith(_PROGRAM_BEGINNINGS)):
            context, request = _split_editor_context(piece)
            human.append(request)
            program.append(context)
        else:
            program.append(piece)
    return UserText(_join(human), _join(program), images)


def message_text(content: object) -> str:
    """All the text of a message."""
    return _join([string(part.get("text")) for part in _parts(content)])


def _parts(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in sequence(content) if isinstance(part, dict)]


def _split_editor_context(piece: str) -> tuple[str, str]:
    # Editors put the open files before the request, in one text.
    if piece.startswith(_EDITOR_BEGINNING):
        context, mark, request = piece.partition(_EDITOR_REQUEST)
        if mark:
            return context.strip(), request.strip()
    return "", piece


def _is_image_frame(piece: str) -> bool:
    stripped = piece.strip()
    return stripped == "</image>" or (stripped.startswith("<image") and stripped.endswith(">") and "\n" not in stripped)


def _join(pieces: list[str]) -> str:
    return "\n\n".join(piece for piece in pieces if piece)


# Where a rollout's session came from, and which of its records are copies of the parent's.
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
    git = mapping(payload.git)
    heading.branch = string(git.get("branch"))
    heading.repository = normalise_remote(string(git.get("repository_url")))
    heading.commit = string(git.get("commit_hash"))
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


# Codex's token counts, each token counted once.
_NOTHING = (0, 0, 0, 0, 0)
Counts = tuple[int, int, int, int, int]
"""Input (with what came from the cache), from the cache, into the cache, output, reasoning."""


class TokenTally(msgspec.Struct):
    """The totals read so far."""

    total: Counts | None = None
    """The last running total."""
    base: Counts = _NOTHING
    """The part of the total that is not this session's own."""
    carried: Counts = _NOTHING
    """This session's own part of totals that were later reset."""
    by_record: bool = False
    """There are records of single responses, so running totals are ignored."""
    context: int | None = None
    """How full the context was at the last response."""

    def inherit(self, total: object) -> None:
        """Start from a total that belongs to the parent."""
        if (counts := counts_of(total)) is not None:
            self.total = self.base = counts

    def take_record(self, total: object, response: object) -> Usage | None:
        """What one response used by its record; None if nothing is new."""
        self.by_record = True
        return self._advance(total, response)

    def take_total(self, total: object, response: object) -> Usage | None:
        """What was used since the last running total; None if nothing is new."""
        return None if self.by_record else self._advance(total, response)

    def _advance(self, total: object, response: object) -> Usage | None:
        counts, used = counts_of(total), counts_of(response)
        if counts is None or counts == self.total:
            return None
        if self.total is not None and all(new >= old for new, old in zip(counts, self.total, strict=True)):
            used = _minus(counts, self.total)
        else:
            # The first total, or one that was reset: only the response itself is this session's.
            if self.total is not None:
                self.carried = _plus(self.carried, _minus(self.total, self.base))
            used = counts if used is None else _minimum(used, counts)
            self.base = _minus(counts, used)
        self.total = counts
        if used == _NOTHING:
            return None
        self.context = whole_number(mapping(response).get("total_tokens")) or self.context
        return usage_of(used)

    def own_total(self) -> Usage | None:
        """The program's total without the parent's part; None before there is one."""
        if self.total is None:
            return None
        return usage_of(_plus(self.carried, _minus(self.total, self.base)))


def counts_of(value: object) -> Counts | None:
    """A token block as numbers; None for anything else."""
    fields = mapping(value)
    if "input_tokens" not in fields and "output_tokens" not in fields:
        return None
    return (
        _count(fields, "input_tokens"),
        _count(fields, "cached_input_tokens"),
        _count(fields, "cache_write_input_tokens"),
        _count(fields, "output_tokens"),
        _count(fields, "reasoning_output_tokens"),
    )


def usage_of(counts: Counts) -> Usage:
    """As Preheat counts: tokens read from or written to the cache are not part of the input."""
    all_input, read, cache_written, output, reasoning = counts
    fresh = all_input - read - cache_written
    if fresh < 0:  # a version that does not count cache writes inside the input
        fresh = max(0, all_input - read)
    return Usage(input=fresh, output=output, cache_read=read, cache_write=cache_written, reasoning=reasoning)


def _count(fields: dict[str, Any], name: str) -> int:
    return max(0, whole_number(fields.get(name)) or 0)


def _minus(one: Counts, other: Counts) -> Counts:
    return (one[0] - other[0], one[1] - other[1], one[2] - other[2], one[3] - other[3], one[4] - other[4])


def _plus(one: Counts, other: Counts) -> Counts:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3], one[4] + other[4])


def _minimum(one: Counts, other: Counts) -> Counts:
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
        min(one[4], other[4]),
    )
