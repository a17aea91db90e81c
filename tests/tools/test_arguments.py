"""What a model gives to a tool: harmless differences are made good, and everything else is refused in words that help."""

from typing import Any

import pytest

from preheat.errors import UserError
from preheat.tools import TOOLS
from preheat.tools.registry import check_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "What it is called."},
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "share": {"type": "number"},
        "all": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["dead_end", "repair"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["one", "two"]}},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"name": "x"}, {"name": "x"}),
        ({"name": 5, "size": "5"}, {"name": "5", "size": 5}),
        ({"name": "x", "size": 3.0}, {"name": "x", "size": 3}),
        ({"name": "x", "share": "0.5"}, {"name": "x", "share": 0.5}),
        ({"name": "x", "all": "true"}, {"name": "x", "all": True}),
        ({"name": "x", "kind": "Dead-End"}, {"name": "x", "kind": "dead_end"}),
        ({"name": "x", "tags": "a, b"}, {"name": "x", "tags": ["a", "b"]}),
        ({"name": "x", "kinds": "two"}, {"name": "x", "kinds": ["two"]}),
        ({"name": "x", "size": None}, {"name": "x"}),
        ({"name": "~\0x\ud800"}, {"name": "~x?"}),
        ('{"name": "x"}', {"name": "x"}),
    ],
)
def test_harmless_differences_in_type_are_converted(given: Any, taken: Any) -> None:
    """Models send numbers as texts, null for nothing, and lists with commas."""
    assert check_arguments(SCHEMA, given) == taken


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "`name` is missing; give it: what it is called"),
        ({"name": ""}, "`name` is missing"),
        ({"nam": "x"}, "there is no argument `nam`; did you mean `name`?"),
        ({"zzz": "x"}, "there is no argument `zzz`; it takes `name`, `size`"),
        ({"name": "x", "size": "many"}, "`size` must be a whole number, not the text `many`; for example 10"),
        ({"name": "x", "size": 2.5}, "`size` must be a whole number"),
        ({"name": "x", "size": True}, "`size` must be a whole number, not true or false"),
        ({"name": "x", "size": 11}, "`size` is 11; give 1 to 10"),
        ({"name": "x", "size": 1e400}, "`size` must be a whole number"),
        ({"name": "x", "kind": "other"}, "`kind` cannot be `other`; give one of `dead_end`, `repair`"),
        ({"name": "x", "kinds": ["one", "three"]}, "an item of `kinds` cannot be `three`; give one of `one`, `two`"),
        ({"name": ["x"]}, "`name` must be a text, not a list"),
        ({"name": "x", "tags": {}}, "`tags` must be a list, not an object"),
        ([1], "the arguments must be one JSON object, not a list; it takes `name`"),
        ("{", "the arguments are not JSON"),
        ("[" * 100_000, "the arguments are not JSON"),
    ],
)
def test_other_arguments_are_refused_with_advice(given: Any, words: str) -> None:
    with pytest.raises(UserError, match="; ") as caught:
        check_arguments(SCHEMA, given)
    assert words in str(caught.value)


def test_every_schema_uses_only_what_the_check_knows() -> None:
    """The check knows a part of JSON schema only."""
    known = {"type", "description", "enum", "minimum", "maximum", "items"}
    for tool in TOOLS:
        assert tool.schema["type"] == "object"
        assert set(tool.schema) <= {"type", "properties", "required", "additionalProperties"}
        for name, schema in tool.schema["properties"].items():
            assert set(schema) <= known, (tool.name, name)
            assert set(schema.get("items", {})) <= known
