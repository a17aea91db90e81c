"""Checks what a model gives to a tool against the tool's schema, and makes good what differs harmlessly.

Of JSON schema it knows what the tools use: types, enumerations, bounds, required names. Models send `"5"` for 5, `null` for
nothing and `"a, b"` for a list; all of that is clear enough to be taken. What is not is refused with a line that says how.
"""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec

from preheat.errors import UserError

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
            says = known[name].get("description", "")
            raise UserError(f"`{name}` is missing; give it{': ' + _uncapitalize(says) if says else ''}")
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
