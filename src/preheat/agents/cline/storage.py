"""The files of one Cline session written out as rows: its heading, its messages, where it was compacted, its totals.

Cline rewrites its files whole and keeps project, totals and compaction in files beside the messages; together they are read
like a small database. Nothing is ever written. Knows nothing of what the rows mean.
"""

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.cline import (
    COMPACTION,
    HISTORY,
    HISTORY_ITEM,
    MANIFEST,
    MESSAGES,
    companion_files,
    companions_stamp,
)
from preheat.agents.documents import read_whole
from preheat.agents.parsing import decode_json
from preheat.agents.places import stamp_of
from preheat.agents.reader import DatabasePart
from preheat.errors import SourceUnreadable

_KEPT_TEXT = 1024 * 1024


def messages_path(path: str) -> str:
    """The path of the messages file that a file belongs to; companion files are beside it."""
    folder, name = os.path.split(path)
    if name in (HISTORY, HISTORY_ITEM):
        return os.path.join(folder, HISTORY)
    for ending in (MESSAGES, COMPACTION, MANIFEST):
        if path.endswith(ending):
            return f"{path[: -len(ending)]}{MESSAGES}"
    return path


def parts(path: str) -> list[DatabasePart]:
    """The one session of the files."""
    messages = messages_path(path)
    try:
        stamp = stamp_of(os.stat(messages))
    except OSError as error:
        raise SourceUnreadable(
            f"its messages (`{os.path.basename(messages)}`) cannot be read: {error.strerror}"
        ) from error
    return [DatabasePart(session_name(messages), f"{stamp}{companions_stamp(messages)}")]


def session_name(messages: str) -> str:
    """The id of a session by its path: the file's name or, in editors, the task folder's."""
    folder, _, name = messages.replace("\\", "/").rpartition("/")
    if name == HISTORY:
        return os.path.basename(folder) or "task"
    return name.removesuffix(MESSAGES) or "session"


def dump(path: str) -> Iterator[bytes]:
    """The rows of the session, one JSON object each."""
    messages = messages_path(path)
    text = _read_file(messages)
    try:
        document = decode_json(text)
    except (ValueError, RecursionError) as error:
        readable_text = text[:_KEPT_TEXT].decode("utf-8", "replace")
        yield _row("unreadable", error=str(error)[:120] or type(error).__name__, text=readable_text)
        return
    companion_values = [_read_companion(companion) for companion in companion_files(messages)]
    if messages.endswith(HISTORY):
        yield _row("task", about=companion_values[0])
        for message in sequence(document) or sequence(mapping(document).get("messages")):
            yield _row("message", message=message)
        return
    about = {name: value for name, value in mapping(document).items() if name != "messages"}
    manifest, compaction = companion_values
    yield _row("session", about=about, manifest=manifest or _parent_manifest(messages))
    compacted_after = count(compaction.get("source_message_count"))
    for number, message in enumerate(sequence(mapping(document).get("messages")), 1):
        yield _row("message", message=message)
        if number == compacted_after:
            yield _row("compaction", summary=_summary(compaction), at=compaction.get("updated_at"))
    if not isinstance(mapping(document).get("messages"), list):
        yield _row("unreadable", error="no list of messages", text="")
    usage = mapping(manifest.get("metadata")).get("usage")
    if usage:
        yield _row("totals", usage=usage)


def _row(table: str, **fields: Any) -> bytes:
    return msgspec.json.encode({"table": table, **fields})


def _read_file(path: str) -> bytes:
    try:
        return read_whole(path)
    except OSError as error:
        raise SourceUnreadable(f"`{os.path.basename(path)}` cannot be read: {error.strerror}") from error


def _read_companion(path: str) -> dict[str, Any]:
    """The content of a companion file; empty if it is missing or unreadable."""
    try:
        return mapping(decode_json(_read_file(path)))
    except (SourceUnreadable, ValueError, RecursionError):
        return {}


def _parent_manifest(messages: str) -> dict[str, Any]:
    """Manifest fields for a subagent, which has none: those of the parent, in whose folder it lies."""
    folder = os.path.dirname(messages)
    parent = _read_companion(os.path.join(folder, f"{os.path.basename(folder)}{MANIFEST}"))
    return {name: parent[name] for name in ("cwd", "workspace_root", "interactive") if name in parent}


def _summary(compaction: dict[str, Any]) -> str:
    """The summary that replaced the messages."""
    for message in sequence(compaction.get("messages")):
        content = mapping(message).get("content")
        blocks = sequence(content) or [{"text": content}]
        text = "\n".join(string(mapping(block).get("text")) for block in blocks if string(mapping(block).get("text")))
        if text:
            return text
    return ""
