"""Inserting text into Hermes's results and requests, and splitting it off again."""

import json
from typing import Any

import pytest
from hypothesis import given as every
from hypothesis import strategies as st

from preheat.agents.hermes.plugin.watcher import ADVISORY, valid_messages, with_advisory, with_messages, with_output
from preheat.agents.hermes.tools import ADVISORY as READ_ADVISORY
from preheat.agents.hermes.tools import result_of, split_advisory

ADVICE = "<preheat-advisory>`make test` works here.</preheat-advisory>"
SEEDS = ({"role": "user", "content": "Seen before."}, {"role": "assistant", "content": "Noted."})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RESULTS = st.builds(
    lambda before, value, indent, ascii_only, after: (
        before + json.dumps(value, indent=indent, ensure_ascii=ascii_only) + after
    ),
    st.sampled_from(["", " ", "\n\t"]),
    st.dictionaries(st.text() | st.sampled_from(["output", "exit_code", "error"]), JSON, max_size=4),
    st.sampled_from([None, 2]),
    st.booleans(),
    st.sampled_from(["", "\n\n[Tool loop warning: again]", " "]),
)


@every(result=RESULTS, advice=st.text(max_size=50))
def test_an_advisory_is_inserted_into_the_object_and_split_off_again(result: str, advice: str) -> None:
    """The advisory is one more key of the JSON object, the facts read from it stay the same, and splitting it off gives back the
    tool's own bytes."""
    assert ADVISORY == READ_ADVISORY
    advice = f"<preheat-advisory>{advice}</preheat-advisory>"
    changed = with_advisory(result, advice)
    assert changed is not None
    value, end = json.JSONDecoder().raw_decode(changed.lstrip())
    plain, plain_end = json.JSONDecoder().raw_decode(result.lstrip())
    assert value.pop(ADVISORY) == advice.encode("utf-8", "replace").decode()
    assert value == plain
    assert changed.lstrip()[end:] == result.lstrip()[plain_end:]
    for tool in ("terminal", "read_file"):
        assert result_of(changed, tool) == result_of(result, tool)
    assert split_advisory(changed) == (result, advice.encode("utf-8", "replace").decode())


@every(st.text() | st.builds(json.dumps, JSON).filter(lambda text: not text.startswith("{")))
def test_a_result_that_is_not_an_object_is_not_changed(result: str) -> None:
    if not result.lstrip().startswith("{"):
        assert with_advisory(result, ADVICE) is None
        assert with_output(result, "short") is None
        assert split_advisory(result) == (result, "")


def test_the_advisory_is_first_in_a_very_long_result() -> None:
    """Hermes may show the model only the beginning of such a result."""
    result = json.dumps({"output": "x" * 100_000, "exit_code": 0})
    changed = with_advisory(result, ADVICE) or ""
    assert changed.startswith(f'{{"{ADVISORY}": ')
    assert split_advisory(changed) == (result, ADVICE)


def test_a_result_gets_only_one_advisory() -> None:
    assert with_advisory(with_advisory('{"output": ""}', ADVICE) or "", ADVICE) is None


def test_an_advisory_printed_by_a_tool_is_part_of_the_output() -> None:
    """A tool may read a file that contains a stored result: its quotes are escaped."""
    inner = with_advisory('{"output": ""}', ADVICE)
    result = json.dumps({"output": inner, "exit_code": 0})
    assert split_advisory(result) == (result, "")


def test_replacing_the_output_keeps_the_rest() -> None:
    result = '{"output": "a\\nb\\nc", "exit_code": 3, "error": null}\n\n[note]'
    assert with_output(result, "a…") == '{"output": "a…", "exit_code": 3, "error": null}\n\n[note]'
    assert with_output('{"content": "x"}', "a") is None


def test_messages_are_inserted_after_the_system_message() -> None:
    """Without the keys that only Hermes knows, and without changing the request itself."""
    sent = [{"role": "system", "content": "S"}, {"role": "user", "content": "Task"}]
    messages = [*SEEDS, {"role": "tool", "tool_call_id": "preheat_1", "tool_name": "terminal", "content": "{}"}]
    request = {"model": "m", "messages": sent, "tools": []}
    found = with_messages(request, messages)
    assert found is not None
    assert found == [sent[0], *SEEDS, {"role": "tool", "tool_call_id": "preheat_1", "content": "{}"}, sent[1]]
    assert request["messages"] is sent
    assert len(sent) == 2


@pytest.mark.parametrize(
    "request_",
    [
        None, [], {}, {"messages": None}, {"messages": []}, {"messages": [{"role": "system"}]},
        {"messages": [{"role": "user"}, {"role": "user"}]}, {"messages": [{"role": "system"}, "user"]},
        {"input": [], "messages": [{"role": "system"}, {"role": "user"}]},
        {"system": "S", "messages": [{"role": "user"}, {"role": "assistant"}]},
        {"messages": [{"role": "system"}, {"role": "tool"}]},
    ],
)  # fmt: skip
def test_a_request_of_another_shape_is_not_changed(request_: Any) -> None:
    assert with_messages(request_, list(SEEDS)) is None


@every(JSON)
def test_only_valid_messages_are_accepted(found: Any) -> None:
    assert all("role" in each for each in valid_messages(found))
