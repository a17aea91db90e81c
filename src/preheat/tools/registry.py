"""All tools by name: checks the arguments against the tool's schema, runs the tool, and bounds its answer. Never raises.

Of JSON schema it knows what the tools use: types, enumerations, bounds, required names. Models send `"5"` for 5, `null` for
nothing and `"a, b"` for a list: such values are converted, others are refused with a line that says what would be right.
"""

import logging
import sqlite3
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec

from preheat.app.model_text import fit_quotes, map_texts, strip_invisible
from preheat.errors import ArchiveBusy, PreheatError, UserError
from preheat.tools.context import PROVISION, RESUME_PACKET
from preheat.tools.lessons import LESSONS, MISTAKES
from preheat.tools.sessions import PROFILE, SESSION_SEARCH, WHY
from preheat.tools.tool import MOST_TOKENS, Tool, ToolRequest, shorten_answer
from preheat.tools.warm_session import WARM_SESSION
from preheat.tools.where import WHERE

# Checking arguments against a tool's schema
_MAX_LENGTH = 60
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def check_arguments(schema: Mapping[str, Any], raw: Any) -> dict[str, Any]:
    """The arguments, converted to the types of the schema. Raises UserError."""
    known: Mapping[str, Any] = schema.get("properties", {})
    arguments = _object(raw, known)
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if name not in known:
            raise UserError(f"there is no argument `{_shorten(name)}`; {_advice(name, known)}")
        if value is not None:
            found[name] = _value(f"`{name}`", value, known[name])
    for name in schema.get("required", ()):
        if name not in found or found[name] == "":
            description = known[name].get("description", "")
            raise UserError(f"`{name}` is missing; give it{': ' + _uncapitalize(description) if description else ''}")
    return found


def _object(raw: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(raw, str) and raw.strip():  # some programs send the arguments as text
        try:
            raw = msgspec.json.decode(raw.encode("utf-8", "replace"))
        except (msgspec.DecodeError, RecursionError) as error:
            raise UserError(f"the arguments are not JSON ({error}); {_list_arguments(known)}") from error
    if raw is None or raw == "":
        return {}
    if not isinstance(raw, dict):
        raise UserError(f"the arguments must be one JSON object, not {_kind(raw)}; {_list_arguments(known)}")
    return {str(name): value for name, value in raw.items()}


def _advice(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, 1)
    return (
        f"did you mean `{close[0]}`? All: {', '.join(f'`{each}`' for each in known)}"
        if close
        else _list_arguments(known)
    )


def _list_arguments(known: Mapping[str, Any]) -> str:
    return f"it takes {', '.join(f'`{name}`' for name in known)}" if known else "it takes none"


def _value(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    wanted = schema.get("type", "")
    if wanted in _CONVERTERS:
        converted = _CONVERTERS[wanted](value)
        if converted is None:
            raise UserError(f"{name} must be {_NAMES[wanted]}, not {_kind(value)}; {_for_example(name, schema)}")
        value = converted
    if isinstance(value, list) and "items" in schema:
        value = [_value(f"an item of {name}", each, schema["items"]) for each in value]
    if "enum" in schema:
        value = _one_of(name, value, schema["enum"])
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and value < low) or (high is not None and value > high):
            raise UserError(f"{name} is {value:,}; give {_range(low, high)}")
    return value


def _one_of(name: str, value: Any, allowed: list[Any]) -> Any:
    if value in allowed:
        return value
    if isinstance(value, str):
        plain = value.strip().lower().replace("-", "_").replace(" ", "_")
        for each in allowed:
            if isinstance(each, str) and each.lower().replace("-", "_") == plain:
                return each
    several = ", ".join(f"`{each}`" for each in allowed)
    raise UserError(f"{name} cannot be `{_shorten(value)}`; give one of {several}")


def _range(low: Any, high: Any) -> str:
    if low is None or high is None:
        return f"at least {low:,}" if high is None else f"at most {high:,}"
    return f"{low:,} to {high:,}"


def _for_example(name: str, schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"give one of {', '.join(f'`{each}`' for each in schema['enum'])}"
    return f"for example {_EXAMPLES[schema['type']]}"


# Converters, one for each type; None where the value does not fit.
def _text(value: Any) -> str | None:
    if isinstance(value, bool | list | dict):
        return None
    # JSON can hold lone surrogates and zero bytes, which paths and the archive cannot.
    return str(value).replace("\0", "").encode("utf-8", "replace").decode()


def _integer(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


def _number(value: Any) -> float | int | None:
    if isinstance(value, str):
        try:
            value = float(value.strip().replace(",", "").replace("_", ""))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e15 else None  # excludes NaN and infinity, too


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _BOOLEANS.get(str(value).strip().lower()) if isinstance(value, str | int) else None


def _list(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return None if isinstance(value, dict) else [value]


def _dictionary(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "array": _list,
    "object": _dictionary,
}
_NAMES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_EXAMPLES = {
    "string": '"words"',
    "integer": "10",
    "number": "0.5",
    "boolean": "true",
    "array": '["one", "two"]',
    "object": "{}",
}


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return f"the text `{_shorten(value)}`"
    for kind, name in ((bool, "true or false"), (int | float, "a number"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return "nothing"


def _shorten(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"


def _uncapitalize(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}".rstrip(".")


# Running a tool by name
TOOLS: tuple[Tool, ...] = (
    PROVISION,
    WHERE,
    LESSONS,
    MISTAKES,
    SESSION_SEARCH,
    RESUME_PACKET,
    PROFILE,
    WHY,
    WARM_SESSION,
)
"""In the order in which they are listed: what helps a session most comes first."""
SLACK = 2
"""An answer may be this many times longer than asked for before it is cut without regard to its content."""
_LONGEST_LINE = 600

_log = logging.getLogger(__name__)


def find_tool(name: str) -> Tool | None:
    return next((each for each in TOOLS if each.name == name), None)


def call(name: str, arguments: Any, folder: str, cwd: str) -> dict[str, Any]:
    """Run a tool and return its answer: `{"success": true, …}`, or `{"success": false, "error": …, "next": …}`. `folder` is
    Preheat's; `cwd` is where the agent works."""
    tool = find_tool(name)
    if tool is None:
        close = get_close_matches(name, [each.name for each in TOOLS], 1)
        return _failure(folder, f"there is no tool `{name[:60]}`; {_list_tools(close)}")
    request = ToolRequest(folder, {}, cwd)
    try:
        valid = check_arguments(tool.schema, arguments)
        answer: dict[str, Any] = map_texts(
            strip_invisible, {"success": True, **tool.run(request._replace(arguments=valid))}
        )
        return shorten_answer(answer, SLACK * _wanted_tokens(valid))
    except ArchiveBusy as error:
        return _failure(folder, str(error), "try again in a moment")
    except UserError as error:
        return _failure(folder, str(error))
    except sqlite3.Error as error:
        return _failure(folder, str(request.home.translate_error(error)))
    except OSError as error:
        place = f"`{error.filename}`: " if error.filename else ""
        return _failure(folder, f"{place}{error.strerror or error}", "a person must fix this; go on without the tool")
    except PreheatError as error:
        return _failure(folder, str(error))
    except Exception as error:  # noqa: BLE001 - any error becomes an answer, so that the next call works
        _log.exception("the tool `%s` failed", name)
        return _failure(
            folder, f"`{name}` failed inside: {type(error).__name__}", "go on without it, and tell the person"
        )


def _wanted_tokens(arguments: dict[str, Any]) -> int:
    """Tokens that the answer should have at most."""
    wanted: list[int] = [arguments[name] for name in ("max_tokens", "budget") if name in arguments]
    return max([MOST_TOKENS, *wanted])


def _failure(folder: str, line: str, advice: str = "") -> dict[str, Any]:
    """An error as an answer; `folder` is Preheat's. Our error messages end in what to do, after a semicolon."""
    line = fit_quotes(" ".join(strip_invisible(line).split())[:_LONGEST_LINE], folder)
    problem, separator, next_step = line.rpartition("; ")
    if advice or not separator:
        return {"success": False, "error": line, "next": advice or "change the arguments, or go on without it"}
    return {"success": False, "error": problem, "next": next_step}


def _list_tools(close: list[str]) -> str:
    several = ", ".join(f"`{each.name}`" for each in TOOLS)
    return f"did you mean `{close[0]}`? There are {several}" if close else f"there are {several}"
