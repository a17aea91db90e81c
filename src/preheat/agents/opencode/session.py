"""OpenCode's record of a session: a row of its database, or an object in its files and exports.

Knows nothing of messages, except how token counts are written.
"""

from typing import Any

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.parsing import decode_json, epoch_seconds
from preheat.agents.reader import Heading
from preheat.model.session import Usage

_UNTITLED = ("New session - ", "Child session - ")
_JSON = ("revert", "permission", "model", "metadata")


def info_of(row: dict[str, Any]) -> dict[str, Any]:
    """The session as an object, whether it was a row or an object already."""
    if "time" in row:
        return row
    info = {name: _decode(row.get(name)) if name in _JSON else value for name, value in row.items()}
    info["parentID"] = row.get("parent_id")
    info["time"] = {"created": row.get("time_created"), "updated": row.get("time_updated")}
    names = ("input", "output", "reasoning")
    cache = {name: row.get(f"tokens_cache_{name}") for name in ("read", "write")}
    info["tokens"] = {**{name: row.get(f"tokens_{name}") for name in names}, "cache": cache}
    return info


def fill_heading(heading: Heading, info: dict[str, Any]) -> None:
    """Fill a heading from a session's object."""
    time = mapping(info.get("time"))
    title = string(info.get("title"))
    heading.id = string(info.get("id"))
    heading.version = string(info.get("version"))
    heading.model = string(mapping(info.get("model")).get("id")) or heading.model
    heading.project = string(info.get("directory"))
    heading.title = "" if title.startswith(_UNTITLED) else title
    heading.parent = string(info.get("parentID")) or None
    heading.relation = "subagent" if heading.parent else None
    if heading.parent is None:
        heading.starter = "headless" if _denies_questions(info.get("permission")) else "human"
    used = usage_of(info.get("tokens"))
    heading.reported = used if used is not None and used.total else None
    heading.include_time(epoch_seconds(time.get("created")))
    heading.include_time(epoch_seconds(time.get("updated")))


def usage_of(value: object) -> Usage | None:
    """Tokens of a step or of a session. `output` is written without the reasoning, unless the total shows otherwise."""
    tokens = mapping(value)
    if not tokens:
        return None
    cache = mapping(tokens.get("cache"))
    reasoning, output = count(tokens.get("reasoning")), count(tokens.get("output"))
    used = Usage(
        count(tokens.get("input")), output, count(cache.get("read")), count(cache.get("write")), reasoning=reasoning
    )
    if reasoning and tokens.get("total") != used.total:
        used += Usage(output=reasoning)
    return used


def _denies_questions(permission: object) -> bool:
    # `opencode run` denies itself questions, because nobody is there to answer.
    return any(
        (mapping(rule).get("permission"), mapping(rule).get("action")) == ("question", "deny")
        for rule in sequence(permission)
    )


def _decode(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode_json(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return value
