"""The tree of JSON files that OpenCode kept before its database, written out as the same lines.

`storage/session/<project>/<session>.json` names a session, `message/<session>/` and `part/<message>/` hold the rest. Newer
versions leave the tree where it is; it may hold sessions that the database has too, under the same ids.
"""

import os
from collections.abc import Iterator
from typing import Any

from preheat.agents.chat import mapping
from preheat.agents.databases import digest_of, line_of
from preheat.agents.parsing import decode_json, epoch_seconds
from preheat.agents.places import storable_path
from preheat.agents.reader import DatabasePart
from preheat.errors import SourceUnreadable


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
        with open(path, "rb") as file:
            value = decode_json(file.read())
    except OSError as error:
        return {}, f"it cannot be read ({os.strerror(error.errno) if error.errno else error})"
    except (ValueError, RecursionError) as error:
        return {}, f"not a whole JSON document ({str(error)[:120]})"
    return (value, "") if isinstance(value, dict) else ({}, "not a JSON object")


def _problem(path: str, reason: str) -> bytes:
    return line_of("problem", {"message": f"`{storable_path(os.path.basename(path))}`: {reason}"})


def _name_of(path: str) -> str:
    return os.path.basename(path).removesuffix(".json")
