"""The editor's `state.vscdb`, read-only: which conversations are in it, and each one's bubbles written out as lines.

One table of keys and JSON values holds everything. A conversation is `composerData:<id>`, whose headers give the order, and
one `bubbleId:<id>:<bubble>` for each message; bubbles that no header names were taken back and are left alone. Knows nothing
of what a bubble means.

A line is `{"table": name, "row": members}`: first the composer, then its bubbles.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.databases import decode_text, digest_of, line_of, open_read_only, rows
from preheat.agents.parsing import decode_json
from preheat.agents.reader import DatabasePart
from preheat.errors import SourceUnreadable

TABLE = "cursorDiskKV"
_COMPOSER = "composerData:"
_BUBBLE = "bubbleId:"
_INLINE = '"conversation":[{'
"""Found in records of the first versions, which hold the messages themselves."""
_FACTS = 3
_LEFT_OUT = frozenset(
    [
        # Dumped one by one, or not sent yet.
        "conversation", "conversationMap", "fullConversationHeadersOnly", "capabilities", "richText",
        # Copies of files, of the screen and of the context: large, and no messages.
        "originalFileStates", "codeBlockData", "context", "conversationState", "attachedCodeChunks", "codebaseContextChunks",
        "attachedFileCodeChunksMetadataOnly", "recentlyViewedFiles", "currentFileLocationData", "projectLayouts",
        "ideEditorsState", "suggestedCodeBlocks", "assistantSuggestedDiffs", "gitDiffs", "diffHistories", "fileDiffTrajectories",
        "intermediateChunks", "approximateLintErrors", "lints", "allThinkingBlocks", "supportedTools",
    ]
)  # fmt: skip


def is_cursor_database(path: str) -> bool:
    """Whether a database has Cursor's table. Raises SourceUnreadable."""
    with open_read_only(path) as database:
        return _has_table(database)


def parts(path: str) -> list[DatabasePart]:
    """The conversations, each with a stamp of its row numbers: every write of a row gives it a new number."""
    with open_read_only(path) as database:
        _check(database)
        known: dict[str, list[Any]] = {}
        query = (
            f"SELECT key, rowid, length(value), instr(value, '{_INLINE}') > 0"  # noqa: S608
            f" FROM {TABLE} WHERE key >= ? AND key < ?"
        )
        for row in rows(database, query, *_span(_COMPOSER)):
            known[decode_text(row[0])[len(_COMPOSER) :]] = [*row[1:]]
        # Answered from the index alone: the values are what makes these databases large.
        query = f"SELECT key, rowid FROM {TABLE} WHERE key >= ? AND key < ? ORDER BY key"  # noqa: S608
        for row in rows(database, query, *_span(_BUBBLE)):
            facts = known.get(decode_text(row[0])[len(_BUBBLE) :].partition(":")[0])
            if facts is not None:
                facts.append(row[1])
    # The editor creates an empty conversation whenever somebody opens the panel: these are left out.
    return [DatabasePart(name, digest_of(facts)) for name, facts in known.items() if len(facts) > _FACTS or facts[2]]


def dump(path: str, part: str) -> Iterator[bytes]:
    """One conversation's rows as lines, all from the same point in time."""
    with open_read_only(path) as database:
        _check(database)
        composer = _value(database, f"{_COMPOSER}{part}")
        composer_fields = mapping(composer)
        row = {"composerId": part, **_without_empty(composer_fields)}
        row.pop("text", None)  # typed but not sent
        if not isinstance(composer, dict):
            row["unreadable"] = composer
        yield line_of("composer", row)
        older = _older_tools(composer_fields)
        inline = [mapping(bubble) for bubble in sequence(composer_fields.get("conversation"))]
        headers = [mapping(header) for header in sequence(composer_fields.get("fullConversationHeadersOnly"))]
        stored = (_bubble(database, part, string(header.get("bubbleId"))) for header in headers)
        for bubble in inline or stored:
            name = string(bubble.get("bubbleId"))
            if "toolFormerData" not in bubble and name in older:
                bubble = {**bubble, "toolFormerData": older[name]}
            yield line_of("bubble", _without_empty(bubble))


def _bubble(database: sqlite3.Connection, part: str, name: str) -> dict[str, Any]:
    value = _value(database, f"{_BUBBLE}{part}:{name}")
    if isinstance(value, dict):
        return {"bubbleId": name, **value}
    return {"bubbleId": name, "unreadable": value} if value is not None else {"bubbleId": name, "missing": True}


def _value(database: sqlite3.Connection, key: str) -> Any:
    row = rows(database, f"SELECT value FROM {TABLE} WHERE key = ?", key).fetchone()  # noqa: S608
    if row is None or row[0] is None:
        return None
    value = decode_text(row[0])
    try:
        return decode_json(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return value


def _without_empty(row: dict[str, Any]) -> dict[str, Any]:
    """The members of a row that hold something; most of a bubble's are empty or refer to other rows."""
    return {
        name: value
        for name, value in row.items()
        if name not in _LEFT_OUT and not name.endswith("EncryptionKey") and value not in (None, "", [], {})
    }


def _older_tools(composer: dict[str, Any]) -> dict[str, Any]:
    """Tool calls by bubble, which the first version kept beside the bubbles."""
    found: dict[str, Any] = {}
    for capability in sequence(composer.get("capabilities")):
        bubbles = mapping(mapping(capability).get("data")).get("bubbleDataMap")
        if isinstance(bubbles, str):
            try:
                bubbles = decode_json(bubbles.encode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
        found.update(mapping(bubbles))
    return found


def _span(prefix: str) -> tuple[str, str]:
    """The range of keys that begin with a prefix, which the database finds by its index."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _has_table(database: sqlite3.Connection) -> bool:
    return {"key", "value"} <= {row[1] for row in rows(database, f"PRAGMA table_info({TABLE})")}


def _check(database: sqlite3.Connection) -> None:
    if not _has_table(database):
        raise SourceUnreadable(f"it is no Cursor database that Preheat can read: it has no table `{TABLE}`")
