"""Converts templates of the first implementations to the present format. Knows no file.

There were three forms, all JSON without a format number: tool, user and recovery patterns (the first), `patterns` with a
`system_prompt_addendum` (the second), and a `seed` with system context, tool examples, user patterns and context markers (the
third). What has no place in the present format is left out.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

from preheat.model.lesson import Scope, lesson_id
from preheat.templates.digest import canonical_json
from preheat.templates.names import make_name

Raw: TypeAlias = dict[str, Any]

_SEED_KEYS = frozenset(["patterns", "seed", "tool_patterns", "tool_examples", "recovery_patterns"])
_MOST_TEXT = 2000
_SCORE = 0.3
"""The score of their lessons: below those that were learned here."""


def is_seed(raw: Raw) -> bool:
    """Whether an object without a format is a template of the first implementations."""
    return isinstance(raw.get("name"), str) and bool(_SEED_KEYS & raw.keys())


def upgrade_seed(raw: Raw) -> Raw:
    """Format 0 to format 1."""
    seed = raw["seed"] if isinstance(raw.get("seed"), dict) else {}
    both = {**raw, **seed}
    lessons = {lesson["id"]: lesson for lesson in (*_examples(both), *_repairs(both))}
    return {
        "format": 1,
        "name": make_name(str(raw["name"])),
        "description": _text(raw.get("description")),
        "addendum": _text(_first(both, "system_prompt_addendum", "system_context")),
        "lessons": list(lessons.values()),
        "markers": _texts(both.get("context_markers")),
        "user": _user(both),
        "tags": _texts(raw.get("tags")),
        "sources": _texts(_first(raw, "source_sessions", "source_session_id", "source_session")),
        "created_at": _timestamp(_first(raw, "created_at", "created")),
    }


def _examples(raw: Raw) -> Iterator[Raw]:
    for pattern in _objects(_first(raw, "patterns", "tool_examples", "tool_patterns")):
        tool = _text(_first(pattern, "tool_name", "tool", "name"))
        arguments = _first(pattern, "arguments", "args", "common_args")
        if not tool or not isinstance(arguments, dict) or not arguments:
            continue  # a call without arguments shows nothing
        worked = pattern.get("success_count")
        calls = worked if isinstance(worked, int) and not isinstance(worked, bool) and 0 < worked < 1_000_000 else 1
        yield {
            "id": lesson_id("example", Scope(tool=tool), canonical_json(arguments).decode("utf-8", "replace")),
            "kind": "example",
            "scope": {"tool": tool},
            "text": f"A call of `{tool}` that worked.",
            "forms": [tool],
            "example": {
                "tool": tool,
                "arguments": {str(name): value for name, value in arguments.items()},
                "result": _text(_first(pattern, "result_summary", "result")),
            },
            "support": {"calls_for": calls, "sessions_for": 1},
            "score": _SCORE,
        }


def _repairs(raw: Raw) -> Iterator[Raw]:
    for pattern in _objects(raw.get("recovery_patterns")):
        error = _text(_first(pattern, "error_message_pattern", "message_pattern", "error_type"))
        use = _text(_first(pattern, "recovery_strategy", "strategy"))
        if error and use:
            yield {
                "id": lesson_id("repair", Scope(), error, use),
                "kind": "repair",
                "scope": {},
                "text": f"After `{error}`: `{use}`.",
                "use": use,
                "error": error,
                "score": _SCORE,
            }


def _user(raw: Raw) -> Raw:
    found = raw.get("user_patterns")
    patterns = [found] if isinstance(found, dict) else list(_objects(found))
    first: Raw = patterns[0] if patterns else {}
    return {
        "style": _text(_first(first, "request_style", "style")) or "unknown",
        "feedback": _text(_first(first, "feedback_style", "feedback")).replace("-", "_") or "unknown",
        "domains": _texts(_first(first, "common_domains", "domains")),
        "preferred_tools": _texts(first.get("preferred_tools")),
    }


def _first(raw: Raw, *names: str) -> Any:
    """The value of the first of these names that has one."""
    return next((raw[name] for name in names if raw.get(name)), None)


def _objects(value: Any) -> Iterator[Raw]:
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))


def _text(value: Any) -> str:
    return value[:_MOST_TEXT] if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    several = value if isinstance(value, list) else [value]
    return [_text(each) for each in several if _text(each)]


def _timestamp(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
