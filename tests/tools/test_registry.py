"""Calling a tool by name: arguments are converted or refused with advice, and any call gets a bounded answer."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preheat.app.model_text import map_texts, strip_invisible
from preheat.errors import UserError
from preheat.tools import TOOLS, call
from preheat.tools.registry import check_arguments
from preheat.tools.tool import count_tokens, shorten_answer
from tests.ingest.machine import Machine

from .conftest import SHOP

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
    ("arguments", "converted"),
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
def test_harmless_differences_in_type_are_converted(arguments: Any, converted: Any) -> None:
    """Models send numbers as texts, null for nothing, and lists with commas."""
    assert check_arguments(SCHEMA, arguments) == converted


@pytest.mark.parametrize(
    ("arguments", "words"),
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
def test_other_arguments_are_refused_with_advice(arguments: Any, words: str) -> None:
    with pytest.raises(UserError, match="; ") as caught:
        check_arguments(SCHEMA, arguments)
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


LONGEST = 100_000

"""Characters of the longest answer that anybody can ask for: twice 20,000 tokens."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)

LIKELY = st.sampled_from(
    ["latest", "all", ".", "shop", "pytest", '"', "*", "5", "-1", "latest:2", "\x1b[31m", "a" * 5000, "\ud800", "~"]
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Any]:
    """A tool with arguments that mostly have its names, and sometimes its types."""
    tool = draw(st.sampled_from(TOOLS))
    if draw(st.integers(0, 9)) == 0:
        return tool.name, draw(JSON)
    names = st.sampled_from([*tool.schema["properties"], "unheard_of"])
    values: dict[str, Any] = {}
    for name in draw(st.lists(names, max_size=4, unique=True)) + list(tool.schema.get("required", ())):
        schema = tool.schema["properties"].get(name, {})
        fitting = st.sampled_from(schema["enum"]) if "enum" in schema else LIKELY | st.integers(0, 3000)
        values[name] = draw(st.one_of(fitting, fitting, fitting, JSON))
    return tool.name, values


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls())
def test_any_call_gets_an_answer(taught: Machine, name_and_arguments: tuple[str, Any]) -> None:
    answer = call(*name_and_arguments, taught.folder, SHOP)
    assert answer["success"] in (True, False)
    if not answer["success"]:
        assert answer["error"]
        assert answer["next"]
        assert "failed inside" not in answer["error"], answer
    encoded = msgspec.json.encode(answer)
    assert len(encoded) < LONGEST
    assert msgspec.json.decode(encoded) == answer


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=50))
def test_any_tool_name_gets_an_answer(name: str) -> None:
    answer = call(name, {}, "nowhere", "nowhere")
    assert answer["success"] is (name in {tool.name for tool in TOOLS} and answer["success"])
    assert len(answer.get("error", "")) < 700


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=200), JSON, max_size=60), st.integers(200, 2000))
def test_any_answer_is_bounded(answer: dict[str, Any], most: int) -> None:
    """A cut answer says so."""
    whole = map_texts(strip_invisible, {"success": True, **answer})
    found = shorten_answer(whole, most)
    assert count_tokens(found) <= most
    assert found == whole or "cut" in found


@pytest.mark.parametrize("size", [10, 100_000])
def test_long_texts_and_lists_keep_their_beginnings(size: int) -> None:
    """The beginning of each is kept: that is where the best stands."""
    found = shorten_answer({"success": True, "text": "word " * size, "rows": [{"n": n} for n in range(size)]}, 1000)
    assert found["success"] is True
    assert found["rows"][0] == {"n": 0}
    assert found["text"].startswith("word word")
    assert ("cut" in found) == (size > 10)
