"""Any arguments for any tool: an answer, never an exception, never too long."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preheat.app.model_text import map_texts, strip_invisible
from preheat.tools import TOOLS, call
from preheat.tools.tool import count_tokens, shorten_answer
from tests.ingest.machine import Machine

from .conftest import SHOP

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
def test_any_call_gets_an_answer(taught: Machine, asked: tuple[str, Any]) -> None:
    answer = call(*asked, taught.folder, SHOP)
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
    given = map_texts(strip_invisible, {"success": True, **answer})
    found = shorten_answer(given, most)
    assert count_tokens(found) <= most
    assert found == given or "cut" in found


@pytest.mark.parametrize("size", [10, 100_000])
def test_long_texts_and_lists_keep_their_beginnings(size: int) -> None:
    """The beginning of each is kept: that is where the best stands."""
    found = shorten_answer({"success": True, "text": "word " * size, "rows": [{"n": n} for n in range(size)]}, 1000)
    assert found["success"] is True
    assert found["rows"][0] == {"n": 0}
    assert found["text"].startswith("word word")
    assert ("cut" in found) == (size > 10)
