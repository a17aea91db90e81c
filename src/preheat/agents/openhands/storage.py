"""A conversation's folder, read as if it were a database: which session is in it, and its files written out as lines.

A line is `{"record": kind, "value": …}`: first the `state`, then an `event` for each event file in the order of their
numbers, a `child` for each subagent's conversation, and `end`. Knows nothing of what the events mean. Nothing is written
and nothing is locked: a half-written event file becomes a problem.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import mapping, string
from preheat.agents.documents import read_whole
from preheat.agents.openhands import EVENTS, STATE, SUBAGENTS, conversation_at
from preheat.agents.parsing import decode_json
from preheat.agents.reader import DatabasePart
from preheat.errors import SourceUnreadable

_EVENT_NAME = re.compile(r"event-(\d+)-.+\.json$")
_LEFT_OUT = ("agent", "secret_registry", "agent_state")
"""Members of the state that are left out: the program's long set-up, and secrets."""


def parts(path: str) -> list[DatabasePart]:
    """The one session of the folder."""
    folder = os.path.dirname(path)
    found = conversation_at(folder)
    if found is None:
        raise SourceUnreadable("it is not there (any more)")
    return [DatabasePart(session_name(folder), found.stamp)]


def session_name(folder: str) -> str:
    """The conversation's id without dashes, like its folder's name; in the state it has dashes."""
    return os.path.basename(os.path.abspath(folder)).replace("-", "") or "conversation"


def dump(path: str, part: str) -> Iterator[bytes]:
    """The files of the conversation as lines."""
    folder = os.path.dirname(os.path.abspath(path))
    yield _line("state", _read_state(path, folder))
    names = _event_names(os.path.join(folder, EVENTS))
    for name in names:
        yield _read_event(os.path.join(folder, EVENTS, name), name)
    for child in _children(folder):
        yield _line("child", {"id": child})
    yield _line("end", {"events": len(names)})


def _read_state(path: str, folder: str) -> dict[str, Any]:
    try:
        state = mapping(decode_json(read_whole(path)))
    except OSError as error:
        raise SourceUnreadable(error.strerror or str(error)) from error
    except (ValueError, RecursionError):
        state = {}
    state_fields = {name: value for name, value in state.items() if name not in _LEFT_OUT}
    agent = mapping(state.get("agent"))
    state_fields["agent"] = {"kind": agent.get("kind"), "model": string(mapping(agent.get("llm")).get("model"))}
    state_fields["name"] = session_name(folder)
    above, group = os.path.split(os.path.dirname(folder))
    if group == SUBAGENTS and os.path.exists(os.path.join(above, STATE)):
        state_fields["parent"] = session_name(above)
    return state_fields


def _event_names(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    numbered = [(int(found[1]), name) for name in names if (found := _EVENT_NAME.match(name))]
    return [name for _, name in sorted(numbered)]


def _read_event(path: str, name: str) -> bytes:
    try:
        return _line("event", decode_json(read_whole(path)))
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, RecursionError) as error:
        why = str(error)[:120]
    return _line("problem", {"message": f"`{EVENTS}/{name}` cannot be read ({why})"})


def _children(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(os.path.join(folder, SUBAGENTS)))
    except OSError:
        return []
    folders = [os.path.join(folder, SUBAGENTS, name) for name in names]
    return [session_name(child) for child in folders if os.path.exists(os.path.join(child, STATE))]


def _line(record: str, value: Any) -> bytes:
    return msgspec.json.encode({"record": record, "value": value})
