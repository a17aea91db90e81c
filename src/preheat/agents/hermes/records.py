"""The rows of Hermes's database: the text of a message, which messages are copies, and who started a session out of which other.

When Hermes compacts a conversation it stores the kept messages again: the first few before the summary, the last ones after it. A
session that goes on after a compaction, and a branch, begin with copies of the parent's messages. A message counts as a copy only
where copies can be: the same words said twice are two messages. Knows no database and no events.
"""

import json
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from preheat.agents.parsing import decode_json, epoch_seconds
from preheat.agents.reader import Heading
from preheat.model.session import Relation, Starter, Usage

# Messages.
_MULTIMODAL = "\x00json:"
_IMAGE_TYPES = ("image_url", "image", "input_image")
_STRIPPED_IMAGE = "[Attached image — stripped after compression]"

_SUMMARY_STARTS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_SUMMARY_END = "--- END OF CONTEXT SUMMARY"
_PRIOR_START = "[PRIOR CONTEXT"
_PRIOR_END = "[END OF PRIOR CONTEXT"

_PROGRAM_STARTS = (
    "[Your active task list was preserved",
    "[IMPORTANT: ",
    "[ASYNC DELEGATION",
    "[Continuing toward your standing goal]",
    "[System: ",
)
REVIEW = "Review the conversation above and "
"""The beginning of the prompt with which Hermes reviews a session by itself."""


class Content(NamedTuple):
    """The text of a message and how many images went with it."""

    text: str
    images: int = 0


class SummaryMessage(NamedTuple):
    """A message that contains a compaction's summary, and the text before and after it."""

    before: str
    summary: str
    after: str


def content_of(value: Any) -> Content:
    """A stored `content`: plain text, or a list of parts after a mark."""
    if value is None:
        return Content("")
    if not isinstance(value, str):
        return Content(json.dumps(value))
    if not value.startswith(_MULTIMODAL):
        return Content(value)
    encoded = value[len(_MULTIMODAL) :]
    try:
        parts = decode_json(encoded.encode())
    except (ValueError, RecursionError):
        return Content(encoded)
    if not isinstance(parts, list):
        return Content(encoded)
    texts, images = [], 0
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            if part.get("type") in _IMAGE_TYPES:
                images += 1
            elif isinstance(text, str) and text != _STRIPPED_IMAGE:
                texts.append(text)
    return Content("\n".join(texts), images)


def find_summary(text: str) -> SummaryMessage | None:
    """The summary of a compaction in a message, alone or merged with a neighbouring message."""
    start = text.lstrip()
    if start.startswith(_PRIOR_START) and _PRIOR_END in start:
        return _split_headings(start)
    if start.startswith(_SUMMARY_STARTS):
        # Older versions put the message after the summary.
        return SummaryMessage("", *_split_end(start))
    for mark in _SUMMARY_STARTS:
        before, found, rest = text.partition(f"\n\n{mark}")
        if found and _SUMMARY_END in rest:
            return SummaryMessage(before.strip(), *_split_end(mark + rest))
    return None


def _split_headings(text: str) -> SummaryMessage:
    """Split a message of newer versions: the message is first, under a heading, and each further compaction adds one."""
    depth = 0
    while text.startswith(_PRIOR_START):
        text, depth = _after_line(text), depth + 1
    message, *summaries = text.split(_PRIOR_END, depth)
    return SummaryMessage(message.strip(), _split_end(_after_line(summaries[-1]))[0] if summaries else "", "")


def _after_line(text: str) -> str:
    return text.partition("\n")[2].strip()


def _split_end(text: str) -> tuple[str, str]:
    summary, _, rest = text.partition(_SUMMARY_END)
    return summary.strip(), _after_line(rest)


def is_written_by_program(text: str) -> bool:
    """Whether a user message is the program's own."""
    return text.lstrip().startswith((*_PROGRAM_STARTS, REVIEW))


def key_of(row: dict[str, Any], text: str | None = None) -> str:
    """A key that a message shares with its copies: of the calls it makes or answers, else of its role and text.

    Copies are stored with shortened results and without images, so these are not part of the key.
    """
    role = row.get("role")
    if role == "tool" and row.get("tool_call_id"):
        mark = f"result {row['tool_call_id']}"
    elif role == "assistant" and (calls := _readable_calls(row)):
        mark = "calls " + " ".join(call_id(call) for call in calls)
    else:
        mark = f"{role} {(content_of(row.get('content')).text if text is None else text).strip()}"
    return blake2b(mark.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _readable_calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        return calls_of(row)
    except (ValueError, RecursionError):
        return []


def calls_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool calls of a message. Raises ValueError if they cannot be read."""
    value = row.get("tool_calls")
    if isinstance(value, str):
        value = decode_json(value.encode()) if value.strip() else None
    if isinstance(value, dict):
        value = [value]
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError("`tool_calls` is no list")
    return [call for call in value if isinstance(call, dict)]


def call_id(call: dict[str, Any]) -> str:
    """A call's identifier; empty if it has none."""
    return str(call.get("id") or call.get("call_id") or "")


# Copies of messages.
SAME_MOMENT = 5e-6
"""Seconds. Copies are stored together, a microsecond apart; messages of a conversation never are."""
SAME_BATCH = 1e-3
"""Seconds between two stored rows of one compaction, when copies between them keep the originals' times."""


class Entry(msgspec.Struct, array_like=True):
    """A message of the conversation as the model saw it, and the line at which it was first read."""

    key: str
    line: int


class WaitingRow(msgspec.Struct):
    """A message that may turn out to be a copy."""

    row: dict[str, Any]
    line: int


class CopyTracker(msgspec.Struct):
    """Follows the rows of one session; part of the parser's state."""

    entries: list[Entry] = msgspec.field(default_factory=list)
    """The conversation since the last compaction."""
    reference: list[Entry] = msgspec.field(default_factory=list)
    """The messages that copies are looked up in."""
    cursor: int = -1
    """The index in `reference` of the last copy's original."""
    copying: bool = False
    summarised: bool = False
    """The summary of this compaction was read."""
    archived: bool = False
    """The previous row was compacted away, so a compaction may begin here."""
    newest: float = 0.0
    """The latest time of a row so far."""
    boundary: float = 0.0
    """The latest time before the copies began; copies in a resumed session keep the originals' times."""
    stored: float = 0.0
    """When the copies were stored; 0 as long as all copies read kept the originals' times."""
    in_place: bool = False
    """The copies are of this session's own messages."""
    waiting: list[WaitingRow] = msgspec.field(default_factory=list)

    def begin_with(self, keys: list[str]) -> None:
        """Expect the session to begin with copies of the parent's messages."""
        self.reference = [Entry(key, 0) for key in keys]
        self.copying = bool(keys)

    def may_begin(self, key: str) -> bool:
        """Whether this message may be the next of the copies with which a compaction begins."""
        place = len(self.waiting)
        return self.archived and not self.copying and place < len(self.entries) and self.entries[place].key == key

    def is_stored_together(self, time: float) -> bool:
        """Whether a row with this time was stored together with the waiting rows."""
        times = [_time_of(waiting.row) for waiting in self.waiting] + [time]
        return len(times) > 1 and all(abs(later - earlier) < SAME_MOMENT for earlier, later in pairwise(times))

    def begin(self, time: float) -> None:
        """Begin a compaction with a row of this time: the waiting rows were copies."""
        self.boundary, self.in_place = self.newest, True
        self.stored = time if time > self.newest else 0.0
        self.reference, self.entries = self.entries, self.entries[: len(self.waiting)]
        self.cursor = len(self.waiting) - 1
        self.waiting = []
        self.copying, self.summarised = True, False

    def find_original(self, key: str) -> Entry | None:
        """The message that this one is a copy of."""
        if not self.copying:
            return None
        for place in range(self.cursor + 1, len(self.reference)):
            if self.reference[place].key == key:
                self.cursor = place
                return self.reference[place]
        return None

    def stop(self) -> None:
        """Expect no more copies."""
        self.copying = False
        self.reference = []

    def may_still_copy(self, time: float) -> bool:
        """Whether copies may follow a row that is not a copy: it was stored with them, or is as old as they are."""
        if 0 < time <= self.boundary:
            return True
        if abs(time - self.stored) < SAME_BATCH or (self.in_place and not self.stored):
            self.stored = time
            return True
        return False

    def take_back(self, after: int) -> None:
        """Forget the messages after a line, which the person rewound."""
        self.entries = [entry for entry in self.entries if entry.line <= after]


def _time_of(row: dict[str, Any]) -> float:
    time = row.get("timestamp")
    return float(time) if isinstance(time, int | float) else 0.0


# Sessions.
_STARTERS: dict[str, Starter] = {
    "cron": "headless",
    "batch": "headless",
    "webhook": "headless",
    "api_server": "headless",
    "tool": "background",
    "curator": "background",
    "unknown": "unknown",
    "": "unknown",
    "preheat": "preheat",
}
"""Starters by `source`; in all other sources (`cli`, `tui`, `desktop`, `acp`, the chat platforms) people type."""
_ORPHANED = "__orphaned__"


def fill_heading(heading: Heading, session: dict[str, Any]) -> None:
    """Fill a heading from the session's row and, under `lineage`, its parent's row."""
    lineage = session.get("lineage")
    lineage = lineage if isinstance(lineage, dict) else {}
    config = _config(session.get("model_config"))
    heading.id = str(session.get("id") or "")
    heading.model = _text(session.get("model")) or _text(config.get("model"))
    heading.project = _text(session.get("cwd")) or _text(lineage.get("cwd")) or _text(session.get("git_repo_root"))
    heading.branch = _text(session.get("git_branch")) or _text(lineage.get("git_branch"))
    heading.title = _text(session.get("title"))
    heading.relation, heading.parent = _relation(session, config, lineage)
    heading.starter = _starter(session, lineage)
    heading.reported = _reported_usage(session)
    heading.include_time(epoch_seconds(session.get("started_at")))
    heading.include_time(epoch_seconds(session.get("ended_at")))


def is_review(text: str) -> bool:
    """Whether a session's first prompt is the program's review of another session."""
    return text.lstrip().startswith(REVIEW)


def _relation(
    session: dict[str, Any], config: dict[str, Any], lineage: dict[str, Any]
) -> tuple[Relation | None, str | None]:
    parent = _text(session.get("parent_session_id"))
    delegated, branched = _text(config.get("_delegate_from")), _text(config.get("_branched_from"))
    end = lineage.get("end_reason")
    # Children inherit the marks: a subagent that was compacted still names the first parent.
    if parent and end == "compression" and parent not in (delegated, branched):
        return "compaction", parent
    if delegated or session.get("source") == "subagent":
        parent_id = parent or delegated
        return "subagent", parent_id if parent_id and parent_id != _ORPHANED else None
    if branched or (parent and end == "branched"):
        return "fork", parent or branched
    return ("continuation", parent) if parent else (None, None)


def _starter(session: dict[str, Any], lineage: dict[str, Any]) -> Starter:
    source = _text(session.get("source"))
    if source == "subagent":
        # Whoever started the session that delegated the task.
        source = _text(lineage.get("source"))
        return _STARTERS.get(source, "human") if source != "subagent" else "unknown"
    if source == "cli" and session.get("end_reason") == "agent_close":
        return "headless"
    return _STARTERS.get(source, "human")


def _reported_usage(session: dict[str, Any]) -> Usage | None:
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    counts = [session.get(f"{name}_tokens") for name in names]
    numbers = [count if isinstance(count, int) and count > 0 else 0 for count in counts]
    return Usage(*numbers) if any(numbers) else None


def _config(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = decode_json(value.encode())
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
