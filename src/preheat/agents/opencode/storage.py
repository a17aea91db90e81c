"""OpenCode's database and the older tree of JSON files, read-only: which sessions are there, each written out as lines.

A line is `{"table": name, "row": columns}`: the session, then each message followed by its parts, and `end`. Columns of the
database are looked up, not assumed: the schema grows with every release. In the tree, `storage/session/<project>/<session>.json`
names a session, `message/<session>/` and `part/<message>/` hold the rest; it may hold sessions that the database has too,
under the same ids. Knows nothing of what the rows mean.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from preheat.agents.chat import mapping
from preheat.agents.databases import (
    columns_of,
    digest_of,
    first_row,
    line_of,
    open_read_only,
    record_of,
    require_columns,
    rows,
)
from preheat.agents.documents import read_whole
from preheat.agents.parsing import decode_json, epoch_seconds
from preheat.agents.places import storable_path
from preheat.agents.reader import DatabasePart
from preheat.errors import SourceUnreadable

# OpenCode's database, read-only
_NEEDED = {
    "session": {"id"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
_DISTINCTIVE = {"session": {"project_id", "directory", "slug"}}
"""Further columns by which the database is recognised as OpenCode's."""
_NEWER_TABLE = "session_message"
"""Meant to replace `message` and `part`; still empty in 1.18."""
_TABLES = (*_NEEDED, _NEWER_TABLE)
_STAMP = ("title", "parent_id", "revert", "version", "tokens_input", "tokens_output", "time_updated", "time_archived")


def list_database(path: str) -> list[DatabasePart]:
    """The sessions, each with a stamp. Rows are rewritten in place, so the time of the newest change is part of the stamp."""
    with open_read_only(path) as database:
        columns = _require_columns(database)
        known: dict[str, list[Any]] = {}
        names = [name for name in _STAMP if name in columns["session"]]
        for row in rows(database, f"SELECT id, {', '.join(names or ['id'])} FROM session"):  # noqa: S608
            known[str(row[0])] = [*row[1:]]
        for table in ("message", "part", _NEWER_TABLE):
            if "session_id" in columns[table]:
                changed = "MAX(time_updated)" if "time_updated" in columns[table] else "MAX(id)"
                query = f"SELECT session_id, COUNT(*), {changed} FROM {table} GROUP BY session_id"  # noqa: S608
                for row in rows(database, query):
                    known.setdefault(str(row[0]), []).append([table, *row[1:]])
    return [DatabasePart(session, digest_of(facts)) for session, facts in known.items()]


def dump_database(path: str, part: str) -> Iterator[bytes]:
    """One session's rows as lines, from one consistent state of the database."""
    with open_read_only(path) as database:
        columns = _require_columns(database)
        session = first_row(database, "SELECT * FROM session WHERE id = ?", part) or {"id": part}
        yield line_of("session", session)
        count = 0
        order = "time_created, id" if "time_created" in columns["message"] else "id"
        query = f"SELECT * FROM message WHERE session_id = ? ORDER BY {order}"  # noqa: S608
        for row in rows(database, query, part):
            message = _decode_row(row)
            yield line_of("message", message)
            count += 1
            for inner in rows(database, "SELECT * FROM part WHERE message_id = ? ORDER BY id", message["id"]):
                yield line_of("part", _decode_row(inner))
        if not count and "session_id" in columns[_NEWER_TABLE]:
            for row in rows(database, f"SELECT * FROM {_NEWER_TABLE} WHERE session_id = ?", part):  # noqa: S608
                yield line_of(_NEWER_TABLE, _decode_row(row))
        yield line_of("end", {"messages": count})


def is_opencode_database(path: str) -> bool:
    """Whether a database has OpenCode's tables. Raises SourceUnreadable."""
    with open_read_only(path) as database:
        columns = columns_of(database, _TABLES)
    return all((_NEEDED[table] | _DISTINCTIVE.get(table, set())) <= columns[table] for table in _NEEDED)


def _require_columns(database: sqlite3.Connection) -> dict[str, set[str]]:
    columns = columns_of(database, _TABLES)
    require_columns(columns, _NEEDED, "OpenCode")
    return columns


def _decode_row(row: sqlite3.Row) -> dict[str, Any]:
    """A row with its JSON decoded; text that is not JSON stays text, which the parser reports as a problem."""
    record = record_of(row)
    with suppress(ValueError, RecursionError):
        record["data"] = decode_json(str(record.get("data")).encode())
    return record


# The tree of JSON files that OpenCode kept before its database, written out as the same lines.
def list_tree(path: str) -> list[DatabasePart]:
    """The one session of a file, with a stamp over every file that belongs to it."""
    facts: list[Any] = []
    for place in (path, *_files_of(path)):
        try:
            status = os.stat(place)
        except OSError:
            continue
        facts.append((storable_path(os.path.basename(place)), status.st_size, status.st_mtime_ns))
    if not facts:
        raise SourceUnreadable("it is not there (any more)")
    return [DatabasePart(_name_of(path), digest_of(facts))]


def dump_tree(path: str, part: str) -> Iterator[bytes]:
    """The session's files as lines, in the order of their time. Raises SourceUnreadable without the session's own file."""
    value, reason = _read(path)
    if reason:
        raise SourceUnreadable(reason)
    yield line_of("session", value)
    messages = []
    for file in _messages_of(path):
        message, reason = _read(file)
        if reason:
            yield _problem(file, reason)
        else:
            messages.append(
                (epoch_seconds(mapping(message.get("time")).get("created")) or 0.0, _name_of(file), message)
            )
    for _, name, message in sorted(messages, key=lambda each: each[:2]):
        yield line_of("message", message)
        for file in _parts_of(path, name):
            piece, reason = _read(file)
            yield _problem(file, reason) if reason else line_of("part", piece)
    yield line_of("end", {"messages": len(messages)})


def _files_of(path: str) -> Iterator[str]:
    for message in _messages_of(path):
        yield message
        yield from _parts_of(path, _name_of(message))


def _messages_of(path: str) -> list[str]:
    return _files(os.path.join(_storage(path), "message", _name_of(path)))


def _parts_of(path: str, message: str) -> list[str]:
    return _files(os.path.join(_storage(path), "part", message))


def _storage(path: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))


def _files(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    except OSError:
        return []


def _read(path: str) -> tuple[dict[str, Any], str]:
    """The object in a file and an empty text, or why it cannot be read."""
    try:
        value = decode_json(read_whole(path))
    except OSError as error:
        return {}, f"it cannot be read ({error.strerror or error})"
    except (ValueError, RecursionError) as error:
        return {}, f"not a whole JSON document ({str(error)[:120]})"
    return (value, "") if isinstance(value, dict) else ({}, "not a JSON object")


def _problem(path: str, reason: str) -> bytes:
    return line_of("problem", {"message": f"`{storable_path(os.path.basename(path))}`: {reason}"})


def _name_of(path: str) -> str:
    return os.path.basename(path).removesuffix(".json")
