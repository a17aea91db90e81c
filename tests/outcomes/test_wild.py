"""Whatever a session holds, every call gets one verdict that can be stored, and what that costs grows with its length."""

from typing import Any, cast, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import AGENTS, dialect_of
from preheat.model.outcome import CAUSES, FAILURES, RUNGS, STATUSES, Outcome
from preheat.model.session import ToolCall, ToolKind, ToolResult
from preheat.outcomes import judge
from tests.growth import grows_in_proportion
from tests.outcomes.calls import ran, session_of

KINDS = cast("tuple[ToolKind, ...]", get_args(ToolKind))
PIECES = st.sampled_from(
    [
        "", "Error: x", "Traceback (most recent call last):\n", "Exit code 1\n", "ok", '{"error": 1}', "{", "fatal: y\n",
        "\x1b[31m", "\r\n", "\0",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=6).map("".join))
RESULTS = st.builds(
    lambda text, flag, code, detail: {"text": text, "is_error": flag, "exit_code": code, "detail": detail},
    TEXTS,
    st.sampled_from([None, True, False]),
    st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)),
    st.dictionaries(
        st.sampled_from(["status", "denial", "running", "interrupted"]), st.one_of(st.booleans(), st.text(max_size=9))
    ),
)
CALLS = st.lists(st.tuples(st.sampled_from(KINDS), TEXTS, st.lists(RESULTS, max_size=2)), max_size=6)


@settings(max_examples=150)
@given(CALLS, st.sampled_from(AGENTS))
def test_every_call_gets_one_consistent_outcome(calls: list[Any], agent: str) -> None:
    events: list[ToolCall | ToolResult] = []
    for number, (kind, command, results) in enumerate(calls):
        name = f"c{number}"
        events.append(ToolCall(line=1, call_id=name, tool="T", kind=kind, input={"command": command}))
        events += [ToolResult(line=2, call_id=name, **result) for result in results]
    outcomes = judge(session_of(*events, agent=agent), dialect_of(agent))
    assert [outcome.call_id for outcome in outcomes] == [f"c{number}" for number in range(len(calls))]
    for outcome in outcomes:
        assert outcome.status in STATUSES
        assert outcome.rung in RUNGS
        assert 0 <= outcome.confidence <= 1
        assert (outcome.cause in CAUSES) == (outcome.status in FAILURES or outcome.status in ("denied", "interrupted"))
        assert msgspec.json.decode(msgspec.json.encode(outcome), type=Outcome) == outcome


@pytest.mark.parametrize(
    "text",
    [
        "error " * 400_000,
        "a: " * 700_000,
        "\n" * 2_000_000,
        "'" * 500_000,
        "/a" * 500_000,
        "exit code " * 200_000,
        "Traceback (most recent call last):\n" * 50_000,
        "{" * 500_000,
        "<" * 500_000,
    ],
    ids=lambda text: text[:9].strip() or "newlines",
)
def test_time_grows_with_the_length_of_hostile_outputs(text: str) -> None:
    def judge_all(part: str) -> None:
        for recorded in ({"exit_code": 0}, {"exit_code": 1}, {"is_error": True}, {}):
            ran("pytest 2>&1 | tail", part, **recorded)

    grows_in_proportion(judge_all, text)


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_s_dialect_compiles(agent: str) -> None:
    assert judge(session_of(agent=agent), dialect_of(agent)) == ()
