"""The file format of templates: reads any version of it, converts those of the first implementations. Knows no store.

Any bytes give a valid template or a `UserError` that says in one line what is wrong.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from math import isfinite
from typing import Any, TypeAlias

import msgspec

from preheat.errors import UserError
from preheat.files import FileTooLarge
from preheat.files import read_file as read_plain_file
from preheat.model.lesson import Scope, lesson_id
from preheat.model.template import TEMPLATE_FORMAT, Template
from preheat.templates.names import canonical_json, check_name, make_name

# Converts templates of the first implementations to the present format.
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


# Reads a template from bytes of any version of the format.
LARGEST = 10_000_000
"""The largest file, in bytes: twenty times the largest template of real sessions."""


UPGRADES: dict[int, Callable[[Raw], Raw]] = {0: upgrade_seed}
"""By format version: the function that upgrades to the next version. None is ever removed."""


def load_template(data: bytes, where: str) -> Template:
    """The template in a file; `where` names the file in messages."""
    return make_template(decode_object(data, where), where)


def decode_object(data: bytes, where: str) -> Raw:
    """The JSON object in a file."""
    if len(data) > LARGEST:
        raise too_large_error(where)
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"`{where}` cannot be read as JSON ({error}); get a fresh copy of it") from error
    if not isinstance(raw, dict):
        raise UserError(f"`{where}` is no template: it holds no JSON object")
    return raw


def make_template(raw: Raw, where: str) -> Template:
    """The template in a JSON object, upgraded to the present format."""
    version = version_of(raw, where)
    try:
        while version < TEMPLATE_FORMAT:
            raw = UPGRADES[version](raw)
            version += 1
        template = msgspec.convert({**raw, "format": TEMPLATE_FORMAT}, Template)
        canonical_json(template)  # raises if it could not be written again
    except (msgspec.ValidationError, UserError, RecursionError, OverflowError, ValueError) as error:
        raise UserError(f"`{where}` is no template: {error}") from error
    _check(template, where)
    return template


def version_of(raw: Raw, where: str) -> int:
    """The format version of a file; 0 for files of the first implementations."""
    version = raw.get("format")
    if version is None and is_seed(raw):
        return 0
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UserError(f"`{where}` is no template: it does not say its format")
    if version > TEMPLATE_FORMAT:
        raise UserError(
            f"`{where}` is of format {version}, from a newer Preheat; this one reads up to {TEMPLATE_FORMAT}: update Preheat"
        )
    return version


def read_file(path: str) -> bytes:
    """The bytes of a file. Raises UserError if it is too large."""
    try:
        return read_plain_file(path, LARGEST)
    except FileTooLarge as error:
        raise too_large_error(path) from error


def too_large_error(where: str) -> UserError:
    return UserError(f"`{where}` is larger than {LARGEST // 1_000_000} MB, which no template is")


def _check(template: Template, where: str) -> None:
    """Check what the types do not guarantee. Raises UserError."""
    try:
        check_name(template.name)
    except UserError as error:
        raise UserError(f"`{where}` is no template: {error}") from error
    seen: set[str] = set()
    for lesson in template.lessons:
        if not lesson.id or lesson.id in seen:
            raise UserError(f"`{where}` is no template: its lessons have no ids of their own (`{lesson.id}`)")
        if lesson.example is not None and not lesson.example.arguments:
            raise UserError(f"`{where}` is no template: the example `{lesson.id}` has no arguments")
        if not all(map(isfinite, (lesson.score, lesson.half_life, lesson.cost_seconds))):
            raise UserError(f"`{where}` is no template: `{lesson.id}` has a number that is none")
        seen.add(lesson.id)
